/** Archive files on disk, decompressed where they have to be. docs/formats/archive.md §1 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type ArchiveFiles, type ByteSource, bytesSource } from '../base/byte-source.ts'
import { decompress, isCompressed } from './decompress.ts'
import { consistent, FileSnapshot } from './file-snapshot.ts'

/** Decompressed files kept in memory, all together; what is more goes to temporary files. */
const MAX_IN_MEMORY = 64 << 20

/** Files of this system, relative to the working directory. */
export function archiveFiles(): ArchiveFiles {
  let inMemory = 0
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
    ...new FileSnapshot(open).files(),
    consistent: (action) => consistent(open, action),
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
