/** Where files are: PCP's by pcp.conf, those of one user by the XDG variables. pcp.conf(5), pcp.env(5), XDG Base Directory Specification */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { trustedPath } from './trusted-path.ts'

/** Names to values: environment and pcp.conf variables. */
export type Variables = Readonly<Record<string, string | undefined>>

/** What is known about this installation. */
export interface PcpConfig {
  /** The pcp.conf that was read; undefined when there is none and built-in defaults hold. */
  readonly path: string | undefined
  /** Every variable: the environment wins over pcp.conf, which wins over the built-in defaults. */
  readonly variables: Variables
}

/** How a config is found, besides by the environment. */
export interface ConfigOptions {
  /** Reads a file, or gives undefined when there is none. */
  readonly readText?: (path: string) => string | undefined
  /** Effective user id: 0 gets the system's directories by default, everybody else their own. */
  readonly uid?: number
}

/**
 * Finds and reads pcp.conf: `$PCP_CONF`, else `$PCP_DIR/etc/pcp.conf`, else /etc/pcp.conf or /usr/local/etc/pcp.conf.
 * Without one, directories below the user's XDG directories are assumed (the system's for root). Throws an Error that
 * says which file is missing when `$PCP_CONF` or `$PCP_DIR` names one, and UntrustedPathError where
 * the user's settings are under another user's control.
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
      return { path, variables: withPaths({ ...defaultDirs(env, 0), ...file, ...present(env) }) }
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
  return { path: undefined, variables: withPaths({ ...defaultDirs(env, uid), ...present(env) }) }
}

/** The `NAME=value` lines of a pcp.conf; a pair of outer quotes is removed, all other lines are ignored. */
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

/** Returns where daemons keep the files by which others find them. */
export function tmpDirOf(variables: Variables): string {
  return variables['PCP_TMP_DIR'] ?? '/var/lib/pcp/tmp'
}

/** Directories where there is no pcp.conf. */
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

/** Adds the files that commands take for granted, where they usually are in the directories. */
function withPaths(variables: Variables): Variables {
  const conf = variables['PCP_SYSCONF_DIR']
  return {
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
    return undefined // unreadable is as good as missing: the next place is tried, or the caller is told
  }
}

/** Where a user's settings, data and state are; none of them is below a directory that others share. */
export interface UserDirs {
  readonly config: string
  readonly data: string
  readonly state: string
  /** Sockets and process ids: `pcp` below the runtime directory, or below `state` where the session has none. */
  readonly run: string
}

/** Returns the directories that the environment names, or those below the user's home. */
export function userDirs(env: Variables): UserDirs {
  const home = homeDir(env)
  const named = (name: string, otherwise: string): string => {
    const path = env[name]
    // The specification wants relative paths ignored: they would mean another place in each directory.
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

/** Returns $HOME, or the home of the account where it is unset; a directory that does not exist for an account without one. */
export function homeDir(env: Variables): string {
  const home = env['HOME']
  if (home?.startsWith('/')) return home
  try {
    return userInfo().homedir
  } catch {
    return '/nonexistent' // a user id without an account
  }
}
