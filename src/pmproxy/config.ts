/** pmproxy's configuration from files, where later ones win, and environment variables, which override files. pmproxy(1), docs/reference/pmproxy.md */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { parseHostSpec } from '../net/host-spec.ts'
import type { KeySettings } from '../series/keys/settings.ts'
import type { NamedServer } from '../series/prometheus/credentials.ts'
import type { Variables } from '../sys/config.ts'
import { homeDir } from '../sys/config.ts'
import { readTrustedFile, UntrustedPathError } from '../sys/trusted-path.ts'
import { ANY_HOST } from './host-rules.ts'
import { type Ini, parseIni } from './ini.ts'
import type { KeyServers } from './key-relay.ts'
import { connectionSettings, KEY_OPTIONS, type ServedKeySettings, servedSettings } from './keys/settings.ts'
import { PUSH_OPTIONS, type PushConfig, pushConfig } from './logger/config.ts'

/** A configuration. */
export interface ProxyConfig {
  /** Forward PCP's protocol? */
  readonly hasPcp: boolean
  readonly hasHttp: boolean
  readonly hasTls: boolean
  /** TLS files as named in pmproxy.conf by older versions of PCP; tls.conf takes precedence. */
  readonly tls: {
    readonly [K in 'certFile' | 'keyFile' | 'caFile' | 'ciphers' | 'ciphersuites']?: string | undefined
  }
  /** Key servers to relay to; undefined: no relay. */
  readonly keys: KeyServers | undefined
  /** Key servers for series and discovered archives; undefined: series are those of archives. */
  readonly keySettings: ServedKeySettings | undefined
  /** Length of the kernel's queue of pending connections. */
  readonly backlog: number
  /** Additional headers that requests of pages of other origins may have. */
  readonly allowedHeaders: readonly string[]
  /** Seconds for which a browser may cache a preflight response. */
  readonly corsMaxAge: number
  /** May clients store values? */
  readonly allowsStore: boolean
  /** Must requests name a user? @see pmproxy(1) -S */
  readonly requiresUser: boolean
  /** Additional names by which browsers reach this server; lower case. */
  readonly names: readonly string[]
  /** Origins whose pages may use the REST API, in lower case; '*' for all. */
  readonly origins: readonly string[]
  /** Hosts that requests may name, '*' for any; undefined: the local collector and `offeredHosts`. */
  readonly hosts: readonly string[] | undefined
  /** Hosts offered on the page. */
  readonly offeredHosts: readonly string[]
  /** Directories of readable archives. */
  readonly archiveDirs: readonly string[]
  /** Directory of the archives of this host, if it is recorded. */
  readonly historyDir: string | undefined
  /** Alert log of this host, if its rules are evaluated. */
  readonly alertLog: string | undefined
  /** Directory of the page's files. */
  readonly pageDir: string | undefined
  /** Server that answers /series and /search; undefined: the archives do. */
  readonly prometheus: NamedServer | undefined
  /** Pushed archives; undefined: none are accepted. */
  readonly push: PushConfig | undefined
}

/** Defaults. */
export const DEFAULT_CONFIG: ProxyConfig = {
  hasPcp: true,
  hasHttp: true,
  hasTls: true,
  tls: {},
  keys: undefined,
  keySettings: undefined,
  backlog: 128,
  allowedHeaders: [],
  corsMaxAge: 86_400,
  allowsStore: false,
  requiresUser: false,
  names: [],
  origins: [],
  hosts: undefined,
  offeredHosts: ['local:'],
  archiveDirs: [],
  historyDir: undefined,
  alertLog: undefined,
  pageDir: undefined,
  prometheus: undefined,
  push: undefined,
}

/** An optional configuration file. */
export interface ConfigFile {
  readonly path: string
  /** The file was not named by the user, and its directory may be writable by others. */
  readonly needsTrust: boolean
}

/** Returns the files to read, first to last: only `named` if it is an absolute path. */
export function configFiles(
  named: string | undefined,
  variables: Variables,
  cwd: string,
): readonly ConfigFile[] {
  if (named?.startsWith('/')) return [{ path: named, needsTrust: false }]
  const system = join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'pmproxy')
  const name = named ?? 'pmproxy.conf'
  const home = homeDir(variables)
  const own = [join(home, `.${name}`), join(home, '.pcp', name), resolve(cwd, name)]
  return [{ path: join(system, name), needsTrust: false }, ...own.map((path) => ({ path, needsTrust: true }))]
}

const DISTRUST_HINT = 'to read it anyway, name it with -c'

/** Settings, and their places for messages: `FILE line N`. */
export interface ConfigText {
  readonly values: Ini
  readonly places: ReadonlyMap<string, string>
}

/** Known options, including those of PCP without effect here. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['pcp.enabled', 'http.enabled', 'secure.enabled', 'resp.enabled', 'redis.enabled', 'maxpending'].map(
    (name) => `pmproxy.${name}`,
  ),
  ...[
    'certificates',
    'private_key',
    'authority',
    'cipher_list',
    'cipher_suites',
    'keepalive',
    'chunksize',
  ].map((name) => `pmproxy.${name}`),
  ...['http.Access-Control-Allow-Headers', 'http.Access-Control-Max-Age', 'pmwebapi.store'],
  ...['url', 'token-file', 'login-file', 'ca-file'].map((name) => `prometheus.${name}`),
  ...['hosts', 'names', 'origins', 'offer', 'archives', 'history', 'directory'].map((name) => `ui.${name}`),
  ...PUSH_OPTIONS,
  ...KEY_OPTIONS,
])

/**
 * Reads the files that exist; `report` gets unknown lines and options. ENOENT if the only, named file is missing; EACCES if another user
 * could have written the file.
 */
export function readConfigFiles(files: readonly ConfigFile[], report: (problem: string) => void): ConfigText {
  const all = new Map<string, string>()
  const places = new Map<string, string>()
  for (const { path, needsTrust } of files) {
    let text: string
    try {
      text = needsTrust ? readTrustedFile(path, DISTRUST_HINT) : readFileSync(path, 'utf8')
    } catch (error) {
      if (error instanceof UntrustedPathError) throw PcpError.from(error)
      const known = PcpError.from(error, path)
      if (known.code === 'ENOENT' && files.length > 1) continue
      throw new PcpError(known.code, `Cannot read the configuration ${path}: ${known.text}`, { cause: error })
    }
    const ini = parseIni(
      text,
      (line, what) => report(`${path} line ${line}: not a section or a setting: ${what}`),
      (line, key) => {
        places.set(key, `${path} line ${line}`)
        // Reported, because a misspelt option could leave access open that was meant to be restricted.
        if (!KNOWN.has(key)) report(`${path} line ${line}: unknown option ${optionName(key)}`)
      },
    )
    for (const [key, value] of ini) all.set(key, value)
  }
  return { values: all, places }
}

/**
 * Returns the configuration from file settings and the environment variables PCP_SECTION_OPTION, which override them. `report` gets invalid
 * values, for which the defaults apply.
 */
export function configOf(
  ini: Ini,
  variables: Variables,
  report: (problem: string) => void,
  places: ConfigText['places'] = new Map(),
): ProxyConfig {
  const values = new Map(ini)
  const wrong = (key: string, what: string): void => {
    const place = places.get(key)
    report(`${place === undefined ? '' : `${place}: `}${key} must be ${what}, not ${values.get(key)}`)
  }
  for (const key of ini.keys()) {
    const value = variables[`PCP_${key.replace(/[.-]/g, '_').toUpperCase()}`]
    if (value !== undefined) values.set(key, value)
  }
  const flag = (key: string, byDefault: boolean): boolean => {
    const text = values.get(key)
    if (text === undefined) return byDefault
    if (/^(true|yes|on|1)$/i.test(text)) return true
    if (!/^(false|no|off|0)$/i.test(text)) wrong(key, 'true or false')
    return /^(false|no|off|0)$/i.test(text) ? false : byDefault
  }
  const number = (key: string, byDefault: number): number => {
    const text = values.get(key)
    if (text === undefined || /^\d{1,9}$/.test(text)) return Number(text ?? byDefault)
    wrong(key, 'a whole number')
    return byDefault
  }
  const list = (key: string): readonly string[] | undefined =>
    values
      .get(key)
      ?.split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '')
  const text = (...keys: readonly string[]): string | undefined =>
    keys.map((key) => values.get(key)).find((value) => value !== undefined && value !== '')
  const connection = connectionSettings(values, variables, flag, report)
  const relays = flag(
    values.has('pmproxy.resp.enabled') ? 'pmproxy.resp.enabled' : 'pmproxy.redis.enabled',
    false,
  )
  const goodHosts = (key: string): readonly string[] | undefined =>
    list(key)?.filter((each) => {
      if (each === ANY_HOST) return true
      try {
        parseHostSpec(each, variables)
        return true
      } catch {
        report(`${key}: not a host specification: ${each}`)
        return false
      }
    })
  const origins = (list('ui.origins') ?? []).flatMap((each) => {
    if (each === '*') return each
    const origin = URL.canParse(each) ? new URL(each).origin : 'null'
    if (origin === 'null') report(`ui.origins: not SCHEME://HOST:PORT: ${each}`)
    return origin === 'null' ? [] : origin
  })
  const hosts = goodHosts('ui.hosts')
  const listed = hosts?.filter((each) => each !== ANY_HOST)
  const offered = listed === undefined || listed.length === 0 ? goodHosts('ui.offer') : listed
  if (listed !== undefined && listed.length > 0 && values.has('ui.offer')) {
    const place = places.get('ui.offer')
    report(`${place === undefined ? '' : `${place}: `}offer in [ui] is ignored: hosts replaces it`)
  }
  const prometheus = (): NamedServer | undefined => {
    const url = values.get('prometheus.url') || undefined
    const file = (name: string): string | undefined => values.get(`prometheus.${name}`) || undefined
    if (url === undefined) return undefined
    return { url, tokenFile: file('token-file'), loginFile: file('login-file'), caFile: file('ca-file') }
  }
  const ofProxy = (key: string): string | undefined => text(`pmproxy.${key}`)
  return {
    tls: {
      certFile: ofProxy('certificates'),
      keyFile: ofProxy('private_key'),
      caFile: ofProxy('authority'),
      ciphers: ofProxy('cipher_list'),
      ciphersuites: ofProxy('cipher_suites'),
    },
    hasPcp: flag('pmproxy.pcp.enabled', DEFAULT_CONFIG.hasPcp),
    hasHttp: flag('pmproxy.http.enabled', DEFAULT_CONFIG.hasHttp),
    hasTls: flag('pmproxy.secure.enabled', DEFAULT_CONFIG.hasTls),
    keys: relays && connection !== undefined ? relaySettings(connection) : undefined,
    keySettings: servedSettings(connection, values, variables, flag),
    backlog: number('pmproxy.maxpending', DEFAULT_CONFIG.backlog),
    allowedHeaders: list('http.Access-Control-Allow-Headers') ?? DEFAULT_CONFIG.allowedHeaders,
    corsMaxAge: number('http.Access-Control-Max-Age', DEFAULT_CONFIG.corsMaxAge),
    allowsStore: flag('pmwebapi.store', DEFAULT_CONFIG.allowsStore),
    requiresUser: DEFAULT_CONFIG.requiresUser,
    names: list('ui.names')?.map((name) => name.toLowerCase()) ?? DEFAULT_CONFIG.names,
    origins,
    hosts,
    offeredHosts: offered ?? DEFAULT_CONFIG.offeredHosts,
    archiveDirs: list('ui.archives') ?? archiveDirs(variables),
    historyDir: values.get('ui.history'),
    alertLog: DEFAULT_CONFIG.alertLog,
    pageDir: values.get('ui.directory'),
    prometheus: prometheus(),
    push: pushConfig(values, flag('pmlogger.enabled', false), variables, report),
  }
}

function relaySettings({ servers, link: { username, password } }: KeySettings): KeyServers {
  return { servers, username, password }
}

function optionName(key: string): string {
  const dot = key.indexOf('.')
  return dot === 0
    ? `${key.slice(1)} outside of any section`
    : `${key.slice(dot + 1)} in [${key.slice(0, dot)}]`
}

/** Returns where loggers of an installed PCP put their archives. */
function archiveDirs(variables: Variables): readonly string[] {
  const dir = variables['PCP_ARCHIVE_DIR'] ?? variables['PCP_LOG_DIR']
  return dir === undefined ? [] : [variables['PCP_ARCHIVE_DIR'] ?? join(dir, 'pmlogger')]
}
