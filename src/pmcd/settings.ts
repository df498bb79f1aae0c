/** Settings of pmcd from the command line and the environment. pmcd(1) */
import { parsePorts } from '../net/listen.ts'
import type { Variables } from '../sys/config.ts'

/** Parsed and checked command line. */
export interface CollectorSettings {
  /** pmcd.conf; default: the one of pcp.conf, else the built-in agents. */
  readonly configPath?: string
  /** Name space file; default: the installed one, else the names that agents report. */
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
  /** Initial mask of the event trace: sum of TRACE_*. */
  readonly traceMask: number
  /** Diagnostics of -D. */
  readonly debug: ReadonlySet<string>
  /** Clients of other hosts must have a certificate (-Q). */
  readonly requiresCertificate: boolean
  /** All clients must be identified (-S). */
  readonly requiresUser: boolean
  /** Run as a service: with a PID file and without root. */
  readonly isService: boolean
  /** Account to switch to after start-up; default: PCP_USER. Services only. */
  readonly username?: string
}

/** Settings from the environment. */
export interface EnvironmentSettings {
  readonly ports: readonly number[]
  readonly localOnly: boolean
  readonly backlog?: number
  readonly credsTimeoutSec?: number
  readonly restartsAgents: boolean
  /** One log line per variable that has an effect. */
  readonly notices: readonly string[]
}

/** Reads the environment variables of pmcd. Invalid values are ignored with a notice. */
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
    notices.push(`${name}=${text} from the environment is ignored: the number is invalid or out of range`)
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
