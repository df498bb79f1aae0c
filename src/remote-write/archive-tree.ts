/** The queues of all hosts whose archives are in some places. */
import { dirname } from 'node:path'
import { Listings } from '../archive/file-names.ts'
import { VOLUME_META } from '../archive/label.ts'
import { openLabelled } from '../archive/volume.ts'
import { PcpError } from '../model/errors.ts'
import { findArchives } from '../series/archives/files.ts'
import { EventLoopTurn } from '../sys/event-loop.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { ArchiveQueue, type QueuedArchive, type QueueOptions } from './archive-queue.ts'
import type { Positions } from './positions.ts'

/** Where archives are. */
export interface ArchiveSources {
  /** Names of archives, as of -a. */
  readonly archives: readonly string[]
  /** Directories whose archives are found at any depth, whenever the tree is scanned. */
  readonly directories: readonly string[]
}

/** See above. */
export class ArchiveTree {
  readonly queues: Map<string, ArchiveQueue> = new Map()
  readonly #sources: ArchiveSources
  readonly #options: QueueOptions
  readonly #positions: Positions
  /** Labels by base: of archives that have one. */
  readonly #known = new Map<string, QueuedArchive>()
  readonly #reported = new Set<string>()

  constructor(sources: ArchiveSources, options: QueueOptions, positions: Positions) {
    this.#sources = sources
    this.#options = options
    this.#positions = positions
  }

  /** Finds archives and assigns them to queues. Throws the error of a directory or archive that is named and cannot be read. */
  async scan(): Promise<void> {
    const bases = this.#bases()
    const present = new Set(bases)
    for (const [base, archive] of this.#known)
      if (!present.has(base) || this.queues.get(keyOf(archive))?.needsScan === true) this.#known.delete(base)
    const turn = new EventLoopTurn()
    for (const base of bases) {
      if (turn.shouldYield()) await turn.yield()
      if (!this.#known.has(base)) this.#learn(base)
    }
    const byKey = new Map<string, QueuedArchive[]>()
    for (const archive of this.#known.values()) {
      const key = keyOf(archive)
      const list = byKey.get(key)
      if (list === undefined) byKey.set(key, [archive])
      else list.push(archive)
    }
    for (const key of this.queues.keys()) if (!byKey.has(key)) byKey.set(key, [])
    for (const [key, archives] of byKey) {
      let queue = this.queues.get(key)
      if (queue === undefined) {
        queue = new ArchiveQueue(key, this.#options, this.#positions.get(key))
        this.queues.set(key, queue)
      }
      // The longer one of two archives with the same start is merged from the other.
      queue.setArchives(
        archives.sort((a, b) => compareTimes(a.start, b.start) || a.base.length - b.base.length),
      )
    }
  }

  #bases(): readonly string[] {
    const { archives, directories } = this.#sources
    const listings = new Listings(this.#options.files)
    return [
      ...archives.flatMap((name) => name.split(',').flatMap((each) => listings.bases(each))),
      ...findArchives(directories).map(({ base }) => base),
    ]
  }

  /** Reads the label of an archive; a new archive may lack it. */
  #learn(base: string): void {
    const { files, report } = this.#options
    try {
      const { meta } = new Listings(files).member(base)
      const { source, label } = openLabelled(files, meta, VOLUME_META, false)
      source.close()
      this.#known.set(base, { base, start: label.start, hostname: label.hostname })
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      if (this.#sources.directories.length === 0 && this.#known.size === 0) throw error
      if (error.code === 'PM_ERR_NODATA' || error.code === 'ENOENT' || this.#reported.has(base)) return
      this.#reported.add(base)
      report(error.message)
    }
  }
}

/** Returns the key of the queue that an archive belongs to: the archives of a host in a directory are consecutive. */
function keyOf({ base, hostname }: QueuedArchive): string {
  return `${dirname(base)} ${hostname}`
}
