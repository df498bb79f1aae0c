/** File locations: PCP's from pcp.conf, a user's from the XDG variables. pcp.conf(5), pcp.env(5), XDG Base Directory Specification */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { delimiter } from 'node:path'
import { RUN_DIRS, runDirs, SERVICE_RUN_DIR } from './instances.ts'
import { trustedPath } from './trusted-path.ts'

/** Names to values: environment and pcp.conf variables. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Configuration of this installation. */
export interface PcpConfig {
  /** Path of the pcp.conf that was read; undefined if built-in defaults are used. */
  readonly path: string | undefined
  /** All variables: the environment overrides pcp.conf, which overrides the built-in defaults. */
  readonly variables: Variables
}

/** Options of `loadConfig`, for tests. */
export interface ConfigOptions {
  /** Reads a file; returns undefined if it is missing. */
  readonly readText?: (path: string) => string | undefined
  /** Effective user id: 0 defaults to the system's directories, any other to the user's own. */
  readonly uid?: number
}

/**
 * Finds and reads pcp.conf: `$PCP_CONF`, else `$PCP_DIR/etc/pcp.conf`, else /etc/pcp.conf or /usr/local/etc/pcp.conf.
 * Without one, directories below the user's XDG directories are assumed (the system's for root). Throws an Error that
 * names the missing file when `$PCP_CONF` or `$PCP_DIR` is set but wrong, and UntrustedPathError if
 * another user controls the user's settings.
 *
 * Unless a variable names a collector, PCP_TS_RUN_DIRS lists the directories in which one is looked for (docs/decisions/discovery.md).
 */
export function loadConfig(env: Variables, options: ConfigOptions = {}): PcpConfig {
  const readText = options.readText ?? readIfPresent
  const named =
    env['PCP_CONF'] ?? (env['PCP_DIR'] === undefined ? undefined : `${env['PCP_DIR']}/etc/pcp.conf`)
  const candidates = named === undefined ? ['/etc/pcp.conf', '/usr/local/etc/pcp.conf'] : [named]
  for (const path of candidates) {
    const text = readText(path)
    if (text !== undefined) {
      const file = parsePcpConf(text)
      return { path, variables: complete({ ...defaultDirs(env, 0), ...file, ...present(env) }, env) }
    }
  }
  if (named !== undefined)
    throw Object.assign(new Error(`Cannot read ${named}: correct PCP_CONF or PCP_DIR, or unset them`), {
      code: 'ENOENT',
    })
  const uid = options.uid ?? process.geteuid?.() ?? 0
  if (uid !== 0) {
    const { config, data } = userDirs(env)
    for (const dir of [config, data]) trustedPath(`${dir}/pcp`, 'set HOME to a directory of your own')
  }
  return { path: undefined, variables: complete({ ...defaultDirs(env, uid), ...present(env) }, env) }
}

/** Parses the `NAME=value` lines of a pcp.conf. One pair of quotes is removed; all other lines are ignored. */
export function parsePcpConf(text: string): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const equals = line.indexOf('=')
    if (line.startsWith('#') || equals <= 0) continue
    const name = line.slice(0, equals).trim()
    if (!/^[A-Za-z_]\w*$/.test(name)) continue
    const value = line.slice(equals + 1).trimEnd()
    const quote = value[0]
    const isQuoted = value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote)
    variables[name] = isQuoted ? value.slice(1, -1) : value
  }
  return variables
}

/** Returns the directory for files through which daemons are found. */
export function tmpDirOf(variables: Variables): string {
  return variables['PCP_TMP_DIR'] ?? '/var/lib/pcp/tmp'
}

/** Returns the default directories without a pcp.conf. */
function defaultDirs(env: Variables, uid: number): Record<string, string> {
  const user = userDirs(env)
  const isRoot = uid === 0
  const conf = isRoot ? '/etc' : user.config
  const run = isRoot ? '/run/pcp' : user.run
  const data = isRoot ? '/var/lib/pcp' : `${user.data}/pcp`
  const log = isRoot ? '/var/log/pcp' : `${user.state}/pcp`
  return {
    PCP_SYSCONF_DIR: `${conf}/pcp`,
    PCP_RUN_DIR: run,
    PCP_TMP_DIR: `${data}/tmp`,
    PCP_VAR_DIR: data,
    PCP_PMDAS_DIR: `${data}/pmdas`,
    PCP_LOG_DIR: log,
    PCP_ARCHIVE_DIR: `${log}/pmlogger`,
  }
}

/** Variables that name a collector or an installation, so that no other one is looked for. */
const NAMING: readonly string[] = ['PCP_CONF', 'PCP_DIR', 'PCP_RUN_DIR']
const NAMING_COLLECTOR: readonly string[] = ['PMCD_SOCKET', 'PMCD_PORT']

/**
 * Returns the run directories of the instances whose recordings and charts commands use: those in which collectors are looked for, or
 * that of the installation that the environment names.
 */
export function instanceDirs(env: Variables): readonly string[] {
  const { variables } = loadConfig(env)
  const isNamed = NAMING.some((name) => env[name] !== undefined)
  return isNamed && env[RUN_DIRS] === undefined ? [variables['PCP_RUN_DIR']!] : runDirs(variables)
}

/** Adds default paths of files that commands need, and the directories in which running collectors are looked for. */
function complete(variables: Variables, env: Variables): Variables {
  const conf = variables['PCP_SYSCONF_DIR']
  const isNamed =
    NAMING.some((name) => env[name] !== undefined) ||
    NAMING_COLLECTOR.some((name) => variables[name] !== undefined)
  const searched = isNamed ? [] : [userDirs(env).run, variables['PCP_RUN_DIR']!, SERVICE_RUN_DIR]
  return {
    [RUN_DIRS]: searched.join(delimiter),
    PCP_PMCDCONF_PATH: `${conf}/pmcd/pmcd.conf`,
    PCP_PMLOGGERCONTROL_PATH: `${conf}/pmlogger/control`,
    PCP_PMIECONTROL_PATH: `${conf}/pmie/control`,
    ...variables,
  }
}

function present(env: Variables): Variables {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined) result[name] = value
  return result
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // treated as missing: the next place is tried, or the caller reports it
  }
}

/** A user's directories for settings, data and state, none of them below a shared directory. */
export interface UserDirs {
  readonly config: string
  readonly data: string
  readonly state: string
  /** Directory for sockets and process ids: `pcp` below the runtime directory, or below `state` if the session has none. */
  readonly run: string
}

/** Returns the directories from the environment, or the defaults below the user's home. */
export function userDirs(env: Variables): UserDirs {
  const home = homeDir(env)
  const named = (name: string, otherwise: string): string => {
    const path = env[name]
    // The specification requires relative paths to be ignored.
    return path?.startsWith('/') ? path : otherwise
  }
  const state = named('XDG_STATE_HOME', `${home}/.local/state`)
  const runtime = named('XDG_RUNTIME_DIR', '')
  return {
    config: named('XDG_CONFIG_HOME', `${home}/.config`),
    data: named('XDG_DATA_HOME', `${home}/.local/share`),
    state,
    run: runtime === '' ? `${state}/pcp/run` : `${runtime}/pcp`,
  }
}

/** Returns $HOME, or the account's home if that is unset; a directory that does not exist for an account without one. */
export function homeDir(env: Variables): string {
  const home = env['HOME']
  if (home?.startsWith('/')) return home
  try {
    return userInfo().homedir
  } catch {
    return '/nonexistent' // a user id without an account
  }
}
