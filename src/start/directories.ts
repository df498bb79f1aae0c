/** Directories of `npm start`, all of one user, and the pcp.conf that points our tools and PCP's to them. */
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { MAX_SOCKET_PATH } from '../net/listen.ts'
import { makeArchiveDir } from '../sys/archive-access.ts'
import type { Variables } from '../sys/config.ts'
import { type UserDirs, userDirs } from '../sys/config.ts'
import { makeDir } from '../sys/make-dir.ts'
import { assertTrustedPrefix, hasTrustedTree, trustedPath } from '../sys/trusted-path.ts'
import type { StartOptions } from './settings.ts'
import { MIGRATIONS } from './state-migrations.ts'
import {
  type AppliedMigration,
  refuseNewerState,
  type StateRoots,
  upgradeState,
  withStateLock,
} from './state-version.ts'

/** Directories and files of one running system. */
export interface StartDirectories {
  /** The pcp.conf that names all other paths. */
  readonly confPath: string
  readonly socketPath: string
  readonly logPath: string
  /** Archives of all hosts, in one directory per host. */
  readonly archiveDir: string
  readonly loggerLogPath: string
  /** Variables of pcp.conf. */
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Plans the paths below `dir`, or in the user's XDG directories. `binDir` holds our commands. Programs named in an
 * installed PCP's pcp.conf (`installed`) are kept; state always goes to our own directories.
 */
export function planDirectories(
  dir: string | undefined,
  env: Variables,
  binDir: string,
  installed: Readonly<Record<string, string>>,
): StartDirectories {
  const roots = dir === undefined ? rootsOfUser(userDirs(env)) : rootsIn(resolve(dir))
  return planIn(roots, env, binDir, installed)
}

/**
 * Plans the paths of the system's service in the directories that the service manager has made, which it names in the environment
 * (systemd.exec(5)), or in their usual places. An installed PCP's are different.
 */
export function planSystemDirectories(
  env: Variables,
  binDir: string,
  installed: Readonly<Record<string, string>>,
): StartDirectories {
  return planIn(rootsOfService(env), env, binDir, installed)
}

function planIn(
  roots: Roots,
  env: Variables,
  binDir: string,
  installed: Readonly<Record<string, string>>,
): StartDirectories {
  const variables: Record<string, string> = {
    PCP_VERSION: VERSION,
    PCP_PLATFORM: process.platform,
    PCP_BIN_DIR: binDir,
    PCP_BINADM_DIR: binDir,
    ...installed,
    PCP_SYSCONF_DIR: roots.conf,
    PCP_PMCDCONF_PATH: join(roots.conf, 'pmcd', 'pmcd.conf'),
    // The key that an installed PCP names is readable for its own account only.
    PCP_TLSCONF_PATH: env['PCP_TLSCONF_PATH'] || join(roots.conf, 'tls.conf'),
    PCP_VAR_DIR: roots.data,
    PCP_PMDAS_DIR: join(roots.data, 'pmdas'),
    PCP_TMP_DIR: join(roots.data, 'tmp'),
    PCP_LOG_DIR: roots.log,
    PCP_ARCHIVE_DIR: roots.archives,
    PCP_RUN_DIR: roots.run,
  }
  return {
    confPath: join(roots.confFile ?? roots.conf, 'pcp.conf'),
    socketPath: join(roots.run, 'pmcd.socket'),
    logPath: join(roots.log, 'pmcd', 'pmcd.log'),
    archiveDir: roots.archives,
    loggerLogPath: join(roots.log, 'pmlogger', 'pmlogger.log'),
    variables,
  }
}

/** Returns the directory of this host's archives. */
export function hostArchiveDir({ archiveDir }: StartDirectories): string {
  return join(archiveDir, hostname())
}

/** Returns the path of the alert log of an instance. */
export function alertLogPath({ variables }: StartDirectories): string {
  return join(variables['PCP_LOG_DIR']!, 'pmie', 'alerts.jsonl')
}

interface Roots {
  readonly conf: string
  /** Directory of the generated pcp.conf, if not that of the settings. */
  readonly confFile?: string
  readonly data: string
  readonly log: string
  readonly archives: string
  readonly run: string
}

function rootsOfUser({ config, data, state, run }: UserDirs): Roots {
  return {
    conf: join(config, 'pcp'),
    data: join(data, 'pcp'),
    log: join(state, 'pcp', 'log'),
    archives: join(state, 'pcp', 'archives'),
    run,
  }
}

function rootsOfService(env: Variables): Roots {
  const made = (name: string, otherwise: string): string => {
    // Several directories are separated by colons.
    const [path = ''] = (env[name] ?? '').split(':')
    return path.startsWith('/') ? path : otherwise
  }
  const log = made('LOGS_DIRECTORY', '/var/log/pcp-ts')
  const run = made('RUNTIME_DIRECTORY', '/run/pcp-ts')
  return {
    conf: made('CONFIGURATION_DIRECTORY', '/etc/pcp-ts'),
    // The settings belong to root: the service cannot change them.
    confFile: run,
    data: made('STATE_DIRECTORY', '/var/lib/pcp-ts'),
    log,
    archives: join(log, 'archives'),
    run,
  }
}

function rootsIn(dir: string): Roots {
  return {
    conf: join(dir, 'etc'),
    data: join(dir, 'lib'),
    log: join(dir, 'log'),
    archives: join(dir, 'archives'),
    run: join(dir, 'run'),
  }
}

/**
 * Creates the directories, upgrades those of an older version, and writes pcp.conf and the agents' configuration. Returns the
 * upgrades. Rejects with a PcpError that names a directory that is not writable, that another user controls, or that a newer version
 * wrote; nothing was written then. `command` is that of StartOptions.
 */
export async function createDirectories(
  place: StartDirectories,
  { command, records }: Pick<StartOptions, 'command' | 'records'>,
): Promise<readonly AppliedMigration[]> {
  const roots: StateRoots = {
    settings:
      place.variables['PCP_SYSCONF_DIR'] === dirname(place.confPath) ? dirname(place.confPath) : undefined,
    data: place.variables['PCP_VAR_DIR']!,
    archives: records ? place.archiveDir : undefined,
  }
  refuseNewerState(roots, MIGRATIONS)
  makeDirectories(place, `choose another directory: ${command} --dir DIR`)
  // The recorder reports a directory that cannot be created, and repeats its attempts.
  const hasArchives = records && makeArchives(place)
  const present = hasArchives ? roots : { ...roots, archives: undefined }
  return withStateLock(present, () => {
    const applied = upgradeState(present, MIGRATIONS, Date.now())
    writeSettings(place)
    return applied
  })
}

function makeDirectories(place: StartDirectories, advice: string): void {
  const { variables, confPath, socketPath, logPath } = place
  const tmpDir = variables['PCP_TMP_DIR']!
  const dirs = [dirname(confPath), dirname(socketPath), dirname(logPath), tmpDir]
  for (const dir of dirs) {
    insistOnOwn(() => assertTrustedPrefix(dir, advice))
    try {
      makeDir(dir, 0o755)
      accessSync(dir, constants.W_OK)
    } catch (error) {
      const { code, message } = PcpError.from(error)
      const why = code === 'PM_ERR_GENERIC' ? message : PcpError.from(error).text
      throw new PcpError('EACCES', `Cannot write to ${dir}: ${why}; ${advice}`, { cause: error })
    }
  }
  // Checks new directories too: another user might have created them first.
  insistOnOwn(() => {
    for (const dir of [...dirs, place.archiveDir]) trustedPath(dir, advice)
    for (const dir of [variables['PCP_SYSCONF_DIR']!, ...settingsBelow(variables['PCP_VAR_DIR']!, tmpDir)])
      hasTrustedTree(dir, advice)
  })
}

function makeArchives({ archiveDir, variables }: StartDirectories): boolean {
  try {
    makeArchiveDir(archiveDir, variables)
    accessSync(archiveDir, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function writeSettings({ variables, confPath }: StartDirectories): void {
  provide(join(variables['PCP_PMDAS_DIR']!, 'simple', 'simple.conf'), 'sec,min,hour\n')
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  writeOwn(confPath, `# Written by pcp-ts at every start.\n${lines.join('\n')}\n`)
}

function insistOnOwn(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw PcpError.from(error)
  }
}

/** Returns the entries of the data directory except memory-mapped values, which other users may write. */
function settingsBelow(dataDir: string, tmpDir: string): readonly string[] {
  return readdirSync(dataDir)
    .map((name) => join(dataDir, name))
    .filter((path) => path !== tmpDir)
}

/** Writes a default file that the user may change later. */
function provide(path: string, text: string): void {
  if (existsSync(path)) return
  makeDir(dirname(path), 0o755)
  writeOwn(path, text)
}

/** Writes a file, never through a link. */
function writeOwn(path: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  const fd = openSync(path, flags, 0o644)
  try {
    writeFileSync(fd, text)
  } finally {
    closeSync(fd)
  }
}

/** Returns the path of the file with the collector's process number. */
export function pidPath({ variables }: StartDirectories): string {
  return join(variables['PCP_RUN_DIR']!, 'pmcd.pid')
}

/** Returns the socket's path if the system can bind it. */
export function usableSocketPath(place: StartDirectories): string | undefined {
  return Buffer.byteLength(place.socketPath) <= MAX_SOCKET_PATH ? place.socketPath : undefined
}
