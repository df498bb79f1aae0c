/** Processes of CI steps, found by a mark in their environment, which daemons outside of the process group have too. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const MARK = 'CI_STEP'
/** Killing takes several rounds if processes are being started meanwhile. */
const ROUNDS = 20
/** A process that is still in execve(2) after so many looks is stopped by something else. */
const EXEC_ATTEMPTS = 100
/** Flag of the kernel's threads in /proc/PID/stat. */
const PF_KTHREAD = 0x200000

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

/**
 * Kills the processes that `list` returns until it returns none twice in a row; returns all that were killed. One empty list proves
 * nothing: a process that starts another and ends while the list is made hides both.
 */
export function killAll(list) {
  const killed = new Map()
  for (let round = 0, empty = 0; round < ROUNDS && empty < 2; round++) {
    const found = list()
    empty = found.length === 0 ? empty + 1 : 0
    for (const one of found) {
      killed.set(one.pid, one)
      signal(one.pid, 'SIGKILL')
    }
    sleep(50)
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
  const mark = environmentOf(pid)
    .split('\0')
    .find((entry) => entry.startsWith(`${MARK}=`))
  return mark === undefined ? [] : mark.slice(MARK.length + 1).split('\t')
}

/** Reads the environment of a process; waits if it is just in execve(2), when the kernel shows none. */
function environmentOf(pid) {
  for (let attempt = 0; ; attempt++) {
    const text = textOf(`/proc/${pid}/environ`)
    if (text !== '' || attempt === EXEC_ATTEMPTS || !isInExec(pid)) return text
    sleep(2)
  }
}

/** Without a command line a process is in execve(2), if it is not a zombie or a thread of the kernel, which never have one. */
function isInExec(pid) {
  if (textOf(`/proc/${pid}/cmdline`) !== '') return false
  const stat = textOf(`/proc/${pid}/stat`)
  const [state, , , , , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return flags !== undefined && !'ZX'.includes(state) && (Number(flags) & PF_KTHREAD) === 0
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
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
