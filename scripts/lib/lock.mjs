/** A lock file with the process id of its holder. Plain JavaScript, because it is needed before anything is installed. */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** A lock older than this was taken on another machine, where its process id means something else. */
const MAX_AGE_MS = 30 * 60_000
const PAUSE_MS = 200

/**
 * Runs `work` while holding the lock file `path`, waiting for it if necessary; `waiting` is called once in that case. A lock
 * of a process that has ended is taken over. The lock is released at the end, also if `work` exits the process.
 */
export function withLock(path, work, waiting = () => {}) {
  let isTold = false
  while (!take(path)) {
    if (isGone(path)) continue
    if (!isTold) waiting(holderOf(path))
    isTold = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  try {
    return work()
  } finally {
    process.off('exit', release)
    release()
  }
}

function take(path) {
  try {
    writeFileSync(path, `${process.pid}\n`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes a lock whose holder has ended. Returns whether another attempt makes sense. */
function isGone(path) {
  const holder = holderOf(path)
  if (holder === undefined) return true
  if (isAlive(holder) && ageOf(path) < MAX_AGE_MS) return false
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return true // another process was faster
  }
  // Another process may have taken the lock between the check and the move; then it is restored.
  if (holderOf(aside) !== holder) renameSync(aside, path)
  else rmSync(aside, { force: true })
  return true
}

/** Returns the process id in the lock; undefined without a lock, 0 while it is being written. */
function holderOf(path) {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || 0
  } catch {
    return undefined
  }
}

function ageOf(path) {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}

function isAlive(pid) {
  if (pid === 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
