/** Processes of CI steps, found by a mark in their environment, which daemons outside of the process group have too. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const MARK = 'CI_STEP'
/** Killing takes several rounds if processes are being started meanwhile. */
const ROUNDS = 20

/** Returns the environment variable that marks the processes of a step. */
export function markOf(top, step) {
  return { [MARK]: [process.pid, top, step, pidNamespace()].join('\t') }
}

/** Lists the marked processes of this run, or of one of its steps, as { pid, step, command }. Empty on machines without /proc. */
export function processesOf(top, step) {
  return marked(top, (owner, name) => owner === process.pid && (step === undefined || step === name))
}

/** Lists the marked processes that earlier runs in this checkout left behind. */
export function orphans(top) {
  return marked(top, (owner) => owner !== process.pid && !exists(owner))
}

/** Kills the processes that `list` returns until there are none; returns all that were killed. */
export function killAll(list) {
  const killed = new Map()
  for (let round = 0; round < ROUNDS; round++) {
    const found = list()
    if (found.length === 0) break
    for (const one of found) {
      killed.set(one.pid, one)
      signal(one.pid, 'SIGKILL')
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  }
  return [...killed.values()]
}

/** Sends a signal to a process, or to a group if the number is negative; returns whether it exists. */
export function signal(pid, name) {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false
  }
}

function marked(top, isWanted) {
  const found = []
  for (const name of entries('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    const [owner, where, step, namespace] = markOfProcess(pid)
    // In another container the owner's number means another process.
    if (where === top && namespace === pidNamespace() && isWanted(Number(owner), step))
      found.push({ pid, step, command: commandOf(pid) })
  }
  return found
}

function exists(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

function entries(directory) {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function markOfProcess(pid) {
  const mark = textOf(`/proc/${pid}/environ`)
    .split('\0')
    .find((entry) => entry.startsWith(`${MARK}=`))
  return mark === undefined ? [] : mark.slice(MARK.length + 1).split('\t')
}

function commandOf(pid) {
  return textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim().slice(0, 150)
}

/** Reads a file; '' if the process has ended or belongs to another user. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
