/** Opens agents in threads of the collector: an AgentLink over a message port. docs/decisions/worker-agents.md */
import type { Readable } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import { onAbort } from '../base/on-abort.ts'
import { withTimeout } from '../base/within.ts'
import { debugList, onDebugChange } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { portStream } from '../net/port-stream.ts'
import type { ExitStatus, OpenedAgent } from '../routing/agent-slot.ts'
import type { AgentLocation } from './agent-module.ts'
import type { WorkerNotice, WorkerSetup } from './agent-worker.ts'
import { connectAgent } from './open-process.ts'
import type { AgentOpenEnv } from './options.ts'
import { programBeside } from './program-beside.ts'

/** Time for a thread that failed its handshake to exit with its error. */
const EXIT_ERROR_MS = 300
/** Time for a terminated thread to end before its agent can be restarted. */
const END_MS = 3000
/** Default limit of an agent's JavaScript heap in MiB. */
const HEAP_MB = 256

/** Threads that were terminated and have not ended yet. */
const ending = new Map<Worker, { readonly name: string; readonly exited: Promise<ExitStatus> }>()

/** Waits for terminated threads; resolves to the number that did not end, stuck in a system call or inside V8. */
export async function stuckThreads(): Promise<number> {
  await withTimeout(END_MS, Promise.all([...ending.values()].map(({ exited }) => exited)))
  return ending.size
}

/** Kills this process if it has stuck threads, which would block an orderly exit. Call it last. */
export function killWithStuckThreads(): void {
  if (ending.size > 0) process.kill(process.pid, 'SIGKILL')
}

/** An agent to run in a thread. */
export interface WorkerAgent {
  readonly name: string
  readonly domain: number
  readonly place: AgentLocation
}

/** Starts a thread and performs the handshake with its agent. Rejects with the thread's error, if any. */
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
  const worker = new Worker(env.workers?.program ?? programBeside('agent-worker.cjs'), {
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
    // The connection ends before the thread's error arrives; a stuck thread sends none.
    await withTimeout(EXIT_ERROR_MS, exited)
    throw failure() ?? error
  } finally {
    unlink()
  }
}

/** Waits for the agent's previous thread. EBUSY if it is stuck, so that restarts do not accumulate threads. */
async function formerThread(name: string): Promise<void> {
  const former = [...ending.values()].find((each) => each.name === name)
  if (former !== undefined && (await withTimeout(END_MS, former.exited)) === undefined)
    throw new PcpError('EBUSY', `Agent "${name}": its previous thread does not end`)
}

/** Logs the thread's output and notices, and records how it ends. */
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

/** Each chunk is the output of one call. */
function logLines(stream: Readable, write: (line: string) => void): void {
  stream.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.replace(/\n$/, '').split('\n')) write(line)
  })
}
