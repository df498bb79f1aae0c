/**
 * Consistent views of files that other processes replace: directories are read as if committed transactions were complete, and
 * opened files are compared afterwards with the files in the directory.
 */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { ArchiveFiles, ByteSource } from '../base/byte-source.ts'
import { type DirectoryView, viewDirectory } from './staged-view.ts'

/** Most runs of an action before its files are accepted unchecked; only a directory that changes all the time needs so many. */
const MAX_RUNS = 8

/** Lists a directory. Throws Node's error. */
export type ViewOf = (directory: string) => DirectoryView

/** Reruns an action until none of its files was replaced meanwhile. @see ArchiveFiles.consistent */
export function consistent<T>(
  open: (path: string) => ByteSource,
  action: (files: ArchiveFiles) => T,
  view: ViewOf = viewDirectory,
): T {
  for (let run = 1; ; run++) {
    const snapshot = new FileSnapshot(open, true, view)
    try {
      const result = action(snapshot.files())
      if (run === MAX_RUNS || snapshot.isCurrent()) {
        snapshot.settle()
        return result
      }
    } catch (error) {
      if (run === MAX_RUNS || snapshot.isCurrent()) throw error
    }
    snapshot.close()
  }
}

/** Files used by one reader, with their identities. */
export class FileSnapshot {
  readonly #open: (path: string) => ByteSource
  readonly #viewOf: ViewOf
  readonly #views = new Map<string, DirectoryView>()
  /** Files of incomplete transactions, by the absolute path that readers use. */
  readonly #staged = new Map<string, string>()
  /** Inodes; undefined for a missing file. */
  readonly #used = new Map<string, number | undefined>()
  readonly #pinned = new Map<string, number | undefined>()
  /** Opened files until `settle`. */
  #sources: ByteSource[] | undefined

  /** With `isChecked`, used files are recorded for `isCurrent` and `close` until `settle`. */
  constructor(open: (path: string) => ByteSource, isChecked = false, view: ViewOf = viewDirectory) {
    this.#open = open
    this.#viewOf = view
    if (isChecked) this.#sources = []
  }

  /** Returns the files, for a reader of archives. */
  files(): ArchiveFiles {
    return {
      isDirectory(path) {
        try {
          return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
        } catch {
          return false // opening it will report the error
        }
      },
      list: (directory) => this.#list(directory),
      open: (path) => this.#openChecked(path),
      pin: (path) => {
        const inode = this.#inode(path)
        this.#pinned.set(path, inode)
        this.#used.set(path, inode)
      },
    }
  }

  /** Returns whether no directory or file has changed since it was used. */
  isCurrent(): boolean {
    const isSame = ([directory, old]: [string, DirectoryView]): boolean => {
      const now = this.#view(directory)
      if (now === old) return true
      if (now === undefined) return false
      const [names, before] = [archiveNames(now.names), archiveNames(old.names)]
      return (
        names.length === before.length &&
        names.every((name, i) => name === before[i]) &&
        [...now.staged.keys()].every((path) => this.#staged.has(path))
      )
    }
    return (
      [...this.#views].every(isSame) && [...this.#used].every(([path, inode]) => this.#inode(path) === inode)
    )
  }

  /** Closes the opened files. */
  close(): void {
    for (const source of this.#sources ?? []) source.close()
    this.settle()
  }

  /** Forgets used files, but not pinned ones. */
  settle(): void {
    this.#sources = undefined
    this.#views.clear()
    this.#used.clear()
  }

  #view(directory: string): DirectoryView | undefined {
    try {
      return this.#viewOf(directory)
    } catch {
      return undefined // removed
    }
  }

  #list(directory: string): readonly string[] {
    const view = this.#viewOf(directory)
    for (const [path, at] of view.staged) this.#staged.set(path, at)
    if (this.#sources !== undefined) this.#views.set(directory, view)
    return view.names
  }

  #openChecked(path: string): ByteSource {
    const pinned = this.#pinned.get(path)
    if (this.#pinned.has(path) && this.#inode(path) !== pinned) throw replaced(path)
    if (this.#sources === undefined) return this.#openAnywhere(path)
    if (!this.#used.has(path)) this.#used.set(path, this.#inode(path))
    const source = this.#openAnywhere(path)
    this.#sources.push(source)
    return source
  }

  #openAnywhere(path: string): ByteSource {
    const at = this.#stagedAt(path)
    if (at === undefined) return this.#open(path)
    try {
      return this.#open(at)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') throw error
      return this.#open(path) // the transaction has been completed since
    }
  }

  #stagedAt(path: string): string | undefined {
    if (this.#staged.size === 0) return undefined
    const absolute = resolve(path)
    try {
      return this.#staged.get(join(realpathSync(dirname(absolute)), basename(absolute)))
    } catch {
      return undefined // its directory is missing: opening it will report that
    }
  }

  #inode(path: string): number | undefined {
    const at = this.#stagedAt(path)
    for (const each of at === undefined ? [path] : [at, path]) {
      try {
        return statSync(each).ino
      } catch {
        // missing: renamed or removed
      }
    }
    return undefined
  }
}

/** Returns the names that may belong to archives: lock files come and go all the time. */
function archiveNames(names: readonly string[]): string[] {
  return names.filter((name) => /\.(?:meta|index|\d+)(?:\.[A-Za-z0-9]+)?$/.test(name)).sort()
}

function replaced(path: string): Error {
  const message = `${path} was replaced or removed while its archive was being read: open the archive again`
  return Object.assign(new Error(message), { code: 'ESTALE' })
}
