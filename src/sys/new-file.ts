/** Files in directories that other accounts may write: `$PCP_TMP_DIR`, `$PCP_RUN_DIR`, those of logs and archives. */
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Opens a new file for reading and writing in place of whatever has its name. Root must not write through a link that the directory's
 * account planted: a link is removed, and one planted meanwhile is EEXIST. Throws Node's error.
 */
export function openNewFile(path: string, mode = 0o666): number {
  rmSync(path, { force: true })
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  return openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
}

/** Writes a text to a new file, as `openNewFile`. */
export function writeNewFile(path: string, text: string, mode?: number): void {
  const fd = openNewFile(path, mode)
  try {
    writeFileSync(fd, text)
  } finally {
    closeSync(fd)
  }
}
