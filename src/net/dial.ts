/** Connecting to a collector: addresses, proxy, challenge, features. docs/formats/wire.md §4 */
import type { Socket } from 'node:net'
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { descriptorOf } from '../sys/descriptor.ts'
import { encodeAttr, PCP_ATTR_CONTAINER } from '../wire/attr.ts'
import { encodeCreds, PDU_FLAG_CONTAINER, PDU_FLAG_SECURE, PDU_VERSION } from '../wire/creds.ts'
import { decodeChallenge } from '../wire/error.ts'
import { type ReplyLimits, replyLimits } from '../wire/reply-limits.ts'
import { PduConnection, socketStream } from './connection.ts'
import { type Env, type HostSpec, hostAttr, showHostSpec } from './host-spec.ts'
import { isLoopback } from './loopback.ts'
import { nextPdu } from './next-pdu.ts'
import { tracePdus } from './pdu-trace.ts'
import { GUEST_LOGIN } from './sasl/client.ts'
import { logIn, type Peer, probe, type Security, securityOf, startTls, wantedFlags } from './secure-dial.ts'
import { wait } from './wait.ts'

/** How to connect. */
export interface DialOptions {
  /** PMCD_PORT, PMCD_SOCKET, PMCD_CONNECT_TIMEOUT, PMPROXY_HOST, PMPROXY_PORT, PCP_CONTAINER, PCP_SECURE_SOCKETS, PCP_TLSCONF_PATH. */
  readonly env?: Env
  readonly signal?: AbortSignal
  /**
   * Gives up our identity on a unix socket, for requests on behalf of others. A collector that does not support this is refused there; with
   * `local:` TCP is tried next.
   */
  readonly asGuest?: boolean
  /** Limits of what the collector answers; default: PCP_REPLY_MB and PCP_REPLY_ITEMS of `env`, or `REPLY_LIMITS`. */
  readonly replyLimits?: Partial<ReplyLimits>
}

/** Returns the limits of replies that these options ask for. */
export function replyLimitsOf({ env = {}, replyLimits: given }: DialOptions): ReplyLimits {
  return { ...replyLimits(env), ...given }
}

/** A connection whose handshake is done. */
export interface Dialed {
  readonly connection: PduConnection
  /** PDU_FLAG_* that the collector offers. */
  readonly features: number
  /** Where it is: `localhost:44321`, `/run/pcp/pmcd.socket`. */
  readonly address: string
  readonly isUnix: boolean
}

/** Port of a collector. */
const SERVER_PORT = 44321
/** Port of a pmproxy that forwards to collectors. */
const PROXY_PORT = 44322

const CONNECT_MS = 5000
/** What connecting to an address fails with that nobody listens on, or that this machine does not have. */
const NOBODY_THERE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EADDRNOTAVAIL',
  'ENETUNREACH',
  'EHOSTUNREACH',
])
const PROXY_GREETING = 'pmproxy-server 1\n'
const CONTAINER_NAME = /^[A-Za-z0-9._-]+$/

/** What every place is asked for. */
interface Wish {
  readonly container: string | undefined
  readonly security: Security
}

/** One place to try. */
interface Target {
  readonly address: string
  readonly path?: string
  readonly host?: string
  readonly port?: number
  readonly proxy?: { readonly host: string; readonly port: number }
}

/**
 * Connects to the first place of `spec` that completes the whole handshake. The last error is thrown: an errno from the
 * system, what the collector refused with (PM_ERR_PERMISSION, PM_ERR_CONNLIMIT), PM_ERR_NOTHOST for no host, ENOTSUP
 * for what is not offered, PM_ERR_TLS, PM_ERR_NEEDCLIENTCERT, or a status of SASL for a user who is not let in.
 */
export async function dial(spec: HostSpec, options: DialOptions = {}): Promise<Dialed> {
  const env = options.env ?? {}
  if (hostAttr(spec, 'compress') !== undefined)
    throw new PcpError('ENOTSUP', 'PCP no longer compresses connections: leave "compress" out')
  const security = securityOf(spec, env)
  const container = containerOf(spec, env)
  let last = new PcpError('PM_ERR_NOTHOST', `No host in "${showHostSpec(spec.text)}"`)
  for (const target of targetsOf(spec, env)) {
    try {
      const isGuest = options.asGuest === true && target.path !== undefined
      const wish = { container, security: isGuest ? { ...security, login: GUEST_LOGIN } : security }
      return await dialOne(target, wish, env, options)
    } catch (error) {
      last = PcpError.from(error)
      if (options.signal?.aborted === true) break
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
  if (spec.scheme === 'local')
    return [{ address: first.name, path: first.name }, ...tcpTargets('localhost', [], undefined, env)]
  const proxy = spec.hosts[1] ?? (env['PMPROXY_HOST'] ? { name: env['PMPROXY_HOST'], ports: [] } : undefined)
  return tcpTargets(first.name, first.ports, proxy, env)
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

/** The ports of a collector that is named without one. */
export function collectorPorts(env: Env): readonly number[] {
  return portsOf([], env['PMCD_PORT'], SERVER_PORT)
}

/** Ports given, else those of a variable, else the default. */
function portsOf(
  given: readonly number[],
  variable: string | undefined,
  fallback: number,
): readonly number[] {
  if (given.length > 0) return given
  const listed = (variable ?? '').split(',').map(Number)
  return listed.every((port) => Number.isInteger(port) && port > 0) ? listed : [fallback]
}

/** A time limit in seconds from the environment, in milliseconds; what cannot be read is ignored. */
export function timeoutMs(text: string | undefined, fallbackMs: number): number {
  const seconds = Number(text)
  return text === undefined || text.trim() === '' || !(seconds > 0) ? fallbackMs : seconds * 1000
}

async function dialOne(target: Target, wish: Wish, env: Env, options: DialOptions): Promise<Dialed> {
  const { signal } = options
  const limitMs = timeoutMs(env['PMCD_CONNECT_TIMEOUT'], CONNECT_MS)
  const socket = await connect(target, limitMs, signal)
  // Behind a proxy it may be anywhere.
  const isLocal =
    target.path !== undefined || (target.proxy === undefined && isLoopback(socket.remoteAddress))
  if (target.proxy !== undefined) await askProxy(socket, target, limitMs, signal)
  const name = `pmcd at ${target.address}`
  const connection = new PduConnection(socketStream(socket), {
    name,
    limit: replyLimitsOf(options).pduBytes,
    limitAdvice: 'set PCP_REPLY_MB to accept them',
    watch: tracePdus(name, descriptorOf(socket)),
  })
  try {
    const ms = timeoutMs(env['PMCD_REQUEST_TIMEOUT'], 2 * CONNECT_MS)
    const features = checkChallenge(await nextPdu(connection, { ms, signal }), target, wish.container)
    const peer = { name: connection.name, host: target.host, isLocal, features }
    await introduce(connection, peer, wish, { env, ms, signal })
    return { connection, features, address: target.address, isUnix: target.path !== undefined }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** Everything between the challenge and the first request. */
async function introduce(
  connection: PduConnection,
  peer: Peer,
  { container, security }: Wish,
  { env, ...patience }: { env: Env; ms: number; signal: AbortSignal | undefined },
): Promise<void> {
  const flags = wantedFlags(security, peer)
  connection.send(encodeCreds(flags | (container === undefined ? 0 : PDU_FLAG_CONTAINER), process.pid))
  const isSecure = (flags & PDU_FLAG_SECURE) !== 0
  const isVerified = isSecure && (await startTls(connection, peer, flags, env, patience))
  const { login } = security
  if (login !== undefined) await logIn(connection, peer, login, { isSecure, isVerified }, patience)
  if (container !== undefined) connection.send(encodeAttr(PCP_ATTR_CONTAINER, container))
  if (login !== undefined) await probe(connection, peer, login, patience)
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

/** `localhost` is always this machine: asking a resolver would cost a command as much as everything else it does. */
async function connect(target: Target, ms: number, signal: AbortSignal | undefined): Promise<Socket> {
  const host = target.proxy?.host ?? target.host
  if (host !== 'localhost') return connectTo(host, target, ms, signal)
  try {
    return await connectTo('127.0.0.1', target, ms, signal)
  } catch (error) {
    if (!(error instanceof PcpError) || !NOBODY_THERE.has(error.code)) throw error
    return connectTo('::1', target, ms, signal).catch(() => Promise.reject(error))
  }
}

/** `host` is where to go: an address or a name; undefined for a unix socket. */
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
    return Promise.reject(new PcpError('EINVAL', `There is no port ${port}: ${where}`))
  const late = (): PcpError => new PcpError('ETIMEDOUT', `${where} did not answer within ${ms} ms`)
  return wait({ ms, late, signal, what: `Connecting to ${where}` }, (end) => {
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

/** Why a socket does not connect. A name nobody knows has no errno: PCP reports EHOSTUNREACH then. */
export function connectError(error: NodeJS.ErrnoException, where: string): PcpError {
  const isUnknown = error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN' || error.code === 'EAI_FAIL'
  if (isUnknown) return new PcpError('EHOSTUNREACH', `${where}: unknown host`, { cause: error })
  const known = PcpError.from(error)
  return new PcpError(known.code, `${where}: ${known.text}`, { cause: error })
}

/** The text lines in front of the PDUs of a forwarded connection. Destroys the socket when it rejects. */
async function askProxy(
  socket: Socket,
  target: Target,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const where = `pmproxy at ${target.proxy!.host}:${target.proxy!.port}`
  const late = (): PcpError => new PcpError('PM_ERR_TIMEOUT', `${where} did not answer within ${ms} ms`)
  try {
    await wait<true>({ ms, late, signal, what: `Connecting to ${where}` }, (end) => {
      let text = ''
      const failed = (error: NodeJS.ErrnoException): void => end(connectError(error, where))
      const closed = (): void => end(new PcpError('PM_ERR_EOF', `${where} closed the connection`))
      const read = (chunk: Uint8Array): void => {
        text += decodeText(chunk)
        if (text === PROXY_GREETING) end(true)
        else if (!PROXY_GREETING.startsWith(text))
          end(new PcpError('PM_ERR_IPC', `${where} is no pmproxy: it says ${JSON.stringify(text)}`))
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
