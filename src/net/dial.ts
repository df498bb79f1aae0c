/** Connecting to a collector: addresses, proxy, challenge, features. docs/formats/wire.md §4 */
import type { Socket } from 'node:net'
import { decodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'
import { encodeAttr, PCP_ATTR_CONTAINER } from '../wire/attr.ts'
import { encodeCreds, PDU_FLAG_CONTAINER, PDU_FLAG_CREDS_REQD, PDU_VERSION } from '../wire/creds.ts'
import { decodeChallenge } from '../wire/error.ts'
import { PduConnection, socketStream } from './connection.ts'
import { type Env, type HostSpec, hostAttr } from './host-spec.ts'

/** How to connect. */
export interface DialOptions {
  /** PMCD_PORT, PMCD_SOCKET, PMCD_CONNECT_TIMEOUT, PMPROXY_HOST, PMPROXY_PORT, PCP_CONTAINER, PCP_SECURE_SOCKETS. */
  readonly env?: Env
  readonly signal?: AbortSignal
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
export const SERVER_PORT = 44321
/** Port of a pmproxy that forwards to collectors. */
export const PROXY_PORT = 44322

const CONNECT_MS = 5000
const PROXY_GREETING = 'pmproxy-server 1\n'
const CONTAINER_NAME = /^[A-Za-z0-9._-]+$/

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
 * for what is not offered (encryption and authentication are not supported).
 */
export async function dial(spec: HostSpec, options: DialOptions = {}): Promise<Dialed> {
  const env = options.env ?? {}
  refuseUnsupported(spec, env)
  const container = containerOf(spec, env)
  let last = new PcpError('PM_ERR_NOTHOST', `No host in "${spec.text}"`)
  for (const target of targetsOf(spec, env)) {
    try {
      return await dialOne(target, container, env, options.signal)
    } catch (error) {
      last = PcpError.from(error)
      if (options.signal?.aborted === true) break
    }
  }
  throw last
}

function refuseUnsupported(spec: HostSpec, env: Env): void {
  const secure = hostAttr(spec, 'secure') ?? (spec.scheme === 'pcps' ? 'enforce' : env['PCP_SECURE_SOCKETS'])
  if (secure !== undefined && secure !== 'relaxed')
    throw new PcpError('ENOTSUP', `${spec.text}: encrypted connections are not supported`)
  if (hostAttr(spec, 'compress') !== undefined)
    throw new PcpError('ENOTSUP', `${spec.text}: PCP no longer compresses connections`)
  const login = ['username', 'password', 'method', 'realm', 'userauth'].find(
    (name) => hostAttr(spec, name) !== undefined,
  )
  if (login !== undefined)
    throw new PcpError('ENOTSUP', `${spec.text}: authentication (${login}) is not supported`)
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

async function dialOne(
  target: Target,
  container: string | undefined,
  env: Env,
  signal: AbortSignal | undefined,
): Promise<Dialed> {
  const limitMs = timeoutMs(env['PMCD_CONNECT_TIMEOUT'], CONNECT_MS)
  const socket = await connect(target, limitMs, signal)
  if (target.proxy !== undefined) await askProxy(socket, target, limitMs)
  const connection = new PduConnection(socketStream(socket), { name: `pmcd at ${target.address}` })
  try {
    const first = await firstPdu(connection, timeoutMs(env['PMCD_REQUEST_TIMEOUT'], 2 * CONNECT_MS), signal)
    const features = checkChallenge(first, target, container)
    const wantsContainer = container !== undefined
    connection.send(encodeCreds(wantsContainer ? PDU_FLAG_CONTAINER : 0, process.pid))
    if (wantsContainer) connection.send(encodeAttr(PCP_ATTR_CONTAINER, container))
    return { connection, features, address: target.address, isUnix: target.path !== undefined }
  } catch (error) {
    connection.destroy()
    throw error
  }
}

function checkChallenge(pdu: Uint8Array, target: Target, container: string | undefined): number {
  const challenge = decodeChallenge(pdu)
  if (challenge.status < 0) throw PcpError.fromStatus(challenge.status, `pmcd at ${target.address}`)
  if (challenge.version !== PDU_VERSION)
    throw new PcpError('PM_ERR_IPC', `pmcd at ${target.address} speaks version ${challenge.version}`)
  const { features } = challenge
  if ((features & PDU_FLAG_CREDS_REQD) !== 0 && target.path === undefined)
    throw new PcpError('ENOTSUP', `pmcd at ${target.address} wants authentication, which is not supported`)
  if (container !== undefined && (features & PDU_FLAG_CONTAINER) === 0)
    throw new PcpError('ENOTSUP', `pmcd at ${target.address} knows no containers`)
  return features
}

function connect(target: Target, limitMs: number, signal: AbortSignal | undefined): Promise<Socket> {
  const net = process.getBuiltinModule('node:net')
  const { proxy } = target
  const where = proxy === undefined ? target.address : `pmproxy at ${proxy.host}:${proxy.port}`
  const port = proxy?.port ?? target.port
  if (port !== undefined && port > 65535)
    return Promise.reject(new PcpError('EINVAL', `There is no port ${port}: ${where}`))
  return new Promise((resolve, reject) => {
    const socket =
      target.path === undefined
        ? net.connect({ host: proxy?.host ?? target.host!, port: port! })
        : net.connect({ path: target.path })
    const end = (error?: PcpError): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
      socket.removeListener('error', failed)
      if (error === undefined) {
        resolve(socket)
      } else {
        socket.destroy()
        reject(error)
      }
    }
    const failed = (error: NodeJS.ErrnoException): void => end(connectError(error, where))
    const aborted = (): void => end(new PcpError('ECANCELED', `Connecting to ${where} was given up`))
    const timer = setTimeout(
      () => end(new PcpError('ETIMEDOUT', `${where} did not answer within ${limitMs} ms`)),
      limitMs,
    )
    socket.once('connect', () => end())
    socket.once('error', failed)
    if (signal?.aborted === true) aborted()
    else signal?.addEventListener('abort', aborted)
  })
}

/** A name nobody knows has no errno: PCP reports EHOSTUNREACH then. */
function connectError(error: NodeJS.ErrnoException, where: string): PcpError {
  const isUnknown = error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN' || error.code === 'EAI_FAIL'
  if (isUnknown) return new PcpError('EHOSTUNREACH', `${where}: unknown host`, { cause: error })
  const known = PcpError.from(error)
  return new PcpError(known.code, `${where}: ${known.text}`, { cause: error })
}

/** The text lines in front of the PDUs of a forwarded connection. */
function askProxy(socket: Socket, target: Target, limitMs: number): Promise<void> {
  const where = `pmproxy at ${target.proxy!.host}:${target.proxy!.port}`
  return new Promise((resolve, reject) => {
    let text = ''
    const end = (error?: PcpError): void => {
      clearTimeout(timer)
      socket.removeListener('data', read).removeListener('close', closed).removeListener('error', failed)
      socket.pause()
      if (error === undefined) {
        resolve()
      } else {
        socket.destroy()
        reject(error)
      }
    }
    const failed = (error: NodeJS.ErrnoException): void => end(connectError(error, where))
    const closed = (): void => end(new PcpError('PM_ERR_EOF', `${where} closed the connection`))
    const read = (chunk: Uint8Array): void => {
      text += decodeText(chunk)
      if (text === PROXY_GREETING) {
        socket.write(`${target.host} ${target.port}\n`)
        end()
      } else if (!PROXY_GREETING.startsWith(text)) {
        end(new PcpError('PM_ERR_IPC', `${where} is no pmproxy: it says ${JSON.stringify(text)}`))
      }
    }
    const timer = setTimeout(
      () => end(new PcpError('PM_ERR_TIMEOUT', `${where} did not answer within ${limitMs} ms`)),
      limitMs,
    )
    socket.on('error', failed).on('close', closed).on('data', read)
    socket.write('pmproxy-client 1\n')
  })
}

/** The PDU with which a peer opens the conversation. */
export function firstPdu(
  connection: PduConnection,
  limitMs: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const end = (outcome: Uint8Array | PcpError): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', aborted)
      if (outcome instanceof PcpError) {
        reject(outcome)
      } else {
        // Whatever follows belongs to whoever listens next.
        connection.pause()
        resolve(outcome)
      }
    }
    const aborted = (): void => end(new PcpError('ECANCELED', `Waiting for ${connection.name} was given up`))
    const timer = setTimeout(
      () => end(new PcpError('PM_ERR_TIMEOUT', `${connection.name} said nothing within ${limitMs} ms`)),
      limitMs,
    )
    if (signal?.aborted === true) aborted()
    signal?.addEventListener('abort', aborted)
    connection.onClose((error) => end(error))
    connection.onPdu(end)
  })
}
