/** Archive files on any `Disk`, for reading archives on a simulated one. */
import { constants } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { type ArchiveFiles, bytesSource } from '../../src/base/byte-source.ts'
import { decoderFor } from '../../src/base/decode/decoder.ts'
import { DECODE_LIMITS } from '../../src/base/decode/limits.ts'
import type { Disk } from '../../src/sys/disk.ts'
import { viewDirectory } from '../../src/sys/staged-view.ts'

/**
 * Returns the files of a disk as readers see them, with outputs of committed transactions instead of their inputs. Opening
 * reads the whole content; later changes are not visible.
 */
export function filesOf(disk: Disk): ArchiveFiles {
  const staged = new Map<string, string>()
  return {
    isDirectory: (path) => disk.stat(path)?.isDirectory ?? false,
    list(directory) {
      const view = viewDirectory(directory, disk)
      for (const [path, at] of view.staged) staged.set(path, at)
      return view.names
    },
    open: (path) => bytesSource(decompressed(path, readFile(disk, staged.get(path) ?? path))),
  }
}

/** Reads a whole file. */
export function readFile(disk: Disk, path: string): Uint8Array {
  const fd = disk.open(path, constants.O_RDONLY)
  try {
    const bytes = new Uint8Array(disk.stat(path)?.size ?? 0)
    let used = 0
    while (used < bytes.length) {
      const got = disk.read(fd, bytes.subarray(used), used)
      if (got === 0) break
      used += got
    }
    return bytes.subarray(0, used)
  } finally {
    disk.close(fd)
  }
}

/** Creates or overwrites a file. */
export function writeFile(disk: Disk, path: string, bytes: Uint8Array): void {
  const fd = disk.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC)
  try {
    for (let done = 0; done < bytes.length; ) done += disk.write(fd, bytes.subarray(done))
  } finally {
    disk.close(fd)
  }
}

function decompressed(path: string, bytes: Uint8Array): Uint8Array {
  const suffix = path.slice(path.lastIndexOf('.'))
  const decode = decoderFor(suffix, DECODE_LIMITS, bytes.length)
  if (suffix !== '.gz' && decode === undefined) return bytes
  try {
    if (decode === undefined) return gunzipSync(bytes)
    const pieces: Uint8Array[] = []
    let rest = bytes
    decode(
      () => {
        const piece = rest
        rest = rest.subarray(rest.length)
        return piece
      },
      (piece) => pieces.push(piece.slice()),
    )
    return Buffer.concat(pieces)
  } catch (error) {
    throw new Error(`cannot be decompressed: ${(error as Error).message}`, { cause: error })
  }
}
