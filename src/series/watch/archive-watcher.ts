/**
 * Finds the archives that are being written below directories, and reports when they grow or end.
 *
 *     fs.watch of each directory ──► changed files, new names ──┐
 *     search of all directories at an interval ─────────────────┴─► found, grew, ended
 *
 * Notifications make it fast; the searches find what they miss, as on network file systems or beyond the system's limit of watches.
 */
import { type Dirent, watch as nodeWatch, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseFileName } from '../../archive/file-names.ts'
import { every } from '../../base/every.ts'
import { PcpError } from '../../model/errors.ts'

/** What happened to an archive: it is there, has more data, or its metadata was compressed or removed. */
export type ArchiveEvent = 'found' | 'grew' | 'ended'

/** Watches a directory, not its subdirectories; returns a function that stops. Throws where that is impossible. */
export type WatchDirectory = (
  directory: string,
  changed: (name: string) => void,
  lost: () => void,
) => () => void

/** Options of a watcher. */
export interface ArchiveWatcherOptions {
  /** Called for each event; an archive is found before it grows. */
  readonly onEvent: (event: ArchiveEvent, base: string) => void
  /** Called once for each directory or limit that leaves archives out. */
  readonly onWarning?: (warning: PcpError) => void
  /** Milliseconds between searches; default 10,000. */
  readonly searchMs?: number
  /** Most archives; default 20,000. */
  readonly maxArchives?: number
  /** Most directories; default 5,000. */
  readonly maxDirectories?: number
  /** Default: notifications of this system. */
  readonly watch?: WatchDirectory
}

/** Levels of directories below the given ones. */
const MOST_LEVELS = 8
/** Most names in one directory. */
const MOST_NAMES = 100_000

/** A directory with its archives. */
interface Watched {
  readonly level: number
  /** Archives by base name without directory. */
  readonly archives: Map<string, { stamp: number }>
  readonly children: Set<string>
  /** Undefined without notifications. */
  unwatch: (() => void) | undefined
}

/** See above. */
export class ArchiveWatcher {
  readonly #roots: readonly string[]
  readonly #options: ArchiveWatcherOptions
  readonly #maxArchives: number
  readonly #maxDirectories: number
  readonly #watch: WatchDirectory
  readonly #directories = new Map<string, Watched>()
  readonly #warned = new Set<string>()
  #count = 0
  #timer: NodeJS.Timeout | undefined

  /** Watches nothing before `start` or `search`. */
  constructor(directories: readonly string[], options: ArchiveWatcherOptions) {
    this.#roots = directories
    this.#options = options
    this.#maxArchives = options.maxArchives ?? 20_000
    this.#maxDirectories = options.maxDirectories ?? 5000
    this.#watch = options.watch ?? watchDirectory
  }

  /** Number of archives. */
  get count(): number {
    return this.#count
  }

  /** Number of watched directories, and of those with notifications. */
  get directories(): { readonly all: number; readonly notified: number } {
    const watched = [...this.#directories.values()]
    return { all: watched.length, notified: watched.filter(({ unwatch }) => unwatch !== undefined).length }
  }

  /** Searches now and at intervals until `close`. */
  start(): void {
    this.search()
    this.#timer ??= every(
      this.#options.searchMs ?? 10_000,
      () => this.search(),
      (error) => this.#warn(String(error), error),
    )
    this.#timer.unref()
  }

  /** Searches all directories. A missing one may appear later. */
  search(): void {
    for (const root of this.#roots) this.#search(root, 0)
  }

  /** Stops; idempotent. */
  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const { unwatch } of this.#directories.values()) unwatch?.()
    this.#directories.clear()
    this.#count = 0
  }

  #search(directory: string, level: number): void {
    let entries: Dirent[]
    try {
      entries = readdirSync(directory, { withFileTypes: true })
    } catch (error) {
      const known = PcpError.from(error, directory)
      this.#forget(directory)
      if (known.code !== 'ENOENT') this.#warn(directory, known)
      return
    }
    const watched = this.#directories.get(directory) ?? this.#add(directory, level)
    if (watched === undefined) return
    if (entries.length > MOST_NAMES) {
      this.#warn(
        directory,
        new PcpError('E2BIG', `${directory}: more than ${MOST_NAMES} files; the rest is ignored`),
      )
      entries = entries.slice(0, MOST_NAMES)
    }
    const stamps = new Map<string, number>()
    const children = new Set<string>()
    for (const entry of entries) {
      const { name } = entry
      if (entry.isDirectory() && !name.startsWith('.') && level < MOST_LEVELS)
        children.add(join(directory, name))
      else if (entry.isFile() && name.endsWith('.meta')) stamps.set(name.slice(0, -'.meta'.length), 0)
    }
    for (const entry of entries) {
      const parsed = entry.isFile() ? parseFileName(entry.name) : undefined
      const stamp = parsed === undefined ? undefined : stamps.get(parsed.base)
      if (parsed !== undefined && stamp !== undefined)
        stamps.set(parsed.base, stamp + stampOf(join(directory, entry.name)))
    }
    for (const base of [...watched.archives.keys()])
      if (!stamps.has(base)) this.#end(watched, directory, base)
    for (const [base, stamp] of stamps) this.#note(watched, directory, base, stamp)
    for (const child of watched.children) if (!children.has(child)) this.#forget(child)
    watched.children.clear()
    for (const child of children) {
      watched.children.add(child)
      this.#search(child, level + 1)
    }
  }

  #add(directory: string, level: number): Watched | undefined {
    if (this.#directories.size >= this.#maxDirectories) {
      const text = `more than ${this.#maxDirectories} directories of archives: ${directory} and others are ignored`
      this.#warn('directories', new PcpError('E2BIG', text))
      return undefined
    }
    const watched: Watched = { level, archives: new Map(), children: new Set(), unwatch: undefined }
    this.#directories.set(directory, watched)
    try {
      watched.unwatch = this.#watch(
        directory,
        (name) => this.#changed(directory, name),
        () => {
          watched.unwatch = undefined
        },
      )
    } catch (error) {
      const { message } = PcpError.from(error, directory)
      this.#warn(
        'notifications',
        new PcpError('PM_ERR_GENERIC', `${message}: its archives are searched instead of watched`),
      )
    }
    return watched
  }

  /** Handles a notification. */
  #changed(directory: string, name: string): void {
    const watched = this.#directories.get(directory)
    if (watched === undefined) return
    const base = parseFileName(name)?.base
    const known = base === undefined ? undefined : watched.archives.get(base)
    if (base !== undefined && known !== undefined && isPresent(join(directory, name))) {
      // The next search compares with the stamp of then.
      known.stamp = -1
      this.#options.onEvent('grew', join(directory, base))
    } else if (base === undefined ? isDirectory(join(directory, name)) : name.endsWith('.meta'))
      this.#search(directory, watched.level)
  }

  #note(watched: Watched, directory: string, base: string, stamp: number): void {
    const known = watched.archives.get(base)
    if (known !== undefined) {
      const grew = known.stamp !== -1 && known.stamp !== stamp
      known.stamp = stamp
      if (grew) this.#options.onEvent('grew', join(directory, base))
      return
    }
    if (this.#count >= this.#maxArchives) {
      const text = `more than ${this.#maxArchives} archives: ${join(directory, base)} and others are ignored`
      this.#warn('archives', new PcpError('E2BIG', text))
      return
    }
    this.#count++
    watched.archives.set(base, { stamp })
    this.#options.onEvent('found', join(directory, base))
  }

  #end(watched: Watched, directory: string, base: string): void {
    if (!watched.archives.delete(base)) return
    this.#count--
    this.#options.onEvent('ended', join(directory, base))
  }

  /** Forgets a directory and those below it. */
  #forget(directory: string): void {
    const watched = this.#directories.get(directory)
    if (watched === undefined) return
    this.#directories.delete(directory)
    watched.unwatch?.()
    for (const base of [...watched.archives.keys()]) this.#end(watched, directory, base)
    for (const child of watched.children) this.#forget(child)
    this.#directories.get(dirname(directory))?.children.delete(directory)
  }

  #warn(about: string, error: unknown): void {
    if (this.#warned.has(about) || this.#warned.size > this.#maxDirectories) return
    this.#warned.add(about)
    this.#options.onWarning?.(PcpError.from(error))
  }
}

/** Returns a number that changes when a file grows or is replaced. */
function stampOf(path: string): number {
  const { size, ino } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, ino: 0 }
  return size + ino
}

function isPresent(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false // unreadable
  }
}

function watchDirectory(directory: string, changed: (name: string) => void, lost: () => void): () => void {
  const watcher = nodeWatch(directory, { persistent: false })
  watcher.on('change', (_, name) => changed(String(name)))
  watcher.on('error', () => {
    watcher.close()
    lost()
  })
  return () => watcher.close()
}
