/** The archives below configured directories: which there are, and where an id leads. docs/pmproxy.md */
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { parseFileName } from '../archive/file-names.ts'
import { type DecodeLimits, SERVER_DECODE_LIMITS } from '../base/decode/limits.ts'
import { toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { domainOf, type Indom, type Pmid } from '../model/ids.ts'
import { type OpenArchiveOptions, openArchive } from '../pmapi/archive.ts'
import type { Context } from '../pmapi/context.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import type { Variables } from '../sys/config.ts'
import { decodeLimits } from '../sys/decompress.ts'

/** Domain of the proc agent: metrics and instances of processes. */
const PROC_DOMAIN = 3

/** An archive as it is listed. Times in seconds. */
export interface ListedArchive {
  readonly id: string
  readonly host: string
  readonly zone: string
  readonly start: number
  readonly end: number
  readonly bytes: number
}

/** Directories deep, and entries, that are looked at. */
const MOST_LEVELS = 4
const MOST_FILES = 20_000
/** Archives that are listed. */
const MOST_LISTED = 500
/** How long decompressing an archive may take to be listed, and reading all that are not known yet, ms. */
const JUDGE_MS = 5000
const LIST_MS = 15_000

interface Found {
  readonly id: string
  readonly path: string
  bytes: number
  lastMs: number
}

/** Archives below directories. An id is the number of the directory and a path below it: `0/db1/20261120`. */
export class ArchiveRoots {
  readonly #roots: readonly string[]
  /** What was read of an archive that has not changed since. */
  readonly #known = new Map<string, { readonly stamp: string; readonly archive: ListedArchive | undefined }>()
  readonly #env: Variables
  readonly #limits: DecodeLimits

  /** `env` has PCP_DECOMPRESS_MB and PCP_DECOMPRESS_SEC, if they are set; without them `limits` are those of each compressed file. */
  constructor(roots: readonly string[], env: Variables = {}, limits: DecodeLimits = SERVER_DECODE_LIMITS) {
    this.#roots = roots
    this.#env = env
    this.#limits = decodeLimits(env, limits)
  }

  /**
   * Opens an archive within the limits of a server; without `seesProcesses` as if it had no metrics of processes. Errors of `path` and
   * `openArchive`.
   */
  open(
    id: string,
    { seesProcesses, ...options }: Pick<OpenArchiveOptions, 'derived'> & { readonly seesProcesses: boolean },
  ): Promise<Context> {
    const isLeftOut = (domain: Pmid | Indom): boolean => domainOf(domain) === PROC_DOMAIN
    return this.#openPath(this.path(id), seesProcesses ? options : { ...options, isLeftOut })
  }

  #openPath(
    path: string,
    options: Pick<OpenArchiveOptions, 'derived' | 'isLeftOut'>,
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

  /** Are there any directories? */
  get isOpen(): boolean {
    return this.#roots.length > 0
  }

  /**
   * The path of an archive, or of a directory of archives. PM_ERR_LOGFILE for what is no id or leads elsewhere: nothing outside the directories is
   * ever opened, by links or otherwise.
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

  /** The id of this directory below one of the roots, where it is; undefined otherwise. */
  idOf(dir: string): string | undefined {
    const root = this.#roots.findIndex((each) => dir.startsWith(each + sep))
    if (root < 0 || statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined
    return `${root}/${dir.slice(this.#roots[root]!.length + 1)}`
  }

  /** All archives, those that ended last first; `more` tells that there are others. Those that cannot be read are left out. */
  async list(): Promise<{ readonly archives: readonly ListedArchive[]; readonly more: boolean }> {
    const found = new Map<string, Found>()
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
      // The rest is read for the next list.
      if (isLate && this.#known.get(each.id)?.stamp !== stampOf(each)) continue
      const archive = await this.#read(each)
      if (archive !== undefined) archives.push(archive)
    }
    archives.sort((a, b) => b.end - a.end)
    return { archives, more: newest.length > MOST_LISTED || budget.files <= 0 || isLate }
  }

  /** Each is judged once: one that cannot be read, or only with much work, is not tried again until it changes. */
  async #read(found: Found): Promise<ListedArchive | undefined> {
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
      return judged(undefined) // being written at this moment, damaged, beyond the limits, or no archive
    }
  }
}

function walk(
  dir: string,
  id: string,
  level: number,
  budget: { files: number },
  found: Map<string, Found>,
): void {
  let entries: import('node:fs').Dirent[]
  try {
    entries = readdirSync(dir, { withFileTypes: true })
  } catch {
    return // not there, or not ours to read
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

function stampOf({ bytes, lastMs }: Found): string {
  return `${bytes}:${lastMs}`
}

function unknown(id: string): PcpError {
  return new PcpError('PM_ERR_LOGFILE', `No archive "${id}" here, or no longer`)
}
