/** Archive files on disk, decompressed where they have to be. docs/formats/archive.md §1 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ArchiveFiles, type ByteSource, bytesSource } from '../base/byte-source.ts'
import { decompress, isCompressed } from './decompress.ts'
import { viewDirectory } from './staged-view.ts'

/** Decompressed files kept in memory, all together; what is more goes to temporary files. */
const MAX_IN_MEMORY = 64 << 20

/** Files of this system, relative to the working directory. */
export function archiveFiles(): ArchiveFiles {
  let inMemory = 0
  /** Files of unfinished transactions, by the path that readers know. */
  const staged = new Map<string, string>()
  const open = (path: string): ByteSource => {
    if (!isCompressed(path)) return new FileSource(openSync(path, 'r'))
    const content = decompress(path, MAX_IN_MEMORY - inMemory)
    if (typeof content === 'number') return new FileSource(content)
    inMemory += content.length
    let held = content.length
    return {
      ...bytesSource(content),
      close() {
        inMemory -= held
        held = 0
      },
    }
  }
  return {
    isDirectory(path) {
      try {
        return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
      } catch {
        return false // what is wrong with it shows when it is opened
      }
    },
    list(directory) {
      const view = viewDirectory(directory)
      for (const [path, at] of view.staged) staged.set(path, at)
      return view.names
    },
    open(path) {
      const at = staged.size === 0 ? undefined : staged.get(resolve(path))
      if (at === undefined) return open(path)
      try {
        return open(at)
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'ENOENT') throw error
        return open(path) // the transaction has been completed since
      }
    },
  }
}

/** Bytes of an open file. */
class FileSource implements ByteSource {
  readonly bytes = undefined
  #fd: number

  /** The descriptor is closed with the source. */
  constructor(fd: number) {
    this.#fd = fd
  }

  get size(): number {
    return fstatSync(this.#fd).size
  }

  readInto(target: Uint8Array, offset: number): number {
    let used = 0
    while (used < target.length) {
      const got = readSync(this.#fd, target, used, target.length - used, offset + used)
      if (got === 0) break
      used += got
    }
    return used
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd)
    this.#fd = -1
  }
}
