/** Agents in threads of the collector: an AgentLink over a message port. docs/decisions/worker-agents.md */
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { onAbort } from '../base/on-abort.ts'
import { within } from '../base/within.ts'
import { debugList, onDebugChange } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { portStream } from '../net/port-stream.ts'
import type { ExitStatus, OpenedAgent } from '../routing/agent-slot.ts'
import type { AgentPlace } from './agent-module.ts'
import type { WorkerNotice, WorkerSetup } from './agent-worker.ts'
import { connectAgent } from './open-process.ts'
import type { AgentOpenEnv } from './options.ts'

/** How long a thread that did not greet may take to end and tell why. */
const TELL_MS = 300
/** How long a thread that was told to end may take before its agent is not started again. */
const END_MS = 3000
/** MiB of JavaScript heap an agent may use unless the collector was told otherwise. */
const HEAP_MB = 256

/** Threads of this process that were told to end and have not. */
const ending = new Map<Worker, { readonly name: string; readonly exited: Promise<ExitStatus> }>()

/** Waits for threads that are ending; resolves to how many do not: they are in a system call, or in a loop of V8's own. */
export async function stuckThreads(): Promise<number> {
  await within(END_MS, Promise.all([...ending.values()].map(({ exited }) => exited)))
  return ending.size
}

/** Ends a process that has such threads by force: an orderly exit would wait for them. Call it last. */
export function killWithStuckThreads(): void {
  if (ending.size > 0) process.kill(process.pid, 'SIGKILL')
}

/** An agent that is to run in a thread. */
export interface WorkerAgent {
  readonly name: string
  readonly domain: number
  readonly place: AgentPlace
}

/** Starts a thread for an agent and greets the agent. Rejects with what the thread failed with, if it did. */
export async function openWorkerAgent(
  agent: WorkerAgent,
  env: AgentOpenEnv,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  await formerThread(agent.name)
  signal.throwIfAborted()
  const { Worker, MessageChannel } = process.getBuiltinModule('node:worker_threads')
  const { port1, port2 } = new MessageChannel()
  const { domain, place } = agent
  const setup: WorkerSetup = {
    port: port2,
    place,
    domain,
    variables: { ...env.variables },
    debug: debugList(),
    owner: env.statistics.uid,
  }
  const worker = new Worker(env.workers?.program ?? workerProgram(), {
    workerData: setup,
    transferList: [port2],
    name: agent.name,
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: env.workers?.heapMb ?? HEAP_MB },
  })
  const { exited, failure } = watch(worker, agent.name, env)
  const kill = (): void => {
    ending.set(worker, { name: agent.name, exited })
    void worker.terminate()
  }
  const settings = { startsNotReady: false, running: { exited, kill } }
  const unlink = onAbort(signal, kill)
  try {
    return await connectAgent(agent.name, portStream(port1), env, settings)
  } catch (error) {
    // The connection ends before the thread has told why; one that is stuck never tells.
    await within(TELL_MS, exited)
    throw failure() ?? error
  } finally {
    unlink()
  }
}

/** Waits for the thread that an agent had; EBUSY when that is stuck: with each restart there would be one more. */
async function formerThread(name: string): Promise<void> {
  const former = [...ending.values()].find((each) => each.name === name)
  if (former !== undefined && (await within(END_MS, former.exited)) === undefined)
    throw new PcpError('EBUSY', `Agent "${name}": the thread it had does not end`)
}

/** The program of the threads stands beside whatever program this is part of. */
function workerProgram(): string {
  const here = import.meta.url // a path where this is bundled as CommonJS
  return join(dirname(here.startsWith('file:') ? fileURLToPath(here) : here), 'agent-worker.cjs')
}

/** Brings what the thread prints and tells to the log, and notes how it ends. */
function watch(
  worker: Worker,
  name: string,
  { log }: AgentOpenEnv,
): { readonly exited: Promise<ExitStatus>; readonly failure: () => PcpError | undefined } {
  let failure: PcpError | undefined
  worker.on('message', ({ level, text }: WorkerNotice) => log.notice(level, `${name}: ${text}`))
  worker.on('error', (error: Error) => {
    failure = PcpError.from(error, `agent "${name}"`)
    log.notice('error', `Agent "${name}" ends: ${error.stack ?? error.message}`)
  })
  for (const stream of [worker.stdout, worker.stderr])
    logLines(stream, (line) => log.line(`${name}: ${line}`))
  const unwatch = onDebugChange(() => worker.postMessage(debugList()))
  const exited = new Promise<ExitStatus>((resolve) => {
    worker.once('exit', (code) => {
      unwatch()
      ending.delete(worker)
      resolve({ code, signal: 0 })
    })
  })
  return { exited, failure: () => failure }
}

/** Each chunk is what one call printed. */
function logLines(stream: Readable, write: (line: string) => void): void {
  stream.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.replace(/\n$/, '').split('\n')) write(line)
  })
}
