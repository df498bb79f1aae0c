/** Child processes of a benchmark, and what they cost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { pssMb, treeCpuMs } from '../memory.ts'

/** Time that a process has to end before it is killed. */
const STOP_MS = 30_000
/** Time that a server has to start. */
const START_MS = 60_000

/** What a process used. */
export interface Cost {
  /** Per cent of one processor. */
  readonly cpuPercent: number
  /** Proportional set size. */
  readonly pssMb: number
}

/** Starts a program without output; its environment lacks what slows the start of Node. */
export function start(program: string, args: readonly string[], cwd: string): ChildProcess {
  const env = { ...process.env }
  delete env['NODE_EXTRA_CA_CERTS']
  return spawn(program, args, { cwd, env, stdio: ['ignore', 'ignore', 'ignore'] })
}

/** Measures a process for some seconds. */
export async function costOf({ pid }: ChildProcess, sec: number): Promise<Cost> {
  const before = treeCpuMs(pid!)
  const begun = performance.now()
  await sleep(sec * 1000)
  const cpuPercent = ((treeCpuMs(pid!) - before) / (performance.now() - begun)) * 100
  return { cpuPercent, pssMb: pssMb(pid!) }
}

/** Ends a process, and waits for its end. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const patience = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(patience)
}

/** What a program that ran to its end used. */
export interface Run {
  readonly seconds: number
  /** Highest proportional set size, looked at once a second. */
  readonly peakMb: number
  readonly output: string
}

/** Runs a script with Node. Throws if it fails or takes longer than `limitSec`. */
export async function run(script: string, args: readonly string[], limitSec: number): Promise<Run> {
  const env = { ...process.env }
  delete env['NODE_EXTRA_CA_CERTS']
  const begun = performance.now()
  const child = spawn(process.execPath, ['--max-old-space-size=6000', script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: limitSec * 1000,
    killSignal: 'SIGKILL',
  })
  let [output, peakMb] = ['', 0]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const watching = setInterval(() => {
    peakMb = Math.max(peakMb, pssMb(child.pid!))
  }, 1000)
  const [status] = (await once(child, 'close')) as [number | null]
  clearInterval(watching)
  const seconds = (performance.now() - begun) / 1000
  if (status !== 0)
    throw new Error(
      `${basename(script)} ${args[0]} ${status === null ? `was ended after ${seconds.toFixed(0)} s` : `ended with status ${status}`}`,
    )
  return { seconds, peakMb, output }
}

/** Resolves when something listens on a loopback port. Throws if the process ends first, or after a minute. */
export async function listening(child: ChildProcess, port: number): Promise<void> {
  for (const end = performance.now() + START_MS; performance.now() < end; ) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with status ${child.exitCode}`)
    await sleep(50)
  }
  throw new Error(`${child.spawnfile} does not listen on port ${port}`)
}

/** Returns the bytes of all files below a directory, without holes and without blocks that are allocated ahead. */
export function diskBytes(dir: string): number {
  let bytes = 0
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const stat = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
    if (stat !== undefined) bytes += Math.min(stat.size, stat.blocks * 512)
  }
  return bytes
}

/** Waits. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Time for an answer of a server. */
const ANSWER_MS = 120_000

/** Returns the text that a server answers. Throws if the status isn't 2xx, or after two minutes. */
export async function answer(url: string, method = 'GET'): Promise<string> {
  const reply = await fetch(url, { method, signal: AbortSignal.timeout(ANSWER_MS) })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${text.slice(0, 200)}`)
  return text
}
