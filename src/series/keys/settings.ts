/** Settings of key servers, from the options of pmproxy.conf and pmseries.conf. docs/reference/key-server.md */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { PcpError } from '../../model/errors.ts'
import { KEY_PORT, type KeyServer, parseKeyServer } from './address.ts'
import type { LinkOptions } from './link.ts'
import type { KeyLoaderOptions } from './loader.ts'

/** Which key servers, and how they are used. */
export interface KeySettings {
  /** In order of preference. One server of a cluster is enough. */
  readonly servers: readonly KeyServer[]
  readonly link: LinkOptions
  readonly loader: KeyLoaderOptions
}

/** Options by `section.name`. */
type Options = ReadonlyMap<string, string>

/**
 * Returns the settings of a configuration. `KEY_SERVERS` of the environment replaces its servers, PCP_SECTION_OPTION other options;
 * `report` gets options that cannot be used. Errors of certificate files.
 */
export function keySettings(
  given: Options,
  env: Readonly<Record<string, string | undefined>>,
  report: (problem: string) => void,
): KeySettings {
  const first = (...keys: readonly string[]): string | undefined => {
    for (const key of keys) {
      const value = env[`PCP_${key.replace(/[.-]/g, '_').toUpperCase()}`] || given.get(key)
      if (value !== undefined && value !== '') return value
    }
    return undefined
  }
  const count = (key: string): number | undefined => {
    const text = first(`keys.${key}`, `pmseries.${key}`, `redis.${key}`)
    if (text === undefined || /^[1-9]\d{0,8}$/.test(text))
      return text === undefined ? undefined : Number(text)
    report(`${key} must be a whole number above 0, not ${text}`)
    return undefined
  }
  const texts =
    env['KEY_SERVERS'] || first('keys.servers', 'redis.servers', 'pmseries.servers') || 'localhost'
  const found = listOf(texts).flatMap((text) => {
    const server = parseServerUrl(text)
    if (server === undefined) report(`invalid key server ${text}: use HOST:PORT`)
    return server ?? []
  })
  const secure = first('keys.tls', 'redis.tls')
  const isSecure = found.some((each) => each.isSecure) || /^(?:true|yes|on|1)$/i.test(secure ?? '')
  return {
    servers: found.map(({ host, port }) => ({ host, port })),
    link: {
      username:
        found.find((each) => each.username)?.username ?? first('keys.username', 'pmseries.auth.username'),
      password:
        found.find((each) => each.password)?.password ?? first('keys.password', 'pmseries.auth.password'),
      ...(isSecure ? { tls: tlsOf(first) } : {}),
    },
    loader: {
      maxSamples: count('stream.maxlen'),
      expireSeconds: count('stream.expire'),
      excludeMetrics: listOf(first('discover.exclude.metrics') ?? ''),
      usesFirstLabels: env['PCP_SERIES_FIRST_LABELS'] === '1',
      excludeIndoms: listOf(first('discover.exclude.indoms') ?? ''),
    },
  }
}

/** A server, and the account and encryption of its address. */
interface ServerUrl extends KeyServer {
  readonly isSecure: boolean
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Parses `HOST:PORT`, and `rediss://USER:PASSWORD@HOST:PORT` or with redis, valkey or valkeys. */
function parseServerUrl(text: string): ServerUrl | undefined {
  const [, scheme, login, address = text] =
    /^(redis|valkey)(?:s)?:\/\/(?:([^@/]*)@)?([^/]*)\/?$/.exec(text) ?? []
  const server = parseKeyServer(address)
  if (server === undefined) return undefined
  const isSecure = scheme !== undefined && text.startsWith(`${scheme}s:`)
  if (login === undefined) return { ...server, isSecure }
  const colon = login.indexOf(':')
  const [username, password] = colon < 0 ? ['', login] : [login.slice(0, colon), login.slice(colon + 1)]
  return {
    ...server,
    isSecure,
    username: decoded(username) || undefined,
    password: decoded(password),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function tlsOf(first: (...keys: readonly string[]) => string | undefined): ConnectionOptions {
  const file = (key: string): Buffer | undefined => {
    const path = first(key)
    if (path === undefined) return undefined
    try {
      return readFileSync(path)
    } catch (error) {
      throw PcpError.from(error, `${key}: ${path}`)
    }
  }
  const [ca, cert, key] = ['keys.tls.ca', 'keys.tls.cert', 'keys.tls.key'].map(file)
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** Returns the settings with another server, as -h and -p name it. */
export function withServer(
  settings: KeySettings,
  host: string | undefined,
  port: number | undefined,
): KeySettings {
  if (host === undefined && port === undefined) return settings
  return { ...settings, servers: [{ host: host ?? 'localhost', port: port ?? KEY_PORT }] }
}
