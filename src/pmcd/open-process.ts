/** Agents in processes of their own: behind a pair of pipes, or behind a socket. docs/formats/wire.md §7.1 */
import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import { onAbort } from '../base/on-abort.ts'
import { within } from '../base/within.ts'
import { PcpError } from '../model/errors.ts'
import { openAgentLink } from '../net/agent-link.ts'
import { PduConnection, type PduStream, socketStream } from '../net/connection.ts'
import type { ExitStatus, OpenedAgent } from '../routing/agent-slot.ts'
import type { PipeConfig, SocketConfig } from '../routing/pmcd-conf.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import type { Log } from '../sys/log.ts'
import { REPLY_LIMITS } from '../wire/reply-limits.ts'
import { ConnectionWatch } from './event-trace.ts'
import type { AgentOpenEnv } from './options.ts'

/** How long an agent may take to end once its connection is closed: to write what it keeps, to log out of what it watches. */
const EXIT_MS = 5000
/** How long one that does not notice that may take to end after SIGTERM. */
const TERMINATE_MS = 1000
/** How long a killed process may take to be gone on a busy machine. */
const KILL_MS = 2000
/** How long an agent that was just started may take until it listens, how often that is tried, and how long each time. */
const LISTEN_MS = 4000
const RETRY_MS = 100
const CONNECT_MS = 3000

/** Starts an agent whose standard input and output are the connection. */
export async function openPipeAgent(
  config: PipeConfig,
  env: AgentOpenEnv,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  const running = await startProcess(config.argv, true, env)
  const { child } = running
  const unlink = onAbort(signal, running.kill)
  try {
    return await connectAgent(config.name, { readable: child.stdout!, writable: child.stdin! }, env, {
      startsNotReady: config.startsNotReady,
      running,
    })
  } finally {
    unlink()
  }
}

/** Connects to an agent that listens, after starting it when the configuration has a command. */
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
      // An agent serves one connection and leaves its socket, which would keep the next one from listening.
      ...(config.family === 'unix' ? { leftover: config.path } : {}),
    })
  } catch (error) {
    running?.kill()
    throw error
  } finally {
    unlink()
  }
}

/** What an agent runs in, and how it will end. */
export interface Running {
  /** Process id; a thread has none. */
  readonly pid?: number
  readonly exited: Promise<ExitStatus>
  /** Requests its end by SIGTERM; a thread has no such signal. */
  readonly terminate?: () => void
  /** Ends it by force. */
  readonly kill: () => void
}

/** How an agent at the other end of a stream is taken on. */
export interface LinkSettings {
  readonly startsNotReady: boolean
  /** What ends with the connection; undefined: nothing of ours. */
  readonly running: Running | undefined
  /** A file to remove when the agent has ended. */
  readonly leftover?: string
}

/** Greets an agent. Rejects with why that failed; what it runs in is then killed. */
export async function connectAgent(
  name: string,
  stream: PduStream,
  env: AgentOpenEnv,
  { startsNotReady, running, leftover }: LinkSettings,
): Promise<OpenedAgent> {
  const fds = [descriptorOf(stream.writable), descriptorOf(stream.readable)] as const
  const watch = new ConnectionWatch(env.events, `agent "${name}"`, ...fds)
  const connection = new PduConnection(stream, {
    name: `agent "${name}"`,
    limit: REPLY_LIMITS.pduBytes,
    counters: env.counters,
    watch,
  })
  let isClosing = false
  // Before the link hears of it: who hears from the link closes it.
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
  // Whoever closes the source ends the process with it: at first by closing its input, then by force.
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

/** A collector that gave up root may not remove what an agent left: that concerns the agent's next start, and nobody else. */
function removeLeftover(path: string, log: Log): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    log.notice('warning', PcpError.from(error, `Cannot remove ${path}`).message)
  }
}

/** Resolves once the process runs. Rejects with the errno of why it does not. */
async function startProcess(
  argv: readonly string[],
  isPiped: boolean,
  env: AgentOpenEnv,
): Promise<Running & { readonly child: ChildProcess }> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const [command, ...args] = argv
  const io = isPiped ? 'pipe' : 'ignore'
  const child = spawn(command!, args, {
    stdio: [io, io, env.log.fd],
    ...(env.agentDir === undefined ? {} : { cwd: env.agentDir }),
  })
  const exited = new Promise<ExitStatus>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve({ code: code ?? 0, signal: signal === null ? 0 : constants.signals[signal] }),
    )
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    // Later errors are signals that could not be sent, to an agent that runs as somebody else: its end is waited for.
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

/** Waits for the end, then makes it happen. Gives up on what cannot even be killed: it must not keep us. */
async function end({ exited, terminate, kill }: Running): Promise<void> {
  if ((await within(EXIT_MS, exited)) !== undefined) return
  if (terminate !== undefined) {
    terminate()
    if ((await within(TERMINATE_MS, exited)) !== undefined) return
  }
  kill()
  await within(KILL_MS, exited)
}

/** Tries until it works, `patienceMs` have passed or `signal` is aborted; rejects with the last error. */
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
        // A queue of connections that is full lets the next one wait for minutes.
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
