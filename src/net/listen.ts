/** Listening for PDU connections on TCP ports and a unix socket. docs/formats/wire.md §4.1 */
import { chmodSync, statSync, unlinkSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { PcpError } from '../model/errors.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import { type DescriptorReserve, processDescriptorReserve } from '../sys/descriptor-reserve.ts'

/** Options of `listen`. */
export interface ListenOptions {
  /** TCP ports; 0 lets the kernel choose. Repeated ports are opened once. */
  readonly ports: readonly number[]
  /** Addresses to listen on, each in its own family and once; empty for all. */
  readonly addresses?: readonly string[]
  /** Listen on the loopback addresses only (PMCD_LOCAL). */
  readonly localOnly?: boolean
  /** Path of the unix socket, open to all users unless `isPrivate`. */
  readonly socketPath?: string
  /** Restrict the unix socket to this process's user. */
  readonly isPrivate?: boolean
  /** Connections that the kernel queues; default 1024. */
  readonly backlog?: number
  /** Pause before each of four retries for a port that is in use; default 250 ms. */
  readonly retryMs?: number
  /** Called for each accepted connection. */
  readonly onConnection: (socket: Socket, endpoint: Endpoint) => void
  /** Refuses a connection in its protocol and closes it; default: closes it. */
  readonly refuse?: (socket: Socket, endpoint: Endpoint) => void
  /** Logs why connections are refused. */
  readonly log?: (text: string) => void
  /** File descriptor reserve of this process; replaced in tests. */
  readonly fdReserve?: DescriptorReserve
}

/** Parses a comma-separated list of ports; returns undefined if one is not a valid port. */
export function parsePorts(list: string): number[] | undefined {
  const ports = list.split(',').map((text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN))
  return ports.every((port) => port <= 65_535) ? ports : undefined
}

/** One address that we listen on, or failed to. */
export interface Endpoint {
  readonly family: 'inet' | 'ipv6' | 'unix'
  /** Address or path; INADDR_ANY and INADDR_LOOPBACK as in PCP's log. */
  readonly address: string
  /** The actual port when the kernel chose it; 0 for the unix socket. */
  readonly port: number
  /** File descriptor, -1 when not open. */
  readonly fd: number
  /** Why it could not be opened. */
  readonly error?: PcpError
}

/** All endpoints. */
export interface Listeners {
  /** In the order they were opened, failed ones included. */
  readonly endpoints: readonly Endpoint[]
  /** Stops listening; connections stay. */
  close(): Promise<void>
}

interface Target {
  readonly family: Endpoint['family']
  /** Address as shown in messages. */
  readonly address: string
  /** Address to bind to. */
  readonly bind: string
  readonly port: number
}

const RETRIES = 4

/** Longest path of a unix socket in bytes; the system would truncate a longer one and bind a different path. */
export const MAX_SOCKET_PATH: number = process.platform === 'linux' ? 107 : 103

/**
 * Opens every endpoint. An endpoint that cannot be opened is reported in `endpoints`, not thrown: a collector continues
 * while at least one is open.
 */
export async function listen(options: ListenOptions): Promise<Listeners> {
  const servers: Server[] = []
  const endpoints: Endpoint[] = []
  let chosenPort = 0
  for (const target of targetsOf(options)) {
    // When the kernel chooses the port, IPv6 reuses the one of IPv4.
    const port = target.port === 0 && target.family === 'ipv6' ? chosenPort : target.port
    try {
      const server = await open({ ...target, port }, options)
      servers.push(server)
      endpoints.push(endpointOf(target, server))
      if (target.family === 'inet') chosenPort = endpoints.at(-1)!.port
    } catch (error) {
      const { family, address } = target
      endpoints.push({ family, address, port, fd: -1, error: describe(error, { ...target, port }) })
    }
  }
  return {
    endpoints,
    async close(): Promise<void> {
      for (const server of servers.splice(0)) server.close()
    },
  }
}

function targetsOf(options: ListenOptions): Target[] {
  const targets: Target[] = []
  const { socketPath } = options
  if (socketPath !== undefined)
    targets.push({ family: 'unix', address: socketPath, bind: socketPath, port: 0 })
  const isLocal = options.localOnly === true
  const any = isLocal ? 'INADDR_LOOPBACK' : 'INADDR_ANY'
  const addresses = new Set(options.addresses)
  // Port 0 may be repeated: the kernel chooses another port each time.
  const ports = options.ports.filter((port, i) => port === 0 || options.ports.indexOf(port) === i)
  for (const port of ports) {
    if (addresses.size === 0) {
      targets.push({ family: 'inet', address: any, bind: isLocal ? '127.0.0.1' : '0.0.0.0', port })
      targets.push({ family: 'ipv6', address: any, bind: isLocal ? '::1' : '::', port })
    }
    for (const address of addresses)
      targets.push({ family: address.includes(':') ? 'ipv6' : 'inet', address, bind: address, port })
  }
  return targets
}

async function open(target: Target, options: ListenOptions): Promise<Server> {
  if (target.family === 'unix' && Buffer.byteLength(target.bind) > MAX_SOCKET_PATH)
    throw new PcpError('ENAMETOOLONG', `${target.bind} is longer than ${MAX_SOCKET_PATH} bytes`)
  for (let attempt = 0; ; attempt++) {
    try {
      return await bind(target, options)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EADDRINUSE') throw error
      if (target.family === 'unix') await removeStale(target.bind)
      else if (attempt === RETRIES) throw error
      else await new Promise((resolve) => setTimeout(resolve, options.retryMs ?? 250))
    }
  }
}

function bind(target: Target, options: ListenOptions): Promise<Server> {
  const { createServer } = process.getBuiltinModule('node:net')
  return new Promise((resolve, reject) => {
    const server = createServer({ noDelay: true, keepAlive: true })
    server.once('error', reject)
    const listening = (): void => {
      try {
        if (target.family === 'unix' && !isMainThread())
          chmodSync(target.bind, options.isPrivate ? 0o600 : 0o666)
      } catch (error) {
        server.close()
        reject(error)
        return
      }
      server.removeListener('error', reject)
      const endpoint = endpointOf(target, server)
      const hasRoom = roomFor(options)
      server.on('connection', (socket) => {
        if (hasRoom(socket, endpoint)) options.onConnection(socket, endpoint)
      })
      // A failing accept (EMFILE) costs that one connection, not the server.
      server.on('error', () => undefined)
      resolve(server)
    }
    const backlog = options.backlog ?? 1024
    if (target.family === 'unix')
      withUmask(options.isPrivate ? 0o177 : 0o111, () =>
        server.listen({ path: target.bind, backlog }, listening),
      )
    else
      server.listen(
        { host: target.bind, port: target.port, ipv6Only: target.family === 'ipv6', backlog },
        listening,
      )
  })
}

/** Closes new connections that would take file descriptors reserved for this process's own work. */
export function protectDescriptorReserve(server: Server): void {
  const hasRoom = roomFor({})
  server.prependListener('connection', (socket) => void hasRoom(socket))
}

/** Returns a function that accepts a connection or refuses it. */
function roomFor({
  fdReserve = processDescriptorReserve(),
  refuse,
  log,
}: Pick<ListenOptions, 'fdReserve' | 'refuse' | 'log'>): (socket: Socket, endpoint?: Endpoint) => boolean {
  return (socket, endpoint) => {
    const fd = descriptorOf(socket)
    if (fdReserve.mayKeep(fd)) return true
    const complaint = fdReserve.refusalMessage()
    if (complaint !== undefined) log?.(complaint)
    if (refuse !== undefined && endpoint !== undefined && fdReserve.mayLinger(fd)) refuse(socket, endpoint)
    else socket.destroy()
    return false
  }
}

/**
 * Calls `make`, which creates a file synchronously, with these mode bits masked. A later chmod by path could hit another
 * file, because root may listen in a directory owned by PCP's account. Worker threads cannot set a umask.
 */
function withUmask(bits: number, make: () => void): void {
  const before = isMainThread() ? process.umask(bits) : undefined
  try {
    make()
  } finally {
    if (before !== undefined) process.umask(before)
  }
}

function isMainThread(): boolean {
  return process.getBuiltinModule('node:worker_threads').isMainThread
}

/** Removes a unix socket left by a crashed process. Throws EADDRINUSE when a process still listens. */
async function removeStale(path: string): Promise<void> {
  const { connect } = process.getBuiltinModule('node:net')
  const code = await new Promise<string>((resolve) => {
    const probe = connect({ path })
    probe.once('connect', () => {
      probe.destroy()
      resolve('')
    })
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
  })
  // Connecting to an ordinary file is refused as well, but such a file must not be removed.
  const isSocket = statSync(path, { throwIfNoEntry: false })?.isSocket() ?? true
  if (code !== 'ECONNREFUSED' || !isSocket) throw new PcpError('EADDRINUSE', `${path} is in use`)
  unlinkSync(path)
}

function endpointOf(target: Target, server: Server): Endpoint {
  const bound = server.address()
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0
  const fd = (server as unknown as { _handle?: { fd?: number } })._handle?.fd ?? -1
  return { family: target.family, address: target.address, port, fd }
}

/** Remedies by error code. */
const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: '; is another one running?',
  EADDRNOTAVAIL: '; it takes an address of this machine, such as 127.0.0.1 or ::1',
}

function describe(error: unknown, target: Target): PcpError {
  const where =
    target.family === 'unix' ? target.bind : `port ${target.port} (${target.family}, ${target.bind})`
  const isUnknown = (error as { syscall?: unknown }).syscall === 'getaddrinfo'
  const failure = isUnknown ? new PcpError('EADDRNOTAVAIL', '', { cause: error }) : PcpError.from(error)
  const hint = HINTS[failure.code] ?? ''
  return new PcpError(failure.code, `Cannot listen on ${where}: ${failure.text}${hint}`, { cause: error })
}
