/** Opens agents in their own process, connected by pipes or a socket. docs/formats/wire.md §7.1 */
import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import { onAbort } from '../base/on-abort.ts'
import { loggableMessage } from '../base/printable.ts'
import { withTimeout } from '../base/within.ts'
import { PcpError } from '../model/errors.ts'
import { openAgentLink } from '../net/agent-link.ts'
import { PduConnection, type PduStream, socketStream } from '../net/connection.ts'
import type { ExitStatus, OpenedAgent } from '../routing/agent-slot.ts'
import type { PipeConfig, SocketConfig } from '../routing/pmcd-conf.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import type { Log } from '../sys/log.ts'
import { REPLY_LIMITS } from '../wire/reply-limits.ts'
import type { AgentLocation } from './agent-module.ts'
import { ConnectionTracer } from './event-trace.ts'
import type { AgentOpenEnv } from './options.ts'
import { programBeside } from './program-beside.ts'

/** Time for an agent to exit after its connection was closed, for instance to save its state. */
const EXIT_MS = 5000
/** Time to exit after SIGTERM. */
const TERMINATE_MS = 1000
/** Time to exit after SIGKILL on a busy machine. */
const KILL_MS = 2000
/** Time for a started agent to listen, interval between attempts to connect, and time limit of each. */
const LISTEN_MS = 4000
const RETRY_MS = 100
const CONNECT_MS = 3000

/** Starts an agent that is connected through its standard input and output. */
export function openPipeAgent(
  config: PipeConfig,
  env: AgentOpenEnv,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  return openPiped(config, env, signal, false)
}

async function openPiped(
  { name, argv, startsNotReady }: Pick<PipeConfig, 'name' | 'argv' | 'startsNotReady'>,
  env: AgentOpenEnv,
  signal: AbortSignal,
  reportsFailure: boolean,
): Promise<OpenedAgent> {
  const running = await startProcess(argv, true, env, reportsFailure)
  const { child } = running
  const lastLine = reportsFailure ? logErrors(child, name, env.log) : undefined
  const unlink = onAbort(signal, running.kill)
  try {
    return await connectAgent(name, { readable: child.stdout!, writable: child.stdin! }, env, {
      startsNotReady,
      running,
    })
  } catch (error) {
    const line = await lastLine?.()
    throw line === undefined ? error : new PcpError(PcpError.from(error).code, line, { cause: error })
  } finally {
    unlink()
  }
}

/** A module's agent to run in its own process. */
export interface DaemonAgent {
  readonly name: string
  readonly domain: number
  readonly place: AgentLocation
}

/**
 * Starts the process of a module's agent. It is run by this installation's Node and program, so that a configuration need
 * not name them. Rejects with the last line that the process wrote, if it ends before the handshake.
 */
export async function openDaemonAgent(
  { name, domain, place }: DaemonAgent,
  env: AgentOpenEnv,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  const argv = [process.execPath, programBeside('agent-daemon.cjs'), JSON.stringify(place), '-d', `${domain}`]
  return openPiped({ name, argv, startsNotReady: false }, env, signal, true)
}

/** Connects to an agent that listens, after starting it if the configuration has a command. */
export async function openSocketAgent(
  config: SocketConfig,
  env: AgentOpenEnv,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  const running = config.argv.length === 0 ? undefined : await startProcess(config.argv, false, env)
  const unlink = onAbort(signal, () => running?.kill())
  try {
    const socket = await connectSocket(config, running === undefined ? 0 : LISTEN_MS, signal)
    return await connectAgent(config.name, socketStream(socket), env, {
      startsNotReady: false,
      running,
      // An agent serves one connection and leaves its socket behind, which would prevent the next one from listening.
      ...(config.family === 'unix' ? { leftover: config.path } : {}),
    })
  } catch (error) {
    running?.kill()
    throw error
  } finally {
    unlink()
  }
}

/** The process or thread of an agent. */
export interface AgentRuntime {
  /** Process id; a thread has none. */
  readonly pid?: number
  readonly exited: Promise<ExitStatus>
  /** Sends SIGTERM; undefined for a thread. */
  readonly terminate?: () => void
  /** Kills it. */
  readonly kill: () => void
}

/** Settings of `connectAgent`. */
export interface LinkSettings {
  readonly startsNotReady: boolean
  /** Process or thread to end with the connection; undefined if we did not start one. */
  readonly running: AgentRuntime | undefined
  /** File to remove after the agent has ended. */
  readonly leftover?: string
}

/** Performs the handshake with an agent. Rejects with the reason of a failure, after killing its process or thread. */
export async function connectAgent(
  name: string,
  stream: PduStream,
  env: AgentOpenEnv,
  { startsNotReady, running, leftover }: LinkSettings,
): Promise<OpenedAgent> {
  const fds = [descriptorOf(stream.writable), descriptorOf(stream.readable)] as const
  const watch = new ConnectionTracer(env.events, `agent "${name}"`, ...fds)
  const connection = new PduConnection(stream, {
    name: `agent "${name}"`,
    limit: REPLY_LIMITS.pduBytes,
    counters: env.counters,
    watch,
  })
  let isClosing = false
  // Registered before the link's listener, which closes the link.
  connection.onClose((error) => {
    if (!isClosing) watch.failed(error)
  })
  const link = await openAgentLink(connection, {
    name: `agent "${name}"`,
    get timeoutMs() {
      return env.timeoutMs()
    },
    handshakeMs: env.credsTimeoutMs(),
    startsNotReady,
  }).catch((error: unknown) => {
    running?.kill()
    throw error
  })
  const closeLink = link.close.bind(link)
  // Closing the source also ends the process: first by closing its input, then by force.
  link.close = async () => {
    isClosing = true
    await closeLink()
    if (running !== undefined) await end(running)
    if (leftover !== undefined) removeLeftover(leftover, env.log)
  }
  return {
    source: link,
    ...(fds[0] < 0 ? {} : { fds }), // a message port has none
    attribute: (client, key, value) => link.attribute(client, key, value),
    ...(running === undefined ? {} : { exited: running.exited }),
    ...(running?.pid === undefined ? {} : { pid: running.pid }),
  }
}

/** After dropping root a collector may be unable to remove the file; that affects only the agent's next start. */
function removeLeftover(path: string, log: Log): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    log.notice('warning', PcpError.from(error, `Cannot remove ${path}`).message)
  }
}

/** Time for a process that failed its handshake to write why. */
const LAST_LINE_MS = 300
/** Longest line that is kept. */
const MAX_LINE = 4096

/** Writes the process's standard error to the log. Returns a function that waits for its end and resolves to the last line. */
function logErrors(child: ChildProcess, name: string, log: Log): () => Promise<string | undefined> {
  let last: string | undefined
  let rest = ''
  const write = (line: string): void => {
    log.line(loggableMessage(`${name}: ${line}`))
    if (line.trim() !== '') last = line
  }
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) write(line)
    if (rest.length <= MAX_LINE) return
    write(rest)
    rest = ''
  })
  const ended = new Promise<void>((resolve) => {
    child.stderr!.once('close', () => {
      if (rest !== '') write(rest)
      resolve()
    })
  })
  return async () => {
    await withTimeout(LAST_LINE_MS, ended)
    return last
  }
}

/** Resolves when the process runs. Rejects with the errno if it cannot be started. */
async function startProcess(
  argv: readonly string[],
  isPiped: boolean,
  env: AgentOpenEnv,
  readsErrors = false,
): Promise<AgentRuntime & { readonly child: ChildProcess }> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const [command, ...args] = argv
  const io = isPiped ? 'pipe' : 'ignore'
  const child = spawn(command!, args, {
    stdio: [io, io, readsErrors ? 'pipe' : env.log.fd],
    ...(env.agentDir === undefined ? {} : { cwd: env.agentDir }),
  })
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ code: code ?? 0, signal: signal === null ? 0 : constants.signals[signal] }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    // Later errors are signals that could not be sent, to an agent of another user; its end is awaited.
    child.on('error', (error) => reject(PcpError.from(error, `Cannot start ${command}`)))
  })
  return {
    child,
    pid: child.pid!,
    exited,
    terminate: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Waits for the end, then forces it. Gives up on a process that cannot be killed. */
async function end({ exited, terminate, kill }: AgentRuntime): Promise<void> {
  if ((await withTimeout(EXIT_MS, exited)) !== undefined) return
  if (terminate !== undefined) {
    terminate()
    if ((await withTimeout(TERMINATE_MS, exited)) !== undefined) return
  }
  kill()
  await withTimeout(KILL_MS, exited)
}

/** Retries until connected, until `patienceMs` have passed or `signal` aborts; rejects with the last error. */
async function connectSocket(config: SocketConfig, patienceMs: number, signal: AbortSignal): Promise<Socket> {
  const { connect } = process.getBuiltinModule('node:net')
  const target =
    config.family === 'unix'
      ? { path: config.path }
      : { host: config.family === 'ipv6' ? '::1' : '127.0.0.1', port: config.port }
  const deadline = Date.now() + patienceMs
  for (;;) {
    try {
      return await new Promise<Socket>((resolve, reject) => {
        const socket = connect(target)
        const late = (): void =>
          void socket.destroy(new PcpError('ETIMEDOUT', `No connection within ${CONNECT_MS} ms`))
        // With a full backlog the kernel would wait for minutes.
        const timer = setTimeout(late, CONNECT_MS)
        socket.once('connect', () => resolve(socket))
        socket.once('error', reject)
        socket.once('close', () => clearTimeout(timer)).once('connect', () => clearTimeout(timer))
      })
    } catch (error) {
      if (Date.now() >= deadline || signal.aborted)
        throw PcpError.from(error, `Cannot connect to agent "${config.name}"`)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}
