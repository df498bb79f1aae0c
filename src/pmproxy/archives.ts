/** Archives below the configured directories: listing them and opening them by id. docs/reference/pmproxy.md */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { Archive } from '../archive/archive.ts'
import { parseFileName } from '../archive/file-names.ts'
import type { ArchiveFiles } from '../base/byte-source.ts'
import { type DecodeLimits, SERVER_DECODE_LIMITS } from '../base/decode/limits.ts'
import { toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { domainOf, type Indom, type Pmid } from '../model/ids.ts'
import { PROC_DOMAIN } from '../model/process-sample.ts'
import { type OpenArchiveOptions, openArchive } from '../pmapi/archive.ts'
import type { Context } from '../pmapi/context.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import type { Variables } from '../sys/config.ts'
import { decodeLimits } from '../sys/decompress.ts'

/** A listed archive. Times in seconds. */
export interface ListedArchive {
  readonly id: string
  readonly host: string
  readonly zone: string
  readonly start: number
  readonly end: number
  readonly bytes: number
}

/** Limits of a scan: directory levels and entries. */
const MOST_LEVELS = 4
const MOST_FILES = 20_000
/** Maximum number of listed archives. */
const MOST_LISTED = 500
/** Time limits for decompressing one archive to list it, and for reading all archives that are not cached, ms. */
const JUDGE_MS = 5000
const LIST_MS = 15_000

const isOfProcesses = (domain: Pmid | Indom): boolean => domainOf(domain) === PROC_DOMAIN

interface ArchiveOnDisk {
  readonly id: string
  readonly path: string
  bytes: number
  lastMs: number
}

/** Archives below directories. An id is the index of a directory and a path below it: `0/db1/20261120`. */
export class ArchiveRoots {
  readonly #roots: readonly string[]
  /** Cached entries of archives that have not changed since. */
  readonly #known = new Map<string, { readonly stamp: string; readonly archive: ListedArchive | undefined }>()
  readonly #env: Variables
  readonly #limits: DecodeLimits

  /** `env` may set PCP_DECOMPRESS_MB and PCP_DECOMPRESS_SEC, the limits of each compressed file; default: `limits`. */
  constructor(roots: readonly string[], env: Variables = {}, limits: DecodeLimits = SERVER_DECODE_LIMITS) {
    this.#roots = roots
    this.#env = env
    this.#limits = decodeLimits(env, limits)
  }

  /**
   * Opens an archive within a server's limits; without `seesProcesses`, metrics of processes are hidden. Errors of `path` and
   * `openArchive`.
   */
  open(
    id: string,
    { seesProcesses, ...options }: Pick<OpenArchiveOptions, 'derived'> & { readonly seesProcesses: boolean },
  ): Promise<Context> {
    return this.#openPath(this.path(id), seesProcesses ? options : { ...options, isExcluded: isOfProcesses })
  }

  /** Opens an archive for copying, as `open` does; close it when done. */
  openRecords(id: string, { seesProcesses }: { readonly seesProcesses: boolean }): Archive {
    const files = archiveFiles(this.#limits)
    return Archive.open(this.path(id), files, seesProcesses ? {} : { ignores: isOfProcesses })
  }

  #openPath(
    path: string,
    options: Pick<OpenArchiveOptions, 'derived' | 'isExcluded'>,
    mostMs = Number.POSITIVE_INFINITY,
  ): Promise<Context> {
    const limits = this.#limits
    return openArchive(path, {
      ...options,
      env: this.#env,
      files: archiveFiles({ ...limits, maxMs: Math.min(limits.maxMs, mostMs) }),
      onWarning: () => undefined,
    })
  }

  /** Returns access to archive files, with the time limit of archives that are read together. */
  files(): ArchiveFiles {
    return archiveFiles({ ...this.#limits, maxMs: Math.min(this.#limits.maxMs, JUDGE_MS) })
  }

  /** Whether counters that decreased have wrapped once: PCP_COUNTER_WRAP. */
  get wraps(): boolean {
    return this.#env['PCP_COUNTER_WRAP'] !== undefined
  }

  /** Are any directories configured? */
  get isOpen(): boolean {
    return this.#roots.length > 0
  }

  /**
   * Returns the path of an archive or of a directory of archives. PM_ERR_LOGFILE for an invalid id or a path outside of the
   * directories, by links or otherwise.
   */
  path(id: string): string {
    const slash = id.indexOf('/')
    const root = /^\d{1,3}$/.test(id.slice(0, slash)) ? this.#roots[Number(id.slice(0, slash))] : undefined
    const parts = id.slice(slash + 1).split('/')
    const isFine = parts.every((part) => /^[\w@%+=:,-][\w@%+=:,. -]*$/.test(part))
    if (slash < 1 || root === undefined || !isFine) throw unknown(id)
    const path = join(root, ...parts)
    try {
      const base = realpathSync(root)
      const dir = realpathSync(join(path, '..'))
      if (dir !== base && !dir.startsWith(base + sep)) throw unknown(id)
      const files = [path, `${path}.index`, `${path}.0`, `${path}.meta`].filter((file) =>
        statSync(file, { throwIfNoEntry: false }),
      )
      for (const file of files) if (!`${realpathSync(file)}${sep}`.startsWith(base + sep)) throw unknown(id)
    } catch (error) {
      throw error instanceof PcpError ? error : unknown(id)
    }
    return path
  }

  /** Returns the id of a directory below one of the roots; undefined if it is not. */
  idOf(dir: string): string | undefined {
    const root = this.#roots.findIndex((each) => dir.startsWith(each + sep))
    if (root < 0 || statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined
    return `${root}/${dir.slice(this.#roots[root]!.length + 1)}`
  }

  /** Lists the readable archives, the latest end first; `more` means that the list is incomplete. */
  async list(): Promise<{ readonly archives: readonly ListedArchive[]; readonly more: boolean }> {
    const found = new Map<string, ArchiveOnDisk>()
    const budget = { files: MOST_FILES }
    this.#roots.forEach((root, i) => {
      walk(root, `${i}`, 0, budget, found)
    })
    const newest = [...found.values()].sort((a, b) => b.lastMs - a.lastMs)
    const archives: ListedArchive[] = []
    const deadline = performance.now() + LIST_MS
    let isLate = false
    for (const each of newest.slice(0, MOST_LISTED)) {
      isLate ||= performance.now() > deadline
      // The next call reads the rest.
      if (isLate && this.#known.get(each.id)?.stamp !== stampOf(each)) continue
      const archive = await this.#read(each)
      if (archive !== undefined) archives.push(archive)
    }
    archives.sort((a, b) => b.end - a.end)
    return { archives, more: newest.length > MOST_LISTED || budget.files <= 0 || isLate }
  }

  /** Reads one archive. A failure or an expensive archive is cached, and not retried until the file changes. */
  async #read(found: ArchiveOnDisk): Promise<ListedArchive | undefined> {
    const { id, path, bytes } = found
    const stamp = stampOf(found)
    const known = this.#known.get(id)
    if (known?.stamp === stamp) return known.archive
    const judged = (archive: ListedArchive | undefined): ListedArchive | undefined => {
      if (this.#known.size > 4 * MOST_LISTED) this.#known.clear()
      this.#known.set(id, { stamp, archive })
      return archive
    }
    try {
      const context = await this.#openPath(path, {}, JUDGE_MS)
      try {
        const { label, start } = context.archive!
        const { hostname, timezone: zone } = label
        const end = toSeconds(context.archive!.end())
        return judged({ id, host: hostname, zone, start: toSeconds(start), end, bytes })
      } finally {
        await context.close()
      }
    } catch {
      return judged(undefined) // being written, damaged, beyond the limits, or not an archive
    }
  }
}

function walk(
  dir: string,
  id: string,
  level: number,
  budget: { files: number },
  found: Map<string, ArchiveOnDisk>,
): void {
  let entries: import('node:fs').Dirent[]
  try {
    entries = readdirSync(dir, { withFileTypes: true })
  } catch {
    return // missing or unreadable
  }
  for (const entry of entries) {
    if (--budget.files < 0) return
    const { name } = entry
    if (entry.isDirectory() && level < MOST_LEVELS && !name.startsWith('.'))
      walk(join(dir, name), `${id}/${name}`, level + 1, budget, found)
    const parsed = entry.isFile() ? parseFileName(name) : undefined
    if (parsed === undefined) continue
    const stats = statSync(join(dir, name), { throwIfNoEntry: false })
    if (stats === undefined) continue
    const base = `${id}/${parsed.base}`
    const known = found.get(base) ?? { id: base, path: join(dir, parsed.base), bytes: 0, lastMs: 0 }
    known.bytes += stats.size
    known.lastMs = Math.max(known.lastMs, stats.mtimeMs)
    found.set(base, known)
  }
}

function stampOf({ bytes, lastMs }: ArchiveOnDisk): string {
  return `${bytes}:${lastMs}`
}

function unknown(id: string): PcpError {
  return new PcpError('PM_ERR_LOGFILE', `Archive "${id}" does not exist`)
}
