/** Files of container engines: read within bounds, and again only after they changed. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { decodeText } from '../../base/text.ts'
import { rooted } from '../proc.ts'

/** Most entries used of one directory. */
export const MAX_CONTAINERS = 4096
/** Largest file about one container. */
export const MAX_CONFIG: number = 4 * 1024 * 1024
/** Largest file about all containers of an engine. */
export const MAX_LIST: number = 32 * 1024 * 1024
/** Most problems that are logged. */
const MAX_REPORTS = 100
/** A file changed this recently may change again without a different time stamp. */
const FRESH_MS = 100
const OTHERS_MAY_WRITE = 0o002

/** A parsed file or a listed directory, with the state it had. */
interface Kept {
  readonly stats: Stats
  readonly isFinal: boolean
  readonly value: unknown
  usedIn: number
}

/** Reads files of engines below a root. Unusable files are skipped and logged once. */
export class EngineFiles {
  readonly #root: string
  readonly #clock: () => number
  readonly #log: (text: string) => void
  readonly #kept = new Map<string, Kept>()
  readonly #reported = new Set<string>()
  #pass = 0

  /** `root` is '/' except in tests and in a container; `clock` returns milliseconds since the epoch. */
  constructor(root: string, clock: () => number, log: (text: string) => void) {
    this.#root = root
    this.#clock = clock
    this.#log = log
  }

  /** Reads within a pass; then forgets files that were not used in it. */
  inPass<T>(read: () => T): T {
    this.#pass++
    const result = read()
    for (const [path, { usedIn }] of this.#kept) if (usedIn !== this.#pass) this.#kept.delete(path)
    return result
  }

  /**
   * Returns what `parse` makes of a file, cached while the file is unchanged; undefined without a usable file. The file must
   * belong to root, to this user or to `owner`, and must not be writable by all users.
   */
  parsed<T>(
    path: string,
    maxBytes: number,
    parse: (text: string) => T | undefined,
    owner?: number,
  ): T | undefined {
    return this.#cached(path, (full) => {
      const text = this.#text(path, full, maxBytes, owner)
      if (text === undefined) return undefined
      const value = parse(text)
      if (value === undefined) this.#report(path, 'skipped: its content is invalid')
      return value
    })
  }

  /** Returns the sorted names in a directory that `isWanted`, the first 4096 of them; none without a readable directory. */
  names(path: string, isWanted: (name: string) => boolean): readonly string[] {
    const names = this.#cached(path, (full) => {
      const found = readdirSync(full).filter(isWanted).sort()
      if (found.length > MAX_CONTAINERS)
        this.#report(path, `only ${MAX_CONTAINERS} of its ${found.length} entries are used`)
      return found.slice(0, MAX_CONTAINERS)
    })
    return names ?? []
  }

  #cached<T>(path: string, read: (full: string) => T | undefined): T | undefined {
    const full = rooted(this.#root, path)
    let stats: Stats | undefined
    try {
      stats = statSync(full, { throwIfNoEntry: false })
    } catch {
      return undefined // not permitted
    }
    if (stats === undefined) return undefined
    const known = this.#kept.get(path)
    if (known?.isFinal === true && isSame(known.stats, stats)) {
      known.usedIn = this.#pass
      return known.value as T | undefined
    }
    const isFinal = Math.abs(this.#clock() - stats.ctimeMs) > FRESH_MS
    let value: T | undefined
    try {
      value = read(full)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'EACCES')
        this.#report(path, `skipped: ${code ?? 'it cannot be read'}`)
    }
    this.#kept.set(path, { stats, isFinal, value, usedIn: this.#pass })
    return value
  }

  #text(path: string, full: string, maxBytes: number, owner: number | undefined): string | undefined {
    // a fifo must not block, and a link could lead to a file of another user
    const fd = openSync(full, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      const stats = fstatSync(fd)
      const problem = this.#problemOf(stats, maxBytes, owner)
      if (problem !== undefined) {
        this.#report(path, `skipped: ${problem}`)
        return undefined
      }
      const bytes = new Uint8Array(stats.size)
      let size = 0
      while (size < bytes.length) {
        const got = readSync(fd, bytes, size, bytes.length - size, size)
        if (got === 0) break
        size += got
      }
      return decodeText(bytes, 0, size)
    } finally {
      closeSync(fd)
    }
  }

  #problemOf(stats: Stats, maxBytes: number, owner: number | undefined): string | undefined {
    if (!stats.isFile()) return 'it is not a regular file'
    if (stats.size > maxBytes) return `it is larger than ${maxBytes} bytes`
    if ((stats.mode & OTHERS_MAY_WRITE) !== 0) return 'it is writable by everybody'
    const { uid } = stats
    // in a user namespace without an entry for root, root's files belong to the owner of /
    const isTrusted =
      uid === 0 || uid === owner || uid === process.geteuid?.() || uid === statSync(this.#root).uid
    return isTrusted || process.geteuid === undefined ? undefined : `it belongs to user ${uid}`
  }

  #report(path: string, why: string): void {
    if (this.#reported.has(path) || this.#reported.size >= MAX_REPORTS) return
    this.#reported.add(path)
    this.#log(`${path}: ${why}`)
  }
}

function isSame(one: Stats, other: Stats): boolean {
  return (
    one.ino === other.ino &&
    one.dev === other.dev &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  )
}

/** Parses a JSON object; undefined for anything else. */
export function jsonObject(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Returns a JSON value if it is an object. */
export function asObject(value: unknown): { readonly [key: string]: unknown } | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { [key: string]: unknown })
    : undefined
}

/** Returns a JSON value if it is a text that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
