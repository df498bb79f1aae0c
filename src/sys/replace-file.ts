/** Replacing a file as a whole: whoever reads it sees the old text or the new one, never a part. */
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

/** What becomes of the old file. */
export interface ReplaceOptions {
  /** The new file has the mode and, where possible, the owner of the old one; otherwise those of any new file. */
  readonly keepMode?: boolean
}

/**
 * Writes a text, or bytes, to a file, through a temporary file beside it. A symbolic link stays, and what it points to is replaced;
 * devices and pipes are written to. Throws Node's error; the old file is then unharmed and nothing is left behind.
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
  // Left by a process of the same id that died: nobody else has this name.
  rmSync(temporary, { force: true })
  const fd = openSync(temporary, 'wx')
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

/** Owner before mode: a file that cannot have the owner must not let others become whoever replaced it, so no such bits. */
function makeLike(fd: number, { uid, gid, mode }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
  } catch {
    // Only root gives files away; anybody else's file is then their own, as if they had copied it.
  }
  fchmodSync(fd, mode & 0o777)
}

/** What is at a path, links followed; undefined when there is nothing. A dangling link is an error. */
function statIfPresent(path: string): Stats | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
  return statSync(path)
}
