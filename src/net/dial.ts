/** Connecting to a collector: addresses, proxy, challenge, features. docs/formats/wire.md §4 */
import type { Socket } from 'node:net'
import { decodeText } from '../base/text.ts'
import { debug, trace } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import { collectorPlaces, type InstanceRecord, runDirs } from '../sys/instances.ts'
import { encodeAttr, PCP_ATTR_CONTAINER } from '../wire/attr.ts'
import { encodeCreds, PDU_FLAG_CONTAINER, PDU_FLAG_SECURE, PDU_VERSION } from '../wire/creds.ts'
import { decodeChallenge } from '../wire/error.ts'
import { type ReplyLimits, replyLimits } from '../wire/reply-limits.ts'
import { PduConnection, socketStream } from './connection.ts'
import { type Env, type HostSpec, hostAttr, isUnnamedLocal, showHostSpec } from './host-spec.ts'
import { isLoopback } from './loopback.ts'
import { nextPdu } from './next-pdu.ts'
import { tracePdus } from './pdu-trace.ts'
import { GUEST_LOGIN } from './sasl/client.ts'
import {
  logIn,
  type RequestedSecurity,
  requestedSecurity,
  type SecurityPeer,
  startTls,
  verifyAcceptance,
  wantedFlags,
} from './secure-dial.ts'
import { waitFor } from './wait.ts'

/** Options of `dial`. */
export interface DialOptions {
  /** PMCD_PORT, PMCD_SOCKET, PMCD_CONNECT_TIMEOUT, PMPROXY_HOST, PMPROXY_PORT, PCP_CONTAINER, PCP_SECURE_SOCKETS, PCP_TLSCONF_PATH. */
  readonly env?: Env
  readonly signal?: AbortSignal
  /**
   * Drops our identity on a unix socket, for requests on behalf of others. A collector that does not support this is not
   * used there; `local:` then tries TCP.
   */
  readonly dropsIdentity?: boolean
  /** Uses no unix socket, which would identify this process. */
  readonly overTcp?: boolean
  /** Limits on replies; default: PCP_REPLY_MB and PCP_REPLY_ITEMS of `env`, or `REPLY_LIMITS`. */
  readonly replyLimits?: Partial<ReplyLimits>
  /** Run directory of the collector to use, as in `DialResult`, for `local:` when it was found before. */
  readonly runDir?: string | undefined
}

/** Returns the reply limits of these options. */
export function replyLimitsOf({ env = {}, replyLimits: given }: DialOptions): ReplyLimits {
  return { ...replyLimits(env), ...given }
}

/** A connection after its handshake. */
export interface DialResult {
  readonly connection: PduConnection
  /** PDU_FLAG_* that the collector offers. */
  readonly features: number
  /** The address reached: `localhost:44321`, `/run/pcp/pmcd.socket`. */
  readonly address: string
  readonly isUnix: boolean
  /** Run directory of a collector that was found; reconnecting must not lead to another one. */
  readonly runDir?: string
}

/** Port of a collector. */
const SERVER_PORT = 44321
/** Port of a pmproxy that forwards to collectors. */
const PROXY_PORT = 44322

const CONNECT_MS = 5000
/** Errors for an address without a listener or without a route. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EADDRNOTAVAIL',
  'ENETUNREACH',
  'EHOSTUNREACH',
])
/** Errors for a collector that does not run. */
const ABSENT: ReadonlySet<string> = new Set([...UNREACHABLE, 'ENOENT', 'ENOTDIR'])
const PROXY_GREETING = 'pmproxy-server 1\n'
const CONTAINER_NAME = /^[A-Za-z0-9._-]+$/

/** Requirements on every connection of a specification. */
interface ConnectionRequirements {
  readonly container: string | undefined
  readonly security: RequestedSecurity
}

/** One address to try. */
interface Target {
  readonly address: string
  /** Run directory of the collector, if it was found there; '' for the usual port. */
  readonly runDir?: string
  readonly path?: string
  readonly host?: string
  readonly port?: number
  readonly proxy?: { readonly host: string; readonly port: number }
}

/**
 * Connects to the first address of `spec` that completes the handshake. Rejects with the last error: an errno of the
 * system, the collector's refusal (PM_ERR_PERMISSION, PM_ERR_CONNLIMIT), PM_ERR_NOTHOST without a host, ENOTSUP for
 * a feature the collector does not offer, PM_ERR_TLS, PM_ERR_NEEDCLIENTCERT, or a SASL status for a failed login.
 */
export async function dial(spec: HostSpec, options: DialOptions = {}): Promise<DialResult> {
  const env = options.env ?? {}
  if (hostAttr(spec, 'compress') !== undefined)
    throw new PcpError('ENOTSUP', 'PCP no longer compresses connections: leave "compress" out')
  const security = requestedSecurity(spec, env)
  const container = containerOf(spec, env)
  let last = new PcpError('PM_ERR_NOTHOST', `No host in "${showHostSpec(spec.text)}"`)
  const targets = targetsOf(spec, env)
  // Named collectors have none.
  let runDir = targets.some((each) => each.runDir !== undefined) ? options.runDir : undefined
  for (const target of targets) {
    if (runDir !== undefined && target.runDir !== runDir) continue
    if (options.overTcp === true && target.path !== undefined) continue
    try {
      const isGuest = options.dropsIdentity === true && target.path !== undefined
      const wish = { container, security: isGuest ? { ...security, login: GUEST_LOGIN } : security }
      const dialed = await dialOne(target, wish, env, options)
      if (debug.context) trace('context', `connected to the collector at ${target.address}`)
      return target.runDir === undefined ? dialed : { ...dialed, runDir: target.runDir }
    } catch (error) {
      last = PcpError.from(error)
      if (debug.context) trace('context', `not connected to the collector at ${target.address}: ${last.text}`)
      if (options.signal?.aborted === true) break
      // A collector that runs but refuses us is not replaced by another one.
      if (!ABSENT.has(last.code)) runDir ??= target.runDir
    }
  }
  throw last
}

function containerOf(spec: HostSpec, env: Env): string | undefined {
  const container = hostAttr(spec, 'container') || env['PCP_CONTAINER'] || undefined
  if (container !== undefined && !CONTAINER_NAME.test(container))
    throw new PcpError('EINVAL', `Illegal container name: "${container}"`)
  return container
}

function targetsOf(spec: HostSpec, env: Env): Target[] {
  const first = spec.hosts[0]
  if (first === undefined) return []
  if (spec.scheme === 'unix') return [{ address: first.name, path: first.name }]
  if (isUnnamedLocal(spec) && runDirs(env).length > 0) return foundTargets(env)
  if (spec.scheme === 'local')
    return [{ address: first.name, path: first.name }, ...tcpTargets('localhost', [], undefined, env)]
  const proxy = spec.hosts[1] ?? (env['PMPROXY_HOST'] ? { name: env['PMPROXY_HOST'], ports: [] } : undefined)
  return tcpTargets(first.name, first.ports, proxy, env)
}

/** Returns the addresses of the collectors that may run on this host. docs/decisions/discovery.md */
function foundTargets(env: Env): Target[] {
  const targets: Target[] = []
  const places = collectorPlaces(runDirs(env))
  for (const { runDir, socketPath, record, problem } of places) {
    if (problem !== undefined) {
      if (debug.context) trace('context', `not connected to the collector at ${socketPath}: ${problem}`)
      continue
    }
    if (record?.hasSocket !== false) targets.push({ address: socketPath, path: socketPath, runDir })
    if (record !== undefined) targets.push(...addressesOf(record).map((target) => ({ ...target, runDir })))
  }
  // The usual port belongs to an installed PCP, whose socket was tried above, unless an instance uses those directories.
  const runDir = env['PCP_RUN_DIR'] ?? ''
  const group = places.some((place) => place.runDir === runDir && place.record !== undefined) ? '' : runDir
  return [
    ...targets,
    ...tcpTargets('localhost', [], undefined, env).map((each) => ({ ...each, runDir: group })),
  ]
}

/** Returns the TCP addresses of an instance. One that listens on all addresses also listens on loopback. */
function addressesOf({ port, listen }: InstanceRecord): Target[] {
  const hosts = listen.length === 0 || listen.includes('all') ? ['localhost'] : listen
  return hosts.map((host) => ({ address: `${host.includes(':') ? `[${host}]` : host}:${port}`, host, port }))
}

function tcpTargets(
  host: string,
  ports: readonly number[],
  proxy: { readonly name: string; readonly ports: readonly number[] } | undefined,
  env: Env,
): Target[] {
  const targets: Target[] = []
  const proxyPorts = proxy === undefined ? [] : portsOf(proxy.ports, env['PMPROXY_PORT'], PROXY_PORT)
  for (const port of portsOf(ports, env['PMCD_PORT'], SERVER_PORT)) {
    const address = `${host}:${port}`
    if (proxy === undefined) targets.push({ address, host, port })
    for (const proxyPort of proxyPorts)
      targets.push({ address, host, port, proxy: { host: proxy!.name, port: proxyPort } })
  }
  return targets
}

/** Returns the ports tried for a collector given without a port. */
export function collectorPorts(env: Env): readonly number[] {
  return portsOf([], env['PMCD_PORT'], SERVER_PORT)
}

/** Returns the given ports, else those of a variable, else the default. */
function portsOf(
  given: readonly number[],
  variable: string | undefined,
  fallback: number,
): readonly number[] {
  if (given.length > 0) return given
  const listed = (variable ?? '').split(',').map(Number)
  return listed.every((port) => Number.isInteger(port) && port > 0) ? listed : [fallback]
}

/** Converts a timeout in seconds from the environment to milliseconds; invalid text yields the fallback. */
export function timeoutMs(text: string | undefined, fallbackMs: number): number {
  const seconds = Number(text)
  return text === undefined || text.trim() === '' || !(seconds > 0) ? fallbackMs : seconds * 1000
}

async function dialOne(
  target: Target,
  wish: ConnectionRequirements,
  env: Env,
  options: DialOptions,
): Promise<DialResult> {
  const { signal } = options
  const limitMs = timeoutMs(env['PMCD_CONNECT_TIMEOUT'], CONNECT_MS)
  const socket = await connect(target, limitMs, signal)
  // Behind a proxy the collector may be on any host.
  const isLocal =
    target.path !== undefined || (target.proxy === undefined && isLoopback(socket.remoteAddress))
  if (target.proxy !== undefined) await handshakeProxy(socket, target, limitMs, signal)
  const name = `pmcd at ${target.address}`
  const connection = new PduConnection(socketStream(socket), {
    name,
    limit: replyLimitsOf(options).pduBytes,
    limitAdvice: 'set PCP_REPLY_MB to raise it',
    watch: tracePdus(name, descriptorOf(socket)),
  })
  try {
    const ms = timeoutMs(env['PMCD_REQUEST_TIMEOUT'], 2 * CONNECT_MS)
    const features = checkChallenge(await nextPdu(connection, { ms, signal }), target, wish.container)
    const peer = { name: connection.name, host: target.host, isLocal, features }
    await handshake(connection, peer, wish, { env, ms, signal })
    return { connection, features, address: target.address, isUnix: target.path !== undefined }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** Performs the handshake: challenge, CREDS, TLS, authentication, container. */
async function handshake(
  connection: PduConnection,
  peer: SecurityPeer,
  { container, security }: ConnectionRequirements,
  { env, ...patience }: { env: Env; ms: number; signal: AbortSignal | undefined },
): Promise<void> {
  const flags = wantedFlags(security, peer)
  connection.send(encodeCreds(flags | (container === undefined ? 0 : PDU_FLAG_CONTAINER), process.pid))
  const isSecure = (flags & PDU_FLAG_SECURE) !== 0
  const isVerified = isSecure && (await startTls(connection, peer, flags, env, patience))
  const { login } = security
  if (login !== undefined) await logIn(connection, peer, login, { isSecure, isVerified }, patience)
  if (container !== undefined) connection.send(encodeAttr(PCP_ATTR_CONTAINER, container))
  if (login !== undefined) await verifyAcceptance(connection, peer, login, patience)
}

function checkChallenge(pdu: Uint8Array, target: Target, container: string | undefined): number {
  const challenge = decodeChallenge(pdu)
  if (challenge.status < 0) throw PcpError.fromStatus(challenge.status, `pmcd at ${target.address}`)
  if (challenge.version !== PDU_VERSION)
    throw new PcpError('PM_ERR_IPC', `pmcd at ${target.address} speaks version ${challenge.version}`)
  const { features } = challenge
  if (container !== undefined && (features & PDU_FLAG_CONTAINER) === 0)
    throw new PcpError('ENOTSUP', `pmcd at ${target.address} knows no containers`)
  return features
}

/** Connects without a resolver for `localhost`: the look-up would take as long as the rest of a command. */
async function connect(target: Target, ms: number, signal: AbortSignal | undefined): Promise<Socket> {
  const host = target.proxy?.host ?? target.host
  if (host !== 'localhost') return connectTo(host, target, ms, signal)
  try {
    return await connectTo('127.0.0.1', target, ms, signal)
  } catch (error) {
    if (!(error instanceof PcpError) || !UNREACHABLE.has(error.code)) throw error
    return connectTo('::1', target, ms, signal).catch(() => Promise.reject(error))
  }
}

/** `host` is an address or name; undefined for a unix socket. */
function connectTo(
  host: string | undefined,
  target: Target,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  const net = process.getBuiltinModule('node:net')
  const { proxy } = target
  const where = proxy === undefined ? target.address : `pmproxy at ${proxy.host}:${proxy.port}`
  const port = proxy?.port ?? target.port
  if (port !== undefined && port > 65535)
    return Promise.reject(new PcpError('EINVAL', `${where}: port ${port} is not between 1 and 65535`))
  const late = (): PcpError => new PcpError('ETIMEDOUT', `${where} did not answer within ${ms} ms`)
  return waitFor({ ms, createTimeoutError: late, signal, what: `Connecting to ${where}` }, (end) => {
    const socket =
      host === undefined ? net.connect({ path: target.path! }) : net.connect({ host, port: port! })
    let isConnected = false
    const connected = (): void => {
      isConnected = true
      end(socket)
    }
    const failed = (error: NodeJS.ErrnoException): void => end(connectError(error, where))
    socket.once('connect', connected).once('error', failed)
    return () => {
      socket.removeListener('connect', connected).removeListener('error', failed)
      if (!isConnected) socket.destroy()
    }
  })
}

/** Maps a connect error. An unknown host has no errno; PCP reports EHOSTUNREACH for it. */
export function connectError(error: NodeJS.ErrnoException, where: string): PcpError {
  const isUnknown = error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN' || error.code === 'EAI_FAIL'
  if (isUnknown) return new PcpError('EHOSTUNREACH', `${where}: unknown host`, { cause: error })
  const known = PcpError.from(error)
  return new PcpError(known.code, `${where}: ${known.text}`, { cause: error })
}

/** Exchanges pmproxy's text lines that precede the PDUs of a forwarded connection. Destroys the socket on failure. */
async function handshakeProxy(
  socket: Socket,
  target: Target,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const where = `pmproxy at ${target.proxy!.host}:${target.proxy!.port}`
  const late = (): PcpError => new PcpError('PM_ERR_TIMEOUT', `${where} did not answer within ${ms} ms`)
  try {
    await waitFor<true>({ ms, createTimeoutError: late, signal, what: `Connecting to ${where}` }, (end) => {
      let text = ''
      const failed = (error: NodeJS.ErrnoException): void => end(connectError(error, where))
      const closed = (): void => end(new PcpError('PM_ERR_EOF', `${where} closed the connection`))
      const read = (chunk: Uint8Array): void => {
        text += decodeText(chunk)
        if (text === PROXY_GREETING) end(true)
        else if (!PROXY_GREETING.startsWith(text))
          end(new PcpError('PM_ERR_IPC', `${where} is not a pmproxy: it answered ${JSON.stringify(text)}`))
      }
      socket.on('error', failed).on('close', closed).on('data', read)
      socket.write('pmproxy-client 1\n')
      return () => {
        socket.removeListener('data', read).removeListener('close', closed).removeListener('error', failed)
        socket.pause()
      }
    })
    socket.write(`${target.host} ${target.port}\n`)
  } catch (error) {
    socket.destroy()
    throw error
  }
}
