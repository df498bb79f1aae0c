/** A step of CI: a command with a time limit, in a separate process group; processes that it leaves behind are killed. */
import { spawn } from 'node:child_process'
import { createWriteStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { killAll, markOf, processesOf, signal } from './processes.mjs'
import { readNotes, unfinished } from './progress.mjs'

/** Time that a step may take to end after SIGTERM. */
const GRACE_MS = 5000
/** Runs a command and writes its CPU seconds, including those of its children, to the file $0. */
const TIMED = 'export TIMEFORMAT="%U %S"; { time "$@" 2>&3 3>&-; } 3>&2 2>"$0"'

/**
 * Runs a step and resolves to its result: { name, passed, failed, seconds, cpuSeconds, output, notes }. `limitMs` and `stopped` (an
 * AbortSignal) end it; it then counts as failed, and its output lists the running tests and processes. `isLive` copies the output to ours.
 */
export async function runStep({ name, command, top, dir, env, limitMs, stopped, isLive }) {
  const file = (kind) => join(dir, `${name.replace(/[^\w]+/g, '-')}.${kind}`)
  const began = performance.now()
  const child = spawn('bash', ['-c', TIMED, file('time'), ...command], {
    cwd: top,
    detached: true,
    env: { ...env, ...markOf(top, name), CI_PROGRESS: file('notes') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(file('log'))
  const show = (text) => {
    log.write(text)
    if (isLive) process.stdout.write(text)
  }
  const ends = Promise.all([child.stdout, child.stderr].map((stream) => shown(stream, show)))
  let why
  const end = (reason) => {
    if (why !== undefined) return
    why = reason
    show(`\nstep '${name}': ${reason}; ${hanging(top, name, file('notes'))}\n`)
    signal(-child.pid, 'SIGTERM')
    const hard = setTimeout(() => signal(-child.pid, 'SIGKILL'), GRACE_MS)
    child.once('exit', () => clearTimeout(hard))
  }
  const limit = setTimeout(() => end(`not finished after ${minutes(limitMs)}, ended`), limitMs)
  const stop = () => end(String(stopped.reason))
  stopped.addEventListener('abort', stop)
  if (stopped.aborted) stop()
  const status = await exitOf(child)
  clearTimeout(limit)
  stopped.removeEventListener('abort', stop)
  const left = killAll(() => processesOf(top, name))
  if (left.length > 0 && why === undefined)
    show(`step '${name}' left processes behind, now killed:\n${left.map(line).join('\n')}\n`)
  // A daemon without the mark in its environment may keep the pipes open forever.
  if (!(await withinGrace(ends))) {
    child.stdout.destroy()
    child.stderr.destroy()
    why ??= 'left a process behind that keeps the output open'
    show(`step '${name}': ${why}\n`)
  }
  await new Promise((resolve) => log.end(resolve))
  const output = readFileSync(file('log'), 'utf8')
  return {
    name,
    ...counted(output, why === undefined ? status : 1),
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: cpuSecondsIn(file('time')),
    output,
    notes: readNotes(file('notes')),
  }
}

/** Resolves to whether an event happens within the grace period. */
async function withinGrace(event) {
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, GRACE_MS, false)
  })
  const isDone = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return isDone
}

/** Returns the result of a step that cannot run. */
export function notRun(name, why) {
  const output = `step '${name}' was not run: ${why}\n`
  return { name, passed: 0, failed: 1, seconds: 0, cpuSeconds: 0, output, notes: [] }
}

/** Counts passed and failed tests: from the last line of the output, else 1 for the step. */
export function counted(output, status) {
  const [, passed, failed] =
    output
      .match(/^\d+ passed, \d+ failed/gm)
      ?.at(-1)
      ?.match(/(\d+)\D+(\d+)/) ?? []
  if (passed === undefined) return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
  // A list that succeeds may have known failures (test/interop/known-failures), which are shown but not counted.
  return { passed: Number(passed), failed: status === 0 ? 0 : Math.max(1, Number(failed)) }
}

/** Lists the unfinished tests and the processes of a step. */
function hanging(top, name, notesFile) {
  const tests = unfinished(readNotes(notesFile))
  const under = tests.length > 0 ? `under way: ${tests.join('; ')}\n` : ''
  return `${under}running:\n${processesOf(top, name).map(line).join('\n')}`
}

const line = ({ pid, command }) => `    ${pid} ${command}`
const minutes = (ms) => `${Math.round(ms / 6000) / 10} min`

/** Resolves when the stream ends. A stream held open by a killed process's child ends with that child. */
function shown(stream, show) {
  stream.setEncoding('utf8').on('data', show)
  return new Promise((resolve) => stream.once('close', resolve))
}

function exitOf(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (status, by) => resolve(by ?? status))
  })
}

function cpuSecondsIn(file) {
  try {
    const [user, system] = readFileSync(file, 'utf8').trim().split('\n').at(-1).split(' ').map(Number)
    return Number.isFinite(user + system) ? user + system : undefined
  } catch {
    return undefined // killed before it wrote the file
  }
}
