/** Opens agents: in this process, over a pair of pipes, or over a socket. dbpmda(1) */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { withTimeout } from '../../base/within.ts'
import { PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { MetricSource } from '../../model/source.ts'
import { openAgentLink } from '../../net/agent-link.ts'
import { PduConnection, type PduStream, socketStream } from '../../net/connection.ts'
import { tracePdus } from '../../net/pdu-trace.ts'
import type { AgentLocation } from '../../pmcd/agent-module.ts'
import { openAgent } from '../../pmda/open-agent.ts'
import { loadConfig } from '../../sys/config.ts'
import { descriptorOf } from '../../sys/descriptor.ts'
import { REPLY_LIMITS } from '../../wire/reply-limits.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { AgentAddress } from './parse.ts'

/** An open agent. */
export interface OpenAgent {
  readonly kind: 'dso' | 'daemon'
  readonly source: MetricSource
  /** Description for `status`. */
  readonly title: string
  /** 0 if dbpmda did not start a process. */
  readonly pid: number
  /** Known for an agent in this process. */
  readonly domain?: number
  /** The agent's own names, which need no name space. */
  readonly names?: ReadonlyMap<string, Pmid>
  /** Sends an attribute of the client to an agent in another process. */
  readonly attribute?: (key: number, value: string) => void
  /** Returns why the agent is gone; undefined while it is connected. */
  lostBy(): PcpError | undefined
  close(): Promise<void>
}

/** Settings for opening an agent. */
export interface OpenSettings {
  readonly io: ToolIo
  /** Timeout of the handshake. */
  readonly handshakeMs: number
}

/** Identifies the only client. */
const CLIENT = 0
/** Time an agent has to exit after its connection is closed, before SIGTERM, and again before SIGKILL. */
const EXIT_MS = 1000

/** Opens an agent. Rejects with a PcpError whose message is shown. */
export async function openTarget(place: AgentAddress, settings: OpenSettings): Promise<OpenAgent> {
  switch (place.kind) {
    case 'dso':
      return openHere(place, settings)
    case 'pipe':
      return openPipe(place.argv, settings)
    default:
      return openSocket(place, settings)
  }
}

type DsoPlace = Extract<AgentAddress, { kind: 'dso' }>

async function openHere(place: DsoPlace, { io }: OpenSettings): Promise<OpenAgent> {
  // Loaded on demand, because it imports every agent.
  const { loadAgent } = await import('../../pmcd/agent-module.ts')
  const definition = await loadAgent(await placeOf(place))
  const source = openAgent(definition, {
    domain: place.domain ?? definition.domain,
    env: loadConfig(io.env).variables,
    log: (level, text) => io.stderr.write(`${io.progname}: ${level}: ${text}\n`),
  })
  return {
    kind: 'dso',
    source,
    title: place.path,
    pid: process.pid,
    domain: source.domain,
    names: new Map(source.names()),
    lostBy: () => undefined,
    close: () => source.close(),
  }
}

/** Finds a module of the user, or the agent of this package that replaces a shared object. */
async function placeOf({ path, entry }: DsoPlace): Promise<AgentLocation> {
  const { isAgentModule } = await import('../../pmcd/agent-module.ts')
  const { AGENTS } = await import('../../agents/registry.ts')
  if (isAgentModule(path)) {
    statOrFail('opendso:', path, '')
    return { kind: 'module', path, entry }
  }
  const agents = AGENTS.filter(({ dso }) => dso.file === basename(path))
  const found = agents.find(({ dso }) => dso.entry === entry)
  if (found !== undefined) return { kind: 'builtin', name: found.name }
  if (agents.length > 0)
    throw new PcpError('PM_ERR_GENERIC', `Error: couldn't find init function "${entry}" in DSO "${path}"`)
  statOrFail('opendso:', path, '')
  throw new PcpError('PM_ERR_GENERIC', `Error: this package has no agent that replaces DSO "${path}"`)
}

async function openPipe(argv: readonly [string, ...string[]], settings: OpenSettings): Promise<OpenAgent> {
  const [command, ...args] = argv
  const path = command.startsWith('/') ? command : `./${command}`
  statOrFail('openpmda: stat', path, ' failed')
  const { io } = settings
  io.stdout.write(`Start ${basename(path)} PMDA: ${argv.join(' ')}\n`)
  await io.stdout.flush()
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: io.cwd })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(PcpError.from(error, `openpmda: ${path}`)))
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stream = { readable: child.stdout, writable: child.stdin }
  const end = async (): Promise<void> => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (
        await withTimeout(
          EXIT_MS,
          exited.then(() => true),
        )
      )
        return
      child.kill(signal)
    }
    await exited
  }
  try {
    return await connect(stream, { title: path, pid: child.pid!, end }, settings)
  } catch (error) {
    await end()
    throw error
  }
}

type SocketPlace = Exclude<AgentAddress, { kind: 'dso' | 'pipe' }>

async function openSocket(place: SocketPlace, settings: OpenSettings): Promise<OpenAgent> {
  const { io } = settings
  const { connect: dial } = process.getBuiltinModule('node:net')
  const isUnix = place.kind === 'unix'
  const path = isUnix ? (place.path.startsWith('/') ? place.path : `./${place.path}`) : ''
  const socket = isUnix
    ? dial({ path })
    : dial({ port: place.port, host: place.kind === 'ipv6' ? '::1' : '127.0.0.1' })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('error', (error) => {
      const { code, text } = PcpError.from(error)
      reject(new PcpError(code, `opensocket: ${isUnix ? path : 'connect'}: ${text}`, { cause: error }))
    })
  })
  io.stdout.write(`Connect to PMDA on ${isUnix ? `socket ${path}` : `${place.kind} port ${place.port}`}\n`)
  const title = isUnix ? path : `${place.kind} port ${place.port}`
  return connect(socketStream(socket), { title, pid: 0, end: async () => {} }, settings)
}

interface Running {
  readonly title: string
  readonly pid: number
  /** Resolves when the process has exited. */
  readonly end: () => Promise<void>
}

/** Performs the handshake. Requests have no time limit, because the agent may be stopped in a debugger. */
async function connect(
  stream: PduStream,
  { title, pid, end }: Running,
  { handshakeMs }: OpenSettings,
): Promise<OpenAgent> {
  const name = `PMDA ${title}`
  const connection = new PduConnection(stream, {
    name,
    limit: REPLY_LIMITS.pduBytes,
    watch: tracePdus(name, descriptorOf(stream.writable)),
  })
  try {
    const link = await openAgentLink(connection, { name, timeoutMs: 0, handshakeMs })
    return {
      kind: 'daemon',
      source: link,
      title,
      pid,
      attribute: (key, value) => link.attribute(CLIENT, key, value),
      lostBy: () => link.closedBy,
      close: async () => {
        link.endClient(CLIENT)
        await link.close()
        await end()
      },
    }
  } catch (error) {
    const { code, message } = PcpError.from(error)
    const got = code === 'PM_ERR_EOF' ? 'EOF' : code === 'PM_ERR_TIMEOUT' ? 'nothing' : message
    const late = `Warning: no version exchange with PMDA ${title} after ${handshakeMs / 1000} secs`
    throw new PcpError(code, `pmdaversion: expecting PDU_CREDS, got ${got}\n${late}`, { cause: error })
  }
}

function statOrFail(before: string, path: string, after: string): void {
  try {
    statSync(path)
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `${before} ${path}${after}: ${text}`, { cause: error })
  }
}
