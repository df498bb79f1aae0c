/**
 * Loads archives that are being written into a key server, live. docs/reference/pmproxy.md
 *
 *     ArchiveWatcher ── found, grew ──► waiting ── pass ──► ArchiveFollower ── records ──► KeySource ──► key server
 *                                                           position  ◄── acknowledged ──────────────────────┘
 *
 * While the key server is away, the archives are the queue: records are read again from the acknowledged position. The server refuses
 * samples that it has.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ArchiveFollower, type FollowPosition } from '../../archive/follow/follower.ts'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import { onAbort } from '../../base/on-abort.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import type { KeySourceInfo } from '../keys/loader.ts'
import type { KeySource } from '../keys/source.ts'
import { ArchiveWatcher, type ArchiveWatcherOptions } from '../watch/archive-watcher.ts'
import { DiscoveredMetadata } from './metadata.ts'
import { type DiscoveryStatistics, newDiscoveryStatistics } from './statistics.ts'

/** Writes archives into a key server. */
export interface SeriesLoader {
  source(info: KeySourceInfo): SeriesSource
  flush(): Promise<void>
}

/** Writes one archive. */
export type SeriesSource = Pick<KeySource, 'add' | 'addMetadata' | 'metadataChanged'>

/** A connection to a key server. */
export interface OpenLoader {
  readonly loader: SeriesLoader
  /** Names the server for messages. */
  readonly name: string
  /** Returns false after the server was emptied, or restarted without its data. */
  keepsData(): Promise<boolean>
  close(): void
}

/** Options of a discovery. */
export interface DiscoveryOptions {
  /** Directories of archives. */
  readonly directories: readonly string[]
  /** Connects to the key server. */
  readonly connect: () => Promise<OpenLoader>
  /** Seconds for which the key server keeps values: older records are not loaded. */
  readonly keptSeconds: number
  readonly onNotice: (level: 'info' | 'warning', text: string) => void
  /** Milliseconds since the epoch; default Date.now. */
  readonly clock?: () => number
  /** Default: the files of this system. */
  readonly files?: ArchiveFiles
  /** Milliseconds to wait after the first, second... failure of the key server. */
  readonly retryMs?: readonly number[]
  readonly watcher?: Pick<ArchiveWatcherOptions, 'searchMs' | 'maxArchives' | 'maxDirectories' | 'watch'>
}

/** Least milliseconds between two readings of an archive, plus these for each archive. */
const THROTTLE_MS = 1000
const THROTTLE_EACH_MS = 1
/** Items of one archive in one pass, so that others need not wait for it. */
const MOST_RECORDS = 1000
/** Items between turns of the event loop. */
const BATCH = 50
/** Archives whose files stay open. */
const MOST_OPEN = 100
const RETRY_MS = doublingDelays(500, 30_000)

/** An archive that is followed. */
interface Followed {
  readonly base: string
  follower: ArchiveFollower
  metadata: DiscoveredMetadata | undefined
  source: SeriesSource | undefined
  /** Position up to which the key server has acknowledged everything. */
  acknowledged: FollowPosition | undefined
  volume: number
  /** Has a problem that does not pass. */
  isFailed: boolean
}

/** See above. */
export class Discovery {
  readonly statistics: DiscoveryStatistics = newDiscoveryStatistics()
  readonly #options: DiscoveryOptions
  readonly #files: ArchiveFiles
  readonly #clock: () => number
  readonly #watcher: ArchiveWatcher
  readonly #archives = new Map<string, Followed>()
  readonly #waiting = new Set<Followed>()
  readonly #backoff: Backoff
  /** When the search for archives began, in seconds: younger archives are loaded from their start. */
  readonly #begun: number
  #connection: OpenLoader | undefined
  #isAway = false
  #wake: () => void = () => {}

  constructor(options: DiscoveryOptions) {
    this.#options = options
    this.#files = options.files ?? archiveFiles()
    this.#clock = options.clock ?? Date.now
    this.#backoff = new Backoff({ delaysMs: options.retryMs ?? RETRY_MS })
    this.#begun = this.#clock() / 1000
    this.#watcher = new ArchiveWatcher(options.directories, {
      ...options.watcher,
      onEvent: (event, base) => (event === 'ended' ? this.#forget(base) : this.#note(base)),
      onWarning: ({ message }) => options.onNotice('warning', message),
    })
  }

  /** Discovers and loads until the signal; resolves then. */
  async run(signal: AbortSignal): Promise<void> {
    this.#watcher.start()
    while (!signal.aborted) {
      await this.pass()
      await this.#pause(signal)
    }
    this.close()
  }

  /** Searches all directories now. */
  search(): void {
    this.#watcher.search()
  }

  /** Loads new records, as far as the key server takes them. Problems are notices. */
  async pass(): Promise<void> {
    this.statistics.passes++
    this.statistics.throttleMs = THROTTLE_MS + THROTTLE_EACH_MS * this.#archives.size
    const batch = [...this.#waiting].filter((each) => this.#begin(each))
    if (batch.length === 0 || !(await this.#connected())) return
    const locks = new Map<string, boolean>()
    const read: Followed[] = []
    try {
      for (const archive of batch) {
        if (this.#isLocked(dirname(archive.base), locks)) continue
        read.push(archive)
        if ((await this.#read(archive)) === MOST_RECORDS) await this.#acknowledge(read)
      }
      await this.#acknowledge(read)
    } catch (error) {
      for (const archive of read) this.#waiting.add(archive)
      this.#lost(PcpError.from(error))
    }
  }

  /** Releases the connection, files and watches; idempotent. */
  close(): void {
    this.#watcher.close()
    for (const { follower } of this.#archives.values()) follower.close()
    this.#archives.clear()
    this.#waiting.clear()
    this.#connection?.close()
    this.#connection = undefined
    this.#wake()
  }

  async #pause(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const stop = (): void => {
        clearTimeout(timer)
        unwatch()
        resolve()
      }
      const timer = setTimeout(stop, this.statistics.throttleMs)
      this.#wake = stop
      const unwatch = onAbort(signal, stop)
      timer.unref()
    })
  }

  #note(base: string): void {
    this.statistics.changes++
    let archive = this.#archives.get(base)
    if (archive === undefined) {
      archive = {
        base,
        follower: this.#newFollower(base),
        metadata: undefined,
        source: undefined,
        acknowledged: undefined,
        volume: -1,
        isFailed: false,
      }
      this.#archives.set(base, archive)
      this.statistics.monitored++
    } else if (this.#waiting.has(archive)) this.statistics.throttled++
    if (!archive.isFailed) this.#waiting.add(archive)
  }

  #newFollower(base: string): ArchiveFollower {
    return new ArchiveFollower(base, this.#files, {
      from: (start) => (start.sec >= this.#begun ? 'start' : 'end'),
    })
  }

  #forget(base: string): void {
    const archive = this.#archives.get(base)
    if (archive === undefined) return
    archive.follower.close()
    this.#archives.delete(base)
    this.#waiting.delete(archive)
    this.statistics.monitored--
    this.statistics.purged++
  }

  /** Fixes the position from which an archive is loaded, even without a key server; returns false before it has a label. */
  #begin(archive: Followed): boolean {
    try {
      if (!archive.follower.begin()) return false
      archive.acknowledged ??= archive.follower.position
      archive.metadata ??= new DiscoveredMetadata(archive.follower.metadata)
      return true
    } catch (error) {
      this.#failed(archive, PcpError.from(error))
      return false
    }
  }

  async #connected(): Promise<boolean> {
    if (this.#connection !== undefined && (await this.#isKept(this.#connection))) return true
    if (!this.#backoff.canRetry(performance.now())) return false
    try {
      this.#connection = await this.#options.connect()
    } catch (error) {
      this.#lost(PcpError.from(error))
      return false
    }
    this.#backoff.succeeded(performance.now())
    this.#isAway = false
    this.#options.onNotice('info', `Archives are loaded into key server ${this.#connection.name}`)
    return true
  }

  /** Returns whether a connection can be used further. */
  async #isKept(connection: OpenLoader): Promise<boolean> {
    try {
      if (await connection.keepsData()) return true
    } catch (error) {
      this.#lost(PcpError.from(error))
      return false
    }
    connection.close()
    this.#connection = undefined
    // The next connection writes all metadata again.
    for (const archive of this.#archives.values()) archive.source = undefined
    this.#options.onNotice('info', `Key server ${connection.name} lost its data: metadata is loaded again`)
    return false
  }

  /** Returns whether a directory is being changed by log management; `known` has the answers of this pass. */
  #isLocked(directory: string, known: Map<string, boolean>): boolean {
    let isLocked = known.get(directory)
    if (isLocked === undefined) {
      isLocked = existsSync(join(directory, 'lock'))
      known.set(directory, isLocked)
    }
    return isLocked
  }

  /** Reads what an archive has, at most MOST_RECORDS; returns the number. Throws errors of the key server. */
  async #read(archive: Followed): Promise<number> {
    // A change from now on is another reason to read it.
    this.#waiting.delete(archive)
    archive.source ??= await this.#newSource(archive)
    for (let count = 0; count < MOST_RECORDS; count++) {
      if (!(await this.#step(archive))) return count
      if (count % BATCH === BATCH - 1) await new Promise((resolve) => setImmediate(resolve))
    }
    this.#waiting.add(archive)
    return MOST_RECORDS
  }

  /** Waits until the key server has everything that was read. */
  async #acknowledge(read: Followed[]): Promise<void> {
    await this.#connection!.loader.flush()
    for (const archive of read.splice(0)) {
      archive.acknowledged = archive.follower.position
      if (this.#archives.size > MOST_OPEN) archive.follower.release()
    }
  }

  async #newSource(archive: Followed): Promise<SeriesSource> {
    const { base, metadata, follower } = archive
    const source = this.#connection!.loader.source({
      path: base,
      host: follower.label!.hostname,
      metadata: metadata!,
    })
    const ms = this.#clock()
    await source.addMetadata({ sec: Math.floor(ms / 1000), nsec: 0 })
    return source
  }

  /** Handles the next item; returns false without one. */
  async #step(archive: Followed): Promise<boolean> {
    const { statistics } = this
    let item: ReturnType<ArchiveFollower['next']>
    try {
      item = archive.follower.next()
    } catch (error) {
      statistics.errors++
      this.#failed(archive, PcpError.from(error))
      return false
    }
    if (item === undefined) return false
    const volume = archive.follower.position?.volume ?? 0
    if (archive.volume >= 0 && volume > archive.volume) statistics.volumes++
    archive.volume = volume
    switch (item.kind) {
      case 'record': {
        if (item.record.sec < this.#clock() / 1000 - this.#options.keptSeconds) {
          statistics.skipped++
          break
        }
        statistics.records++
        statistics.sets += item.record.count
        await archive.source!.add(item.record)
        break
      }
      case 'mark':
        statistics.marks++
        break
      case 'lost':
        this.#options.onNotice('warning', item.problem.message)
        break
      default:
        statistics[COUNTERS[item.kind]]++
        if (archive.metadata!.changed(item)) archive.source!.metadataChanged()
    }
    return true
  }

  /** Handles an archive that cannot be read. */
  #failed(archive: Followed, error: PcpError): void {
    if (error.code === 'ENOENT') {
      this.#waiting.delete(archive)
      this.#forget(archive.base)
    } else if (error.code === 'ESTALE') {
      archive.follower.close()
      archive.follower = this.#newFollower(archive.base)
      archive.metadata = undefined
      archive.source = undefined
      archive.acknowledged = undefined
      archive.volume = -1
      this.#waiting.add(archive)
      this.#options.onNotice('info', error.message)
    } else {
      archive.isFailed = true
      archive.follower.close()
      this.#waiting.delete(archive)
      this.#options.onNotice('warning', `${error.message}; loading of the archive ends`)
    }
  }

  /** Handles a key server that is away: unacknowledged records are read again later. */
  #lost(error: PcpError): void {
    this.#backoff.failed(performance.now())
    this.#connection?.close()
    this.#connection = undefined
    if (!this.#isAway)
      this.#options.onNotice('warning', `${error.message}; records are loaded when it is back`)
    this.#isAway = true
    for (const archive of this.#archives.values()) {
      archive.source = undefined
      if (archive.isFailed || archive.acknowledged === undefined) continue
      if (JSON.stringify(archive.acknowledged) === JSON.stringify(archive.follower.position)) continue
      archive.follower.close()
      archive.follower = new ArchiveFollower(archive.base, this.#files, { from: archive.acknowledged })
      archive.metadata = undefined
      archive.volume = -1
      this.#waiting.add(archive)
    }
  }
}

const COUNTERS = { metric: 'descs', instances: 'indoms', labels: 'labels', text: 'texts' } as const
