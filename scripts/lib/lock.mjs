/** One at a time: a file with the number of the process that works. Plain JavaScript, for before anything is installed. */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** Whoever holds a lock for longer is no process of this machine: numbers of another's mean nothing here. */
const MAX_AGE_MS = 30 * 60_000
const PAUSE_MS = 200

/**
 * Runs `work` while nobody else holds the file `path`, and waits for that; `waiting` is called once if it has to. A lock
 * whose process is gone is taken over. The lock is given back at the end, and when `work` ends the process.
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

/** Removes a lock that nobody holds any more. Returns whether there is another chance. */
function isGone(path) {
  const holder = holderOf(path)
  if (holder === undefined) return true
  if (isAlive(holder) && ageOf(path) < MAX_AGE_MS) return false
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return true // somebody else was faster
  }
  // Between looking and moving somebody may have taken it over and got it: then it goes back.
  if (holderOf(aside) !== holder) renameSync(aside, path)
  else rmSync(aside, { force: true })
  return true
}

/** The process in the lock; undefined when there is no lock, 0 while it is being written. */
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
