/** What the command line and the environment of pmproxy decide. pmproxy(1) */
import { parsePorts } from '../net/listen.ts'
import type { Variables } from '../sys/config.ts'

/** The command line, taken apart and checked. */
export interface ProxySettings {
  /** The configuration file, as it was named. */
  readonly configName?: string
  /** '-' for standard error. */
  readonly logPath: string
  readonly ports: readonly number[]
  readonly addresses: readonly string[]
  readonly socketPath?: string
  /** Forward PCP's protocol alone, as before there was HTTP. */
  readonly isProxyOnly: boolean
  /** Names of -D and PCP_DEBUG, by comma; '' for none. */
  readonly debug: string
  /** The key server, in place of those of the configuration. */
  readonly keyHost?: string
  readonly keyPort?: number
  /** Bytes of the largest PDU that clients may send. */
  readonly mostPdu?: number
  readonly requiresUser: boolean
  readonly requiresCertificate: boolean
  /** Seconds after which it ends by itself. */
  readonly endSec?: number
  /** Does it run as a service: with a PID file, and as somebody else than root? */
  readonly isService: boolean
  readonly username?: string
}

/** Port where PCP's protocol is forwarded, and the one of HTTP. All ports speak both. */
export const PROXY_PORT = 44322
/** Second port, in the default mode. */
export const WEB_PORT = 44323

/** What the environment adds. */
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
    notices.push(`PMPROXY_PORT=${list} from the environment is ignored: not a list of ports`)
  const local = env['PMPROXY_LOCAL']
  return {
    ports: ports ?? [],
    local: local === undefined || local === '' ? undefined : Number(local) !== 0,
    socketPath: env['PMPROXY_SOCKET'] || undefined,
    notices,
  }
}
