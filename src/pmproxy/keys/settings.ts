/** What this server does with key servers. pmproxy(1), docs/reference/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import { type KeySettings, keySettings } from '../../series/keys/settings.ts'
import type { Variables } from '../../sys/config.ts'
import type { Ini } from '../ini.ts'

/** Key servers and their use; can be sent to a thread. */
export interface ServedKeySettings extends KeySettings {
  /** Answer /series and /search from the key server? */
  readonly hasSeries: boolean
  readonly hasSearch: boolean
  /** Load archives live? */
  readonly hasDiscovery: boolean
  /** Directories of those archives; undefined: those of the server. */
  readonly directories: readonly string[] | undefined
}

/** Reads `true` or `false`. */
export type FlagOf = (key: string, byDefault: boolean) => boolean

/** Options of the sections about key servers. */
export const KEY_OPTIONS: readonly string[] = [
  ...['keys', 'redis'].flatMap((section) =>
    ['enabled', 'servers', 'username', 'password', 'tls', 'tls.ca', 'tls.cert', 'tls.key'].map(
      (name) => `${section}.${name}`,
    ),
  ),
  ...[
    'enabled',
    'servers',
    'auth.username',
    'auth.password',
    'cursor.count',
    'stream.expire',
    'stream.maxlen',
  ].map((name) => `pmseries.${name}`),
  ...['enabled', 'path', 'exclude.metrics', 'exclude.indoms'].map((name) => `discover.${name}`),
  ...['enabled', 'count', 'result.count'].map((name) => `pmsearch.${name}`),
]

const SERVERS = ['keys.servers', 'redis.servers'] as const
/** Names servers for questions, as the options -h and -r do. */
const QUERY_SERVERS = 'pmseries.servers'
/** Excluded by default, as in PCP's pmproxy.conf. */
const EXCLUDED = [
  ['discover.exclude.metrics', 'proc.*,acct.*'],
  ['discover.exclude.indoms', '3.9,3.40,79.7'],
] as const

/** Returns the settings for connections; undefined if key servers are disabled, or the configuration names an unreadable file. */
export function connectionSettings(
  ini: Ini,
  variables: Variables,
  flag: FlagOf,
  report: (problem: string) => void,
): KeySettings | undefined {
  if (!flag(ini.has('keys.enabled') ? 'keys.enabled' : 'redis.enabled', true)) return undefined
  try {
    const settings = keySettings(new Map([...EXCLUDED, ...ini]), variables, report)
    return settings.servers.length === 0 ? undefined : settings
  } catch (error) {
    report(PcpError.from(error).message)
    return undefined
  }
}

/** Returns the settings for series and discovery; undefined unless a key server is named. */
export function servedSettings(
  connection: KeySettings | undefined,
  ini: Ini,
  variables: Variables,
  flag: FlagOf,
): ServedKeySettings | undefined {
  const isForAll = (variables['KEY_SERVERS'] ?? '') !== '' || SERVERS.some((key) => ini.has(key))
  if (connection === undefined || !(isForAll || ini.has(QUERY_SERVERS))) return undefined
  const path = ini.get('discover.path')
  return {
    ...connection,
    hasSeries: flag('pmseries.enabled', true),
    hasSearch: flag('pmsearch.enabled', true),
    // As in PCP, archives are loaded into a server named only in [pmseries] if [discover] enables it.
    hasDiscovery: flag('discover.enabled', isForAll),
    directories: path === undefined || path === '' ? undefined : [path],
  }
}
