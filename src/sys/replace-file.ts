/** Atomic replacement of files: readers see the old content or the new, never a part. */
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { encodeText } from '../base/text.ts'

/** Options of `replaceFile`. */
export interface ReplaceOptions {
  /** Keeps the mode and, if possible, the owner of the old file. Default: those of any new file. */
  readonly keepMode?: boolean
}

/**
 * Replaces a file through a temporary file beside it. A symbolic link stays, and its target is replaced;
 * devices and pipes are written to. Throws Node's error; the old file is then intact and no temporary file remains.
 */
export function replaceFile(path: string, text: string | Uint8Array, options: ReplaceOptions = {}): void {
  const old = statIfPresent(path)
  const bytes = typeof text === 'string' ? encodeText(text) : text
  if (old !== undefined && !old.isFile()) {
    writeFileSync(path, bytes)
    return
  }
  const target = old === undefined ? path : realpathSync(path)
  const temporary = `${target}.${process.pid}.new`
  // A leftover of a dead process with the same id; no live process uses this name.
  rmSync(temporary, { force: true })
  const fd = openTemporary(temporary, path)
  try {
    try {
      if (old !== undefined && options.keepMode === true) makeLike(fd, old)
      writeFileSync(fd, bytes)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Opens a new file for the later content of `path`, which is the path in the errors: users do not know the other. */
function openTemporary(temporary: string, path: string): number {
  try {
    return openSync(temporary, 'wx')
  } catch (error) {
    if (error instanceof Error)
      Object.assign(error, { path, message: error.message.replace(temporary, () => path) })
    throw error
  }
}

/**
 * Replaces a file as `replaceFile`, by what `write` appends; `path` is not a link or a device. Errors of `write` and of the file
 * system; the old file is then intact and no temporary file remains.
 */
export async function replaceFileBy<T>(
  path: string,
  write: (append: (bytes: Uint8Array) => void) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.${process.pid}.new`
  rmSync(temporary, { force: true })
  const fd = openTemporary(temporary, path)
  try {
    let result: T
    try {
      result = await write((bytes) => writeFileSync(fd, bytes))
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(temporary, path)
    return result
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Owner before mode, and without set-id bits if the owner cannot be set: those would let others act as the user who replaced the file. */
function makeLike(fd: number, { uid, gid, mode }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
  } catch {
    // Only root may change owners; for other users the file becomes theirs, like a copy.
  }
  fchmodSync(fd, mode & 0o777)
}

/** Follows links; returns undefined for a missing file. A dangling link is an error. */
function statIfPresent(path: string): Stats | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  return statSync(path)
}
