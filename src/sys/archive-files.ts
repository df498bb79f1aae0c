/** Archive files on disk, decompressed if necessary. docs/formats/archive.md §1 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type ArchiveFiles, type ByteSource, bytesSource } from '../base/byte-source.ts'
import type { DecodeLimits } from '../base/decode/limits.ts'
import { decodeLimits, decompress, isCompressed } from './decompress.ts'
import { consistent, FileSnapshot, type ViewOf } from './file-snapshot.ts'
import { viewDirectory } from './staged-view.ts'

/** Total size of decompressed files kept in memory; further ones go to temporary files. */
const MAX_IN_MEMORY = 64 << 20
/** Total size of temporary files: four of the largest allowed. */
const DISK_FACTOR = 4

/**
 * Returns the files of this system, with paths relative to the working directory. `limits` apply to each compressed file; `view`
 * lists directories.
 */
export function archiveFiles(
  limits: DecodeLimits = decodeLimits(process.env),
  view: ViewOf = viewDirectory,
): ArchiveFiles {
  let inMemory = 0
  let onDisk = 0
  const open = (path: string): ByteSource => {
    if (!isCompressed(path)) return new FileSource(openFile(path))
    closeSync(openFile(path))
    const content = decompress(path, {
      maxInMemory: MAX_IN_MEMORY - inMemory,
      maxOnDisk: DISK_FACTOR * limits.maxBytes - onDisk,
      limits,
    })
    if (typeof content === 'number') {
      const source = new FileSource(content, (size) => {
        onDisk -= size
      })
      onDisk += source.size
      return source
    }
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
    ...new FileSnapshot(open, false, view).files(),
    consistent: (action) => consistent(open, action, view),
  }
}

/** Opens a file without blocking: a named pipe in place of an archive file might have no writer. */
function openFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = fstatSync(fd)
  if (stats.isFile() || stats.isDirectory()) return fd
  closeSync(fd)
  throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL', syscall: 'open' })
}

/** Bytes of an open file. */
class FileSource implements ByteSource {
  readonly bytes = undefined
  readonly #onClose: ((size: number) => void) | undefined
  #fd: number

  /** The source closes the file descriptor; `onClose` is called with the file's last size. */
  constructor(fd: number, onClose?: (size: number) => void) {
    this.#fd = fd
    this.#onClose = onClose
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
    if (this.#fd === -1) return
    this.#onClose?.(this.size)
    closeSync(this.#fd)
    this.#fd = -1
  }
}
