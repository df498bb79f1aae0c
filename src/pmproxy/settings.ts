/** Settings of pmproxy from the command line and the environment. pmproxy(1) */
import { parsePorts } from '../net/listen.ts'
import type { Variables } from '../sys/config.ts'

/** The parsed and checked command line. */
export interface ProxySettings {
  /** Name of the configuration file, as given. */
  readonly configName?: string
  /** '-' for standard error. */
  readonly logPath: string
  readonly ports: readonly number[]
  readonly addresses: readonly string[]
  readonly socketPath?: string
  /** Only forward PCP's protocol, without HTTP. */
  readonly isProxyOnly: boolean
  /** Names of -D and PCP_DEBUG, separated by commas; '' for none. */
  readonly debug: string
  /** Key server, instead of those in the configuration. */
  readonly keyHost?: string
  readonly keyPort?: number
  /** Maximum size in bytes of a client's PDU. */
  readonly mostPdu?: number
  readonly requiresUser: boolean
  readonly requiresCertificate: boolean
  /** Seconds after which it stops. */
  readonly endSec?: number
  /** Runs as a service, with a PID file and not as root. */
  readonly isService: boolean
  readonly username?: string
}

/** Default ports for PCP's protocol and for HTTP. Every port accepts both. */
export const PROXY_PORT = 44322
/** Second port, in the default mode. */
export const WEB_PORT = 44323

/** Settings from the environment. */
export interface ProxyEnvironment {
  readonly ports: readonly number[]
  /** PMPROXY_LOCAL: 1 is loopback, 0 every interface. */
  readonly local: boolean | undefined
  readonly socketPath: string | undefined
  readonly notices: readonly string[]
}

/** Reads PMPROXY_PORT, PMPROXY_LOCAL and PMPROXY_SOCKET. */
export function proxyEnvironment(env: Variables): ProxyEnvironment {
  const notices: string[] = []
  const list = env['PMPROXY_PORT']
  const ports = list === undefined || list === '' ? [] : parsePorts(list)
  if (ports === undefined)
    notices.push(`PMPROXY_PORT=${list} from the environment ignored: not a list of ports`)
  const local = env['PMPROXY_LOCAL']
  return {
    ports: ports ?? [],
    local: local === undefined || local === '' ? undefined : Number(local) !== 0,
    socketPath: env['PMPROXY_SOCKET'] || undefined,
    notices,
  }
}
