/**
 * A lock on a file that is released when its process ends, however it ends. flock(2)
 *
 * Fallback: a second file beside it that names its holder; a dead holder is detected by its process id.
 */
import { closeSync, openSync } from 'node:fs'
import { type FileLock, takeLock } from '../file-lock.ts'
import { type LoadNative, loadNative } from './calls.ts'

const LOCK_EX_NB = 2 | 4

/**
 * Takes the lock; resolves to undefined if it is taken. Creates the file if it is missing, and leaves it there. Either all
 * processes that share a lock must find koffi, or none. Throws Node's error if the file cannot be opened.
 */
export async function tryLock(path: string, load: LoadNative = loadNative): Promise<FileLock | undefined> {
  const calls = load()
  if (calls === undefined) return takeLock(`${path}.lock`, { limitMs: 0 })
  const flock = calls.bind('int flock(int fd, int operation)')
  const fd = openSync(path, 'a')
  if (flock(fd, LOCK_EX_NB) !== 0) {
    closeSync(fd)
    return undefined
  }
  let isHeld = true
  return {
    release() {
      if (isHeld) closeSync(fd) // closing releases the lock
      isHeld = false
    },
  }
}
