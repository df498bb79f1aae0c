/** Section [pmlogger] of pmproxy.conf: who may push archives, and how much. docs/reference/pmproxy.md */
import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import type { HostLimits } from '../../push/quota.ts'
import type { Variables } from '../../sys/config.ts'

/** Settings for pushed archives. */
export interface PushConfig {
  /** Directory with a subdirectory per host. */
  readonly directory: string
  /** File with tokens. */
  readonly tokenFile: string | undefined
  /** Addresses whose clients need no login. */
  readonly addresses: BlockList
  /** Clients of the unix socket need no login. */
  readonly allowsUnixSocket: boolean
  readonly limits: HostLimits
  /** Archives in progress. */
  readonly maxArchives: number
}

/** Options of the section; PCP's `cached`, `timeout` and `work` have no effect here. */
export const PUSH_OPTIONS: readonly string[] = [
  ...['enabled', 'authenticate', 'cached', 'timeout', 'work'],
  ...['directory', 'tokens', 'addresses', 'quota', 'archives', 'rate', 'sessions'],
].map((name) => `pmlogger.${name}`)

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }
const DEFAULT_LIMITS: HostLimits = { bytes: 10e9, archives: 2000, bytesPerSecond: 10e6 }
const DEFAULT_SESSIONS = 2000

/** Reads settings; undefined unless pushed archives are enabled. `report` gets invalid values, for which defaults apply. */
export function pushConfig(
  values: ReadonlyMap<string, string>,
  isEnabled: boolean,
  variables: Variables,
  report: (problem: string) => void,
): PushConfig | undefined {
  if (!isEnabled) return undefined
  if (/^(?:false|no|off|0)$/i.test(values.get('pmlogger.authenticate') ?? ''))
    report(
      'pmlogger.authenticate = false has no effect: list clients that need no login in pmlogger.addresses',
    )
  const amount = (name: string, byDefault: number): number => {
    const text = values.get(`pmlogger.${name}`)
    if (text === undefined) return byDefault
    const [, digits, unit = ''] = /^(\d{1,12})\s*([kmgt]?)b?$/i.exec(text) ?? []
    if (digits !== undefined && Number(digits) > 0) return Number(digits) * UNITS[unit.toLowerCase()]!
    report(`pmlogger.${name} must be a number with K, M, G or T, not ${text}`)
    return byDefault
  }
  const listed = (values.get('pmlogger.addresses') ?? '').split(',').map((each) => each.trim())
  const addresses = new BlockList()
  for (const each of listed.filter((text) => text !== '' && text !== 'unix'))
    if (!addAddress(addresses, each)) report(`pmlogger.addresses: not an address or ADDRESS/BITS: ${each}`)
  const tokenFile = values.get('pmlogger.tokens')
  return {
    directory: values.get('pmlogger.directory') ?? remoteArchiveDir(variables),
    tokenFile: tokenFile === '' ? undefined : tokenFile,
    addresses,
    allowsUnixSocket: listed.includes('unix'),
    limits: {
      bytes: amount('quota', DEFAULT_LIMITS.bytes),
      archives: amount('archives', DEFAULT_LIMITS.archives),
      bytesPerSecond: amount('rate', DEFAULT_LIMITS.bytesPerSecond),
    },
    maxArchives: amount('sessions', DEFAULT_SESSIONS),
  }
}

function addAddress(list: BlockList, text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  if (family === 0 || more.length > 0) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) list.addAddress(address, type)
  else if (/^\d{1,3}$/.test(bits) && Number(bits) <= most) list.addSubnet(address, Number(bits), type)
  else return false
  return true
}

/** Returns PCP_REMOTE_ARCHIVE_DIR, or PCP's default for it. */
function remoteArchiveDir(variables: Variables): string {
  return variables['PCP_REMOTE_ARCHIVE_DIR'] ?? join(variables['PCP_LOG_DIR'] ?? '/var/log/pcp', 'pmproxy')
}
