/** What the command line and the environment of pmcd decide. pmcd(1) */
import { parsePorts } from '../net/listen.ts'
import type { Variables } from '../sys/config.ts'

/** The command line, taken apart and checked. */
export interface CollectorSettings {
  /** pmcd.conf; undefined: the one of pcp.conf, or the built-in agents where there is none. */
  readonly configPath?: string
  /** Name space file; undefined: the default one, or the names the built-in agents tell. */
  readonly pmnsPath?: string
  /** Refuse two names for one PMID. */
  readonly isPmnsUnique?: boolean
  readonly hostname?: string
  /** '-' for standard error. */
  readonly logPath: string
  readonly ports: readonly number[]
  readonly addresses: readonly string[]
  readonly socketPath?: string
  readonly timeoutSec?: number
  readonly credsTimeoutSec?: number
  readonly pduBytes?: number
  readonly contexts?: number
  readonly metrics?: number
  /** Sum of TRACE_*: what the event trace records from the start. */
  readonly traceMask: number
  /** Names of -D. */
  readonly debug: ReadonlySet<string>
  /** Clients of other hosts must have a certificate. */
  readonly requiresCertificate: boolean
  /** All clients must be known. */
  readonly requiresUser: boolean
  /** Does it run as a service: with a PID file, and as somebody else than root? */
  readonly isService: boolean
  /** Account to run as once it serves; default: PCP_USER. Services only. */
  readonly username?: string
}

/** What the environment adds. */
export interface EnvironmentSettings {
  readonly ports: readonly number[]
  readonly localOnly: boolean
  readonly backlog?: number
  readonly credsTimeoutSec?: number
  readonly restartsAgents: boolean
  /** One line for each variable that changes something. */
  readonly notices: readonly string[]
}

/** Reads the environment variables of pmcd; a value that cannot be is a notice and has no effect. */
export function environmentSettings(env: Variables): EnvironmentSettings {
  const notices: string[] = []
  const number = (name: string, isGood: (n: number) => boolean): number | undefined => {
    const text = env[name]
    if (text === undefined || text === '') return undefined
    const value = Number(text)
    if (/^\d+$/.test(text) && isGood(value)) {
      notices.push(`${name}=${text} from the environment is in force`)
      return value
    }
    notices.push(`${name}=${text} from the environment is ignored: not a number it can be`)
    return undefined
  }
  const backlog = number('PMCD_MAXPENDING', (n) => n > 0)
  const credsTimeoutSec = number('PMCD_CREDS_TIMEOUT', (n) => n > 0)
  return {
    ports: environmentPorts(env['PMCD_PORT'], notices),
    localOnly: (number('PMCD_LOCAL', () => true) ?? 0) !== 0,
    ...(backlog === undefined ? {} : { backlog }),
    ...(credsTimeoutSec === undefined ? {} : { credsTimeoutSec }),
    restartsAgents: number('PMCD_RESTART_AGENTS', () => true) !== 0,
    notices,
  }
}

function environmentPorts(list: string | undefined, notices: string[]): readonly number[] {
  if (list === undefined || list === '') return []
  const ports = parsePorts(list)
  notices.push(
    ports === undefined
      ? `PMCD_PORT=${list} from the environment is ignored: not a list of ports`
      : `PMCD_PORT=${list} from the environment is in force`,
  )
  return ports ?? []
}
