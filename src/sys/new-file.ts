/** Creating files in directories that other accounts may write to: `$PCP_TMP_DIR`, `$PCP_RUN_DIR`, logs and archives. */
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Creates a file for reading and writing, replacing any file of that name. Root must not write through a link planted by the
 * directory's owner: links are removed, and one planted meanwhile causes EEXIST. Throws Node's error.
 */
export function openNewFile(path: string, mode = 0o666): number {
  rmSync(path, { force: true })
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  return openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
}

/** Writes text to a new file, as `openNewFile`. */
export function writeNewFile(path: string, text: string, mode?: number): void {
  const fd = openNewFile(path, mode)
  try {
    writeFileSync(fd, text)
  } finally {
    closeSync(fd)
  }
}
