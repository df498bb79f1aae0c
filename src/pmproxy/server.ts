/**
 * The pmproxy server: listens, and dispatches each connection by the first byte of its protocol. docs/reference/pmproxy.md
 *
 *     socket ──first byte──► p  PCP's protocol, forwarded
 *                          ► G H P D T O C  HTTP ──► routes
 *                          ► - + : , $ * # % ~  RESP, relayed to a key server if one is configured
 *                          ► 0x14–0x18  TLS ──► first byte after decryption
 */

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { type BudgetLimits, ByteBudget } from '../base/byte-budget.ts'
import { SERVER_DECODE_LIMITS } from '../base/decode/limits.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { collectorPorts } from '../net/dial.ts'
import { type Endpoint, type Listeners, listen } from '../net/listen.ts'
import { LoginAttempts } from '../net/login-attempts.ts'
import { hasValidClientCertificate, type TlsServer } from '../net/tls.ts'
import { clientMemory } from '../sys/client-memory.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { MAX_CLIENT_PDU } from '../wire/pdu.ts'
import { ArchiveThreads, type ThreadLimits, threadProgram } from './archive-threads.ts'
import { ArchiveRoots } from './archives.ts'
import type { ProxyConfig } from './config.ts'
import { ConnectionLimit } from './connection-limit.ts'
import { WebContexts } from './contexts.ts'
import { Fleet } from './fleet/fleet.ts'
import { LiveFleet } from './fleet/live-fleet.ts'
import { readLive } from './fleet/live-samples.ts'
import { HostRules } from './host-rules.ts'
import { HostConnections } from './hosts.ts'
import { httpServer } from './http/server.ts'
import { UnreadLimit } from './http/unread.ts'
import { KeyRelay, RESP_FIRST } from './key-relay.ts'
import { type RunningDiscovery, startDiscovery } from './keys/discovery-host.ts'
import { ServedKeys } from './keys/series.ts'
import type { ServedKeySettings } from './keys/settings.ts'
import { KnownExpressions } from './known-expressions.ts'
import { LIMITS, type Limits } from './limits.ts'
import { Feeds } from './live/feeds.ts'
import { LiveSockets } from './live/socket.ts'
import { openPush } from './logger/open.ts'
import { NameSearch } from './name-search.ts'
import { publishOwnMetrics } from './own-metrics.ts'
import { serveProxyClient } from './pcp-proxy.ts'
import { Redaction } from './redaction.ts'
import { RefusedHosts } from './refused-hosts.ts'
import { RequestLimiter } from './request-limiter.ts'
import { openSeries } from './routes/series-archives.ts'
import type { Services } from './services.ts'
import { newStatistics, type Statistics } from './statistics.ts'
import { startTimeControl } from './time/server.ts'

/** Options of a pmproxy server. */
export interface ProxyOptions {
  readonly config: ProxyConfig
  /** TCP ports; 0 lets the kernel choose. */
  readonly ports: readonly number[]
  /** Addresses; undefined for loopback only, an empty list for all. */
  readonly addresses?: readonly string[]
  readonly socketPath?: string
  /** Environment and pcp.conf variables, which affect how collectors are reached. */
  readonly variables: Variables
  readonly log: Log
  /** PCP_TMP_DIR, where it publishes its own metrics; default: not published. */
  readonly tmpDir?: string
  /** Certificate and key; undefined: no TLS. */
  readonly tls?: TlsServer
  /** First port to try for programs that follow the page's time; default: no time control. */
  readonly timePort?: number
  /** Must clients have a certificate? */
  readonly requiresCertificate?: boolean
  /** Maximum size in bytes of a PDU from a forwarded client. */
  readonly mostPdu?: number
  /** Override the default limits. */
  readonly limits?: Partial<Limits>
  /** Requests with this key are served as the user of this process; default: no key. */
  readonly ownerKey?: string
  /** Program of the archive threads; default: the one beside this program, if there is one. */
  readonly archiveProgram?: string
  /** Program of the thread that loads archives into a key server; default: as `archiveProgram`. */
  readonly discoveryProgram?: string
  /** Override the default limits of those threads. */
  readonly threadLimits?: ThreadLimits
  /** Monotonic clock in milliseconds, by which contexts expire; default: the system's. */
  readonly clock?: () => number
  /** Limits of memory held for clients; default: `clientMemory()`. */
  readonly memory?: BudgetLimits
}

/** A running pmproxy. */
export interface RunningProxy {
  readonly endpoints: readonly Endpoint[]
  /** TCP port of the first endpoint that has one, else 0. */
  readonly port: number
  /** Port of the time control, if there is one. */
  readonly timePort: number | undefined
  readonly statistics: Statistics
  /** Sets the certificate for new connections; undefined disables TLS. */
  useTls(tls: TlsServer | undefined): void
  /** Stops listening and closes all connections; idempotent. */
  close(): Promise<void>
}

const HTTP_FIRST = 'GHPDTOC'

/** Starts a pmproxy server. Throws PcpError if it can listen on no endpoint. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { config, log, variables } = options
  const limits = { ...LIMITS, ...options.limits }
  const statistics = newStatistics()
  const rules = new HostRules(variables, config)
  if (!rules.isOwnListed)
    log.line('The local collector is not served: hosts in [ui] of pmproxy.conf does not list local:')
  const attempts = new LoginAttempts({
    report: (origin, count) => log.notice('warning', `${count} failed logins from ${origin}`),
  })
  const hosts = new HostConnections(variables, rules, attempts)
  // Half of the memory is for state that outlives requests, so that requests do not compete with other clients' contexts.
  const { each, all } = options.memory ?? clientMemory()
  const newBudget = (): ByteBudget =>
    new ByteBudget({ each, all: all / 2 }, (text) => log.notice('warning', text))
  const budget = newBudget()
  // Contexts on archives are read in this thread, which delays others.
  const archives = new ArchiveRoots(config.archiveDirs, variables, { ...SERVER_DECODE_LIMITS, maxMs: 1000 })
  const series = openSeries(config)
  const fleet = new Fleet(config.archiveDirs, () => archives.files())
  const program = options.archiveProgram ?? threadProgram()
  const archiveThreads =
    program === undefined
      ? undefined
      : new ArchiveThreads(
          program,
          { roots: config.archiveDirs, variables: { ...variables } },
          options.threadLimits,
        )
  const { keySettings } = config
  const keys =
    keySettings?.hasSeries === true && config.hasHttp ? new ServedKeys(keySettings, log) : undefined
  const discovery = keySettings?.hasDiscovery === true ? discoverArchives(keySettings, options) : undefined
  const contexts = new WebContexts(hosts, archives, variables, newBudget(), options.clock)
  const liveFleet = new LiveFleet((host, user, signal) =>
    contexts.open({ host, user }, signal).then((context) => readLive(context, signal)),
  )
  const feeds = new Feeds(contexts, statistics)
  const time = options.timePort === undefined ? undefined : await startTimeControl(options.timePort)
  const search = new NameSearch()
  const unread = new UnreadLimit(limits.unreadBytes)
  const services: Services = {
    ...{ config, contexts, archives, feeds, search, statistics },
    ...{ series, keys },
    ...{ fleet, liveFleet },
    push: openPush(config.push, variables, log),
    expressions: new KnownExpressions(),
    collectorPorts: collectorPorts(variables),
    ...{ log, limits, budget, unread, time, ownerKey: options.ownerKey },
    redaction: new Redaction(config, (message) => log.notice('warning', message)),
    archiveGate: new RequestLimiter('requests of archives', limits.archives),
    archiveThreads,
    refusedHosts: new RefusedHosts(log),
  }
  const live = new LiveSockets(services)
  const http = httpServer(services, live, limits)
  const guests = new ConnectionLimit(limits)
  const door = new ProtocolDispatcher(options, http, services, rules)
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
      door.dispatch(socket)
    },
  })
  const { tmpDir } = options
  const own = {
    statistics,
    contexts: () => contexts.count,
    swept: () => contexts.swept,
    hosts: () => hosts.count,
    discovery,
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
    await discovery?.close()
    await keys?.close()
    await series.close()
    fleet.close()
    liveFleet.close()
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

/** Loads the archives of this server into the key server. */
function discoverArchives(
  settings: ServedKeySettings,
  { config, variables, log, discoveryProgram }: ProxyOptions,
): RunningDiscovery {
  // As for /logger, which writes pushed archives there.
  const pushed =
    variables['PCP_REMOTE_ARCHIVE_DIR'] ??
    (variables['PCP_LOG_DIR'] === undefined ? undefined : join(variables['PCP_LOG_DIR'], 'pmproxy'))
  const directories = settings.directories ?? [
    ...config.archiveDirs,
    ...(pushed === undefined ? [] : [pushed]),
  ]
  const program = discoveryProgram ?? threadProgram('discovery-thread')
  return startDiscovery({ settings, directories: [...new Set(directories)] }, program, log)
}

/** Output of -D context. */
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
  throw endpoints[0]?.error ?? new PcpError('PM_ERR_ARG', 'No endpoint to listen on')
}

/** Dispatches incoming connections. */
class ProtocolDispatcher {
  readonly #options: ProxyOptions
  readonly #http: Server
  readonly #services: Services
  readonly #rules: HostRules
  readonly #keys: KeyRelay | undefined
  #tls: TlsServer | undefined
  /** Unknown first bytes, each logged once. */
  readonly #strange = new Set<number>()
  readonly #refused: RefusedHosts

  constructor(options: ProxyOptions, http: Server, services: Services, rules: HostRules) {
    this.#rules = rules
    this.#options = options
    this.#refused = new RefusedHosts(options.log)
    const { keys, requiresUser } = options.config
    // RESP clients cannot log in as a user.
    this.#keys = keys === undefined || requiresUser ? undefined : new KeyRelay(keys)
    this.#http = http
    this.#services = services
    this.#tls = options.tls
  }

  useTls(tls: TlsServer | undefined): void {
    this.#tls = tls
  }

  /** Waits for the first byte of a connection. */
  dispatch(socket: Socket, isSecure = false): void {
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

  /** Checks whether a connection may be forwarded to a host. The first refused hosts are logged. */
  #allows(host: string, port: number): boolean {
    if (this.#rules.allowsForwarding(host, port)) return true
    const target = `${host}:${port}`
    this.#refused.report(
      target,
      `Refused to forward a connection to ${target}; to allow it, add it to hosts in [ui] of pmproxy.conf`,
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
        if ((requiresCertificate || tls.verifiesClients) && !hasValidClientCertificate(stream))
          stream.destroy()
        else this.dispatch(stream, true)
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
        log.notice(
          'info',
          `Closed a connection with the unknown first byte ${first}; further ones are not logged`,
        )
      this.#strange.add(first)
      socket.destroy()
    }
  }
}
