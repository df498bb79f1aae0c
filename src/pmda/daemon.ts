/** Runs an agent as a separate process, as pmcd starts it. pmdaMain(3), docs/reference/agent-toolkit.md */

import { chmodSync, existsSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { hostname } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { onAbort } from '../base/on-abort.ts'
import { clearDebug, setDebug, traceTo } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { serveAgent } from '../net/agent-server.ts'
import { PduConnection, type PduStream } from '../net/connection.ts'
import { listen } from '../net/listen.ts'
import { loadConfig } from '../sys/config.ts'
import { type Log, logOnFd, openLog } from '../sys/log.ts'
import { servicePort } from '../sys/services.ts'
import { PDU_FLAG_AUTH, PDU_FLAG_CONTAINER } from '../wire/creds.ts'
import { type DaemonOptions, daemonUsage, parseDaemonOptions, type Transport } from './daemon-options.ts'
import type { AgentDefinition } from './define-agent.ts'
import { HelpFile } from './help-file.ts'
import { openAgent } from './open-agent.ts'

/** Everything a daemon uses of its process, so that tests can run it in-process. */
export interface DaemonIo {
  /** Arguments after the program's name. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of the log without -l. */
  readonly cwd: string
  /** Standard input and output, for an agent that pmcd connects to by pipe. */
  readonly pipe: () => PduStream
  /** Prints usage and mistakes before the log is open. */
  readonly stderr: (text: string) => void
  /** Called when the log is open; anything else the process prints belongs there. */
  readonly onLog?: (log: Log) => void
  /** Called when the agent listens for pmcd on this port (0 for a unix socket). */
  readonly onListening?: (port: number) => void
  /** The process runs as root: an agent that does not need root switches to another user. */
  readonly isRoot?: boolean
  /** Switches to another user. Throws if it cannot. */
  readonly becomeUser?: (user: string) => void
  /** Shuts the agent down. */
  readonly signal: AbortSignal
}

/**
 * Runs an agent until pmcd closes the connection. Resolves to the exit status: 0 after the last request, 1 when the
 * command line is wrong or the agent cannot start. The reason is logged or, before the log is open, written to stderr.
 */
export async function runAgentDaemon(definition: AgentDefinition, io: DaemonIo): Promise<number> {
  const program = `pmda${definition.name}`
  const options = parseDaemonOptions(io.args, servicePort, definition.options)
  if ('problems' in options) {
    for (const problem of options.problems) io.stderr(`${program}: ${problem}\n`)
    io.stderr(daemonUsage(program, definition.options))
    return 1
  }
  const log = openDaemonLog(definition.name, options, io)
  io.onLog?.(log)
  if (options.debug !== undefined) {
    setDebug(options.debug)
    traceTo((line) => log.line(line))
  }
  try {
    await serve(definition, options, io, log)
    return 0
  } catch (error) {
    log.notice('error', error instanceof PcpError ? error.message : describe(error))
    return 1
  } finally {
    if (options.debug !== undefined) {
      clearDebug(options.debug)
      traceTo()
    }
    log.close()
  }
}

async function serve(
  definition: AgentDefinition,
  options: DaemonOptions,
  io: DaemonIo,
  log: Log,
): Promise<void> {
  const { variables } = loadConfig(io.env)
  const ordinary = definition.needsNoRoot && io.isRoot === true ? (variables['PCP_USER'] ?? 'pcp') : undefined
  const user = options.user ?? ordinary
  if (user !== undefined) io.becomeUser?.(user)
  const env = {
    domain: options.domain ?? definition.domain,
    env: variables,
    log: (level: 'info' | 'warning' | 'error', text: string) => log.notice(level, text),
    options: options.own,
  }
  const help = options.help ?? installedHelp(definition.name, env.env)
  const source = openAgent(definition, env, openDaemonHelp(help, log))
  try {
    const stream = await connect(options.transport, io)
    const connection = new PduConnection(stream, { name: 'pmcd' })
    const stop = (): void => void connection.close()
    const unlink = onAbort(io.signal, stop)
    if (io.signal.aborted) stop()
    // Requests clients' credentials and containers, so that an agent behaves as inside a collector.
    await serveAgent(source, connection, { flags: PDU_FLAG_AUTH | PDU_FLAG_CONTAINER })
    unlink()
  } catch (error) {
    // pmcd may disconnect at any time, even before its greeting: that is a normal end.
    if (!(error instanceof PcpError) || error.code !== 'PM_ERR_EOF') throw error
  } finally {
    await source.close()
  }
}

/** Base name of the help files in the agent's PCP directory: the site's texts, or those of PCP's own agent. */
function installedHelp(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const dir = env['PCP_PMDAS_DIR']
  if (dir === undefined) return undefined
  const base = join(dir, name, 'help')
  return existsSync(`${base}.dir`) && existsSync(`${base}.pag`) ? base : undefined
}

/** Opens help files of the command line or the agent's directory. If they are wrong, logs why; the agent's own texts are used. */
function openDaemonHelp(base: string | undefined, log: Log): HelpFile | undefined {
  if (base === undefined) return undefined
  try {
    return new HelpFile({ dir: readFileSync(`${base}.dir`), pag: readFileSync(`${base}.pag`) })
  } catch (error) {
    log.notice('warning', `Help files "${base}": ${(error as Error).message}: the agent's own texts are used`)
    return undefined
  }
}

/** Accepts one connection, from pmcd. */
async function connect(transport: Transport, io: DaemonIo): Promise<PduStream> {
  if (transport.kind === 'pipe') return io.pipe()
  const { promise, accept } = firstConnection(io.signal)
  const isUnix = transport.kind === 'unix'
  const listeners = await listen({
    ports: isUnix ? [] : [transport.port],
    addresses: [transport.kind === 'ipv6' ? '::1' : '127.0.0.1'],
    ...(isUnix ? { socketPath: transport.path } : {}),
    onConnection: accept,
  })
  try {
    const endpoint = listeners.endpoints.find(({ family }) => family === transport.kind)!
    if (endpoint.error !== undefined) throw endpoint.error
    if (isUnix) chmodSync(transport.path, 0o660)
    io.onListening?.(endpoint.port)
    const socket = await promise
    return { readable: socket, writable: socket }
  } finally {
    await listeners.close()
  }
}

function firstConnection(signal: AbortSignal): {
  readonly promise: Promise<Socket>
  readonly accept: (socket: Socket) => void
} {
  let settle: ((socket: Socket) => void) | undefined
  const promise = new Promise<Socket>((resolve, reject) => {
    settle = resolve
    onAbort(signal, () => reject(new PcpError('EINTR', 'Ended before pmcd connected')))
  })
  promise.catch(() => undefined) // never awaited if listening fails first
  const accept = (socket: Socket): void => {
    if (settle === undefined) socket.destroy()
    else settle(socket)
    settle = undefined
  }
  return { promise, accept }
}

/** Opens NAME.log in the current directory, which pmcd sets to its log directory; standard error if that fails. */
function openDaemonLog(name: string, options: DaemonOptions, io: DaemonIo): Log {
  const progname = `pmda${name}`
  const file = options.log ?? `${name}.log`
  const path = isAbsolute(file) ? file : join(io.cwd, file)
  try {
    return openLog(path, { progname, host: hostname() })
  } catch (error) {
    io.stderr(`${progname}: cannot open log "${path}": ${PcpError.from(error).text}\n`)
    return logOnFd(2, { progname, host: hostname() })
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
