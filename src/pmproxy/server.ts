/**
 * A pmproxy: listens, and gives each connection to whoever speaks its protocol. docs/pmproxy.md
 *
 *     socket ──first byte──► p  PCP's protocol, forwarded
 *                          ► G H P D T O C  HTTP ──► routes
 *                          ► - + : , $ * # % ~  RESP, relayed to a key server where that is configured
 *                          ► 0x14–0x18  TLS ──► first byte of what was decrypted
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type BudgetLimits, ByteBudget } from '../base/byte-budget.ts'
import { SERVER_DECODE_LIMITS } from '../base/decode/limits.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { collectorPorts } from '../net/dial.ts'
import { type Endpoint, type Listeners, listen } from '../net/listen.ts'
import { LoginAttempts } from '../net/login-attempts.ts'
import { hasGoodCertificate, type TlsServer } from '../net/tls.ts'
import { clientMemory } from '../sys/client-memory.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { MAX_CLIENT_PDU } from '../wire/pdu.ts'
import { ArchiveThreads, type ThreadLimits, threadProgram } from './archive-threads.ts'
import { ArchiveRoots } from './archives.ts'
import type { ProxyConfig } from './config.ts'
import { WebContexts } from './contexts.ts'
import { Gate } from './gate.ts'
import { Guests } from './guests.ts'
import { HostRules } from './host-rules.ts'
import { Hosts } from './hosts.ts'
import { httpServer } from './http/server.ts'
import { Unread } from './http/unread.ts'
import { KeyRelay, RESP_FIRST } from './key-relay.ts'
import { LIMITS, type Limits } from './limits.ts'
import { Feeds } from './live/feeds.ts'
import { LiveSockets } from './live/socket.ts'
import { NameSearch } from './name-search.ts'
import { publishOwnMetrics } from './own-metrics.ts'
import { serveProxyClient } from './pcp-proxy.ts'
import { RefusedHosts } from './refused-hosts.ts'
import type { Services } from './services.ts'
import { newStatistics, type Statistics } from './statistics.ts'
import { startTimeControl } from './time/server.ts'

/** What a pmproxy is started with. */
export interface ProxyOptions {
  readonly config: ProxyConfig
  /** TCP ports; 0 lets the kernel choose. */
  readonly ports: readonly number[]
  /** Addresses; undefined: loopback only. An empty list: all. */
  readonly addresses?: readonly string[]
  readonly socketPath?: string
  /** Environment and pcp.conf variables: how collectors are reached. */
  readonly variables: Variables
  readonly log: Log
  /** PCP_TMP_DIR, where metrics about it are published; default: none are. */
  readonly tmpDir?: string
  /** Certificate and key; undefined: no TLS. */
  readonly tls?: TlsServer
  /** First port that is tried for programs that follow the page's time; default: there is no time control. */
  readonly timePort?: number
  /** Clients need a certificate. */
  readonly requiresCertificate?: boolean
  /** Bytes of the largest PDU of a client whose connection is forwarded. */
  readonly mostPdu?: number
  /** In place of the usual ones. */
  readonly limits?: Partial<Limits>
  /** Requests with this key are served as the user of this process; default: none are. */
  readonly ownerKey?: string
  /** The program of threads that read archives; default: the one beside this program, if there is one. */
  readonly archiveProgram?: string
  /** Limits of those threads instead of the usual ones. */
  readonly threadLimits?: ThreadLimits
  /** Milliseconds of a clock that is never set back, by which contexts expire; default: the system's. */
  readonly clock?: () => number
  /** Memory that clients may make it hold; default: `clientMemory()`. */
  readonly memory?: BudgetLimits
}

/** A running pmproxy. */
export interface RunningProxy {
  readonly endpoints: readonly Endpoint[]
  /** TCP port of the first endpoint that has one; 0 when there is none. */
  readonly port: number
  /** Port of the time control; undefined when there is none. */
  readonly timePort: number | undefined
  readonly statistics: Statistics
  /** Connections from now on are encrypted with this; undefined: none are. */
  useTls(tls: TlsServer | undefined): void
  /** Stops listening, drops clients; idempotent. */
  close(): Promise<void>
}

const HTTP_FIRST = 'GHPDTOC'

/** Starts one. Throws PcpError when nothing can be listened on. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { config, log, variables } = options
  const limits = { ...LIMITS, ...options.limits }
  const statistics = newStatistics()
  const rules = new HostRules(variables, config)
  const attempts = new LoginAttempts({
    report: (origin, count) => log.notice('warning', `${count} failed logins from ${origin}`),
  })
  const hosts = new Hosts(variables, rules, attempts)
  // Half for what stays when a request is answered: a request is not to be weighed against contexts of others.
  const { each, all } = options.memory ?? clientMemory()
  const newBudget = (): ByteBudget =>
    new ByteBudget({ each, all: all / 2 }, (text) => log.notice('warning', text))
  const budget = newBudget()
  // Contexts over archives are read here, where others wait meanwhile.
  const archives = new ArchiveRoots(config.archiveDirs, variables, { ...SERVER_DECODE_LIMITS, maxMs: 1000 })
  const program = options.archiveProgram ?? threadProgram()
  const archiveThreads =
    program === undefined
      ? undefined
      : new ArchiveThreads(
          program,
          { roots: config.archiveDirs, variables: { ...variables } },
          options.threadLimits,
        )
  const contexts = new WebContexts(hosts, archives, variables, newBudget(), options.clock)
  const feeds = new Feeds(contexts, statistics)
  const time = options.timePort === undefined ? undefined : await startTimeControl(options.timePort)
  const search = new NameSearch()
  const unread = new Unread(limits.unreadBytes)
  const services: Services = {
    ...{ config, contexts, archives, feeds, search, statistics },
    collectorPorts: collectorPorts(variables),
    ...{ log, limits, budget, unread, time, ownerKey: options.ownerKey },
    archiveGate: new Gate('requests of archives', limits.archives),
    archiveThreads,
    refusedHosts: new RefusedHosts(log),
  }
  const live = new LiveSockets(services)
  const http = httpServer(services, live, limits)
  const guests = new Guests(limits)
  const door = new Door(options, http, services, rules)
  const listeners = await listen({
    ports: options.ports,
    ...(options.addresses === undefined ? { localOnly: true } : { addresses: options.addresses }),
    ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }),
    backlog: config.backlog,
    log: (text) => log.notice('warning', text),
    onConnection: (socket) => {
      if (!guests.admit(socket)) return
      statistics.connections++
      traceClient(socket)
      door.enter(socket)
    },
  })
  const { tmpDir } = options
  const own = {
    statistics,
    contexts: () => contexts.count,
    swept: () => contexts.swept,
    hosts: () => hosts.count,
  }
  const unpublish = tmpDir === undefined ? undefined : publishOwnMetrics(tmpDir, own, log)
  const close = closer(async () => {
    unpublish?.()
    await listeners.close()
    live.close()
    await time?.close()
    http.close()
    guests.close()
    await archiveThreads?.close()
    await feeds.close()
    await contexts.close()
    await hosts.close()
  })
  const { endpoints } = listeners
  insistOnOne(endpoints, listeners)
  const port = endpoints.find((each) => each.port !== 0 && each.error === undefined)?.port ?? 0
  const useTls = (tls: TlsServer | undefined): void => door.useTls(tls)
  return { endpoints, port, timePort: time?.port, statistics, useTls, close }
}

/** What -D context tells. */
function traceClient(socket: Socket): void {
  if (!debug.context) return
  const who =
    socket.remoteAddress === undefined ? 'unix socket' : `${socket.remoteAddress} port ${socket.remotePort}`
  trace('context', `accept new client: ${who}`)
  socket.once('close', () => trace('context', `connection closed: ${who}`))
}

function closer(end: () => Promise<void>): () => Promise<void> {
  let ended: Promise<void> | undefined
  return () => {
    ended ??= end()
    return ended
  }
}

function insistOnOne(endpoints: readonly Endpoint[], listeners: Listeners): void {
  if (endpoints.some(({ error }) => error === undefined)) return
  void listeners.close()
  throw endpoints[0]?.error ?? new PcpError('PM_ERR_ARG', 'There is nothing to listen on')
}

/** Where connections come in. */
class Door {
  readonly #options: ProxyOptions
  readonly #http: Server
  readonly #services: Services
  readonly #rules: HostRules
  readonly #keys: KeyRelay | undefined
  #tls: TlsServer | undefined
  /** First bytes that nothing begins with, which the log tells of once each. */
  readonly #strange = new Set<number>()
  readonly #refused: RefusedHosts

  constructor(options: ProxyOptions, http: Server, services: Services, rules: HostRules) {
    this.#rules = rules
    this.#options = options
    this.#refused = new RefusedHosts(options.log)
    const { keys, requiresUser } = options.config
    // Who has to name a user cannot do so in RESP.
    this.#keys = keys === undefined || requiresUser ? undefined : new KeyRelay(keys)
    this.#http = http
    this.#services = services
    this.#tls = options.tls
  }

  useTls(tls: TlsServer | undefined): void {
    this.#tls = tls
  }

  /** Looks at what a connection begins with. */
  enter(socket: Socket, isSecure = false): void {
    const timer = setTimeout(() => socket.destroy(), this.#services.limits.firstByteMs)
    const failed = (): void => void socket.destroy()
    socket.on('error', failed)
    socket.once('close', () => clearTimeout(timer))
    const look = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk === null) return
      clearTimeout(timer)
      socket.off('readable', look)
      socket.unshift(chunk)
      this.#pass(socket, chunk[0]!, isSecure)
    }
    socket.on('readable', look)
  }

  /** May a connection be forwarded there? The first refused hosts are logged. */
  #allows(host: string, port: number): boolean {
    if (this.#rules.allowsForwarding(host, port)) return true
    const target = `${host}:${port}`
    this.#refused.report(
      target,
      `No connection was forwarded to ${target}: hosts in [ui] of pmproxy.conf does not list it`,
    )
    return false
  }

  #pass(socket: Socket, first: number, isSecure: boolean): void {
    const { config, requiresCertificate = false, log } = this.#options
    const tls = this.#tls
    const letter = String.fromCharCode(first)
    if (first >= 0x14 && first <= 0x18 && tls !== undefined && config.hasTls && !isSecure) {
      const { readable, secured } = tls.secure(socket)
      const timer = setTimeout(() => socket.destroy(), this.#services.limits.firstByteMs)
      socket.once('close', () => clearTimeout(timer))
      readable.on('error', () => socket.destroy())
      void secured.then((stream) => {
        clearTimeout(timer)
        if ((requiresCertificate || tls.verifiesClients) && !hasGoodCertificate(stream)) stream.destroy()
        else this.enter(stream, true)
      })
    } else if (requiresCertificate && !isSecure) socket.destroy()
    else if (letter === 'p' && config.hasPcp)
      serveProxyClient(socket, {
        isAllowed: (host, port) => this.#allows(host, port),
        mostPdu: this.#options.mostPdu ?? MAX_CLIENT_PDU,
        connected: () => this.#services.statistics.proxied++,
      })
    else if (HTTP_FIRST.includes(letter) && config.hasHttp) this.#http.emit('connection', socket)
    else if (RESP_FIRST.includes(letter) && this.#keys !== undefined) {
      this.#services.statistics.relayed++
      void this.#keys.serve(socket)
    } else {
      if (!this.#strange.has(first))
        log.notice('info', `A connection that begins with byte ${first} was closed; others are not told of`)
      this.#strange.add(first)
      socket.destroy()
    }
  }
}
