/**
 * A lock on a file that ends with its process, however that ends. flock(2)
 *
 * Fallback: a second file beside it that names its holder; a holder that died is noticed by its process id.
 */
import { closeSync, openSync } from 'node:fs'
import { type FileLock, takeLock } from '../file-lock.ts'
import { type LoadNative, loadNative } from './calls.ts'

const LOCK_EX_NB = 2 | 4

/**
 * Takes the lock; undefined when somebody else has it. Makes the file when there is none, and leaves it there. All who
 * share a lock must find koffi, or none of them. Throws Node's error when the file cannot be opened.
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
      if (isHeld) closeSync(fd) // the lock goes with the descriptor
      isHeld = false
    },
  }
}
