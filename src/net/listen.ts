/** Listening for PDU connections on TCP ports and a unix socket. docs/formats/wire.md §4.1 */
import { chmodSync, statSync, unlinkSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { PcpError } from '../model/errors.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import { type DescriptorReserve, ownDescriptors } from '../sys/descriptor-reserve.ts'

/** Where to listen. */
export interface ListenOptions {
  /** TCP ports; 0 lets the kernel choose. */
  readonly ports: readonly number[]
  /** Addresses to listen on; none means all. */
  readonly addresses?: readonly string[]
  /** Listen on the loopback addresses only (PMCD_LOCAL). */
  readonly localOnly?: boolean
  /** Path of the unix socket, which everybody may use unless it is private. */
  readonly socketPath?: string
  /** Only this process's user may connect to the unix socket. */
  readonly isPrivate?: boolean
  /** Connections the kernel keeps waiting; default 1024: a thousand may come at once. */
  readonly backlog?: number
  /** Pause before a port that is in use is tried again, four times; default 250 ms. */
  readonly retryMs?: number
  /** A peer connected. */
  readonly onConnection: (socket: Socket, endpoint: Endpoint) => void
  /** Refuses a connection in its protocol and closes it; default: closes it. */
  readonly refuse?: (socket: Socket, endpoint: Endpoint) => void
  /** Logs why connections are refused. */
  readonly log?: (text: string) => void
  /** Descriptors of this process; tests have others. */
  readonly descriptors?: DescriptorReserve
}

/** Ports of a comma list; undefined when one of them cannot be a port. */
export function parsePorts(list: string): number[] | undefined {
  const ports = list.split(',').map((text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN))
  return ports.every((port) => port <= 65_535) ? ports : undefined
}

/** One place where we listen, or could not. */
export interface Endpoint {
  readonly family: 'inet' | 'ipv6' | 'unix'
  /** Address or path; INADDR_ANY and INADDR_LOOPBACK as in PCP's log. */
  readonly address: string
  /** The true port when the kernel chose; 0 for the unix socket. */
  readonly port: number
  /** File descriptor, -1 when not open. */
  readonly fd: number
  /** Why it could not be opened. */
  readonly error?: PcpError
}

/** All places where we listen. */
export interface Listeners {
  /** In the order they were opened, failed ones included. */
  readonly endpoints: readonly Endpoint[]
  /** Stops listening; connections stay. */
  close(): Promise<void>
}

interface Target {
  readonly family: Endpoint['family']
  /** As shown. */
  readonly address: string
  /** What to bind to. */
  readonly bind: string
  readonly port: number
}

const RETRIES = 4

/** Bytes of the longest path that a unix socket can have; the system would cut off the rest and bind another one. */
export const MOST_SOCKET_PATH: number = process.platform === 'linux' ? 107 : 103

/**
 * Opens every endpoint. One that cannot be opened is reported in `endpoints`, not thrown: a collector goes on when at
 * least one is open.
 */
export async function listen(options: ListenOptions): Promise<Listeners> {
  const servers: Server[] = []
  const endpoints: Endpoint[] = []
  let chosenPort = 0
  for (const target of targetsOf(options)) {
    // When the kernel chooses, IPv6 follows IPv4, so that one port number serves both.
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
  for (const port of options.ports) {
    if (options.addresses === undefined || options.addresses.length === 0) {
      targets.push({ family: 'inet', address: any, bind: isLocal ? '127.0.0.1' : '0.0.0.0', port })
      targets.push({ family: 'ipv6', address: any, bind: isLocal ? '::1' : '::', port })
    } else {
      for (const address of options.addresses) {
        targets.push({ family: 'inet', address, bind: address, port })
        targets.push({ family: 'ipv6', address, bind: address, port })
      }
    }
  }
  return targets
}

async function open(target: Target, options: ListenOptions): Promise<Server> {
  const isV6 = target.bind.includes(':')
  if (target.family !== 'unix' && isV6 !== (target.family === 'ipv6'))
    throw new PcpError('EAFNOSUPPORT', `${target.address} is no ${target.family} address`)
  if (target.family === 'unix' && Buffer.byteLength(target.bind) > MOST_SOCKET_PATH)
    throw new PcpError('ENAMETOOLONG', `${target.bind} is longer than ${MOST_SOCKET_PATH} bytes`)
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
      // A failing accept (too many open files) costs that one connection, not the server.
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

/** Closes connections that would take descriptors this process needs for its own work. */
export function closeBeyondReserve(server: Server): void {
  const hasRoom = roomFor({})
  server.prependListener('connection', (socket) => void hasRoom(socket))
}

/** Returns what lets a connection in, or refuses it. */
function roomFor({
  descriptors = ownDescriptors(),
  refuse,
  log,
}: Pick<ListenOptions, 'descriptors' | 'refuse' | 'log'>): (socket: Socket, endpoint?: Endpoint) => boolean {
  return (socket, endpoint) => {
    const fd = descriptorOf(socket)
    if (descriptors.mayKeep(fd)) return true
    const complaint = descriptors.complaint()
    if (complaint !== undefined) log?.(complaint)
    if (refuse !== undefined && endpoint !== undefined && descriptors.mayLinger(fd)) refuse(socket, endpoint)
    else socket.destroy()
    return false
  }
}

/**
 * Calls `make`, which makes a file at once, with these bits taken away from its mode. A socket that gets its mode later, by
 * its name, could be another file by then: root listens in a directory of PCP's account. Threads have no umask to set.
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

/** Removes a unix socket that a crashed process left. Throws EADDRINUSE when somebody answers. */
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
  // Connecting to an ordinary file is refused as well: that one is not ours to remove.
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

/** What to do about it. */
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
