/** Where `npm start` keeps things: directories of one user, and the pcp.conf that tells tools of either side. */
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { MOST_SOCKET_PATH } from '../net/listen.ts'
import type { Variables } from '../sys/config.ts'
import { type UserDirs, userDirs } from '../sys/config.ts'
import { makeDir } from '../sys/make-dir.ts'
import { hasTrustedTree, insistOnTrustedStart, trustedPath } from '../sys/trusted-path.ts'

/** The directories and files of one running system. */
export interface Place {
  /** The pcp.conf that describes the rest. */
  readonly confPath: string
  readonly socketPath: string
  readonly logPath: string
  /** Archives of all hosts; those of one are in a directory of its name. */
  readonly archiveDir: string
  readonly loggerLogPath: string
  /** What pcp.conf says. */
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Plans the places below `dir`, or in the user's XDG directories. `binDir` holds our commands. What an installed
 * PCP's pcp.conf (`installed`) says of programs stays; where state goes is always ours.
 */
export function planPlace(
  dir: string | undefined,
  env: Variables,
  binDir: string,
  installed: Readonly<Record<string, string>>,
): Place {
  const roots = dir === undefined ? rootsOfUser(userDirs(env)) : rootsIn(resolve(dir))
  const variables: Record<string, string> = {
    PCP_VERSION: VERSION,
    PCP_PLATFORM: process.platform,
    PCP_BIN_DIR: binDir,
    PCP_BINADM_DIR: binDir,
    ...installed,
    PCP_SYSCONF_DIR: roots.conf,
    PCP_PMCDCONF_PATH: join(roots.conf, 'pmcd', 'pmcd.conf'),
    // An installed PCP's names a key that only its own account reads.
    PCP_TLSCONF_PATH: env['PCP_TLSCONF_PATH'] || join(roots.conf, 'tls.conf'),
    PCP_VAR_DIR: roots.data,
    PCP_PMDAS_DIR: join(roots.data, 'pmdas'),
    PCP_TMP_DIR: join(roots.data, 'tmp'),
    PCP_LOG_DIR: roots.log,
    PCP_ARCHIVE_DIR: roots.archives,
    PCP_RUN_DIR: roots.run,
  }
  return {
    confPath: join(roots.conf, 'pcp.conf'),
    socketPath: join(roots.run, 'pmcd.socket'),
    logPath: join(roots.log, 'pmcd', 'pmcd.log'),
    archiveDir: roots.archives,
    loggerLogPath: join(roots.log, 'pmlogger', 'pmlogger.log'),
    variables,
  }
}

interface Roots {
  readonly conf: string
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

function rootsIn(dir: string): Roots {
  return {
    conf: join(dir, 'etc'),
    data: join(dir, 'lib'),
    log: join(dir, 'log'),
    archives: join(dir, 'archives'),
    run: join(dir, 'run'),
  }
}

const ELSEWHERE = 'choose another place: npm start -- --dir DIR'

/**
 * Makes the directories and writes pcp.conf and the agents' configuration. Throws PcpError naming the directory that cannot be
 * written, or that another user controls.
 */
export function makePlace(place: Place): void {
  const { variables, confPath, socketPath, logPath } = place
  const tmpDir = variables['PCP_TMP_DIR']!
  const dirs = [dirname(confPath), dirname(socketPath), dirname(logPath), tmpDir]
  for (const dir of dirs) {
    insistOnOwn(() => insistOnTrustedStart(dir, ELSEWHERE))
    try {
      makeDir(dir, 0o755)
      accessSync(dir, constants.W_OK)
    } catch (error) {
      const { code, message } = PcpError.from(error)
      const why = code === 'PM_ERR_GENERIC' ? message : PcpError.from(error).text
      throw new PcpError('EACCES', `Cannot write to ${dir}: ${why}; ${ELSEWHERE}`, { cause: error })
    }
  }
  const { archiveDir } = place
  // Also those just made: another user may have been faster.
  insistOnOwn(() => {
    for (const dir of [...dirs, archiveDir]) trustedPath(dir, ELSEWHERE)
    for (const dir of [dirname(confPath), ...settingsBelow(variables['PCP_VAR_DIR']!, tmpDir)])
      hasTrustedTree(dir, ELSEWHERE)
  })
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

/** Returns the entries of the data directory except the mapped values, which other users may write. */
function settingsBelow(dataDir: string, tmpDir: string): readonly string[] {
  return readdirSync(dataDir)
    .map((name) => join(dataDir, name))
    .filter((path) => path !== tmpDir)
}

/** Writes a file that its user may then change. */
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

/** The socket's path when the system can bind it. */
export function usableSocketPath(place: Place): string | undefined {
  return Buffer.byteLength(place.socketPath) <= MOST_SOCKET_PATH ? place.socketPath : undefined
}
