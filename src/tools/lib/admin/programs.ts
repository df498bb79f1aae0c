/** Running the other commands of this package, and programs of the system. */
import type { ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Variables } from '../../../sys/config.ts'
import { binDirOf } from '../agent-install/settings.ts'
import type { Owner } from './owner.ts'

/** How to run a program. */
export interface RunOptions {
  readonly cwd: string
  readonly env: Variables
  /** Whom it runs as; undefined for who we are. */
  readonly owner?: Owner | undefined
  /** Hears what it writes; to standard output and to standard error, in order, unless `writeError` hears the latter. */
  readonly write: (text: string) => void
  readonly writeError?: (text: string) => void
}

/**
 * Where a program is: beside the command that runs, in the directories of PCP's programs, or on the PATH. Undefined when it is
 * nowhere.
 */
export function findProgram(
  name: string,
  variables: Variables,
  ownBin: string = binDirOf(process.argv[1]!),
): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined
  const path = variables['PATH'] ?? '/usr/bin:/bin'
  const dirs = [ownBin, variables['PCP_BINADM_DIR'], variables['PCP_BIN_DIR'], ...path.split(':')]
  for (const dir of dirs) {
    if (dir === undefined || dir === '') continue
    const candidate = join(dir, name)
    if (isProgram(candidate)) return candidate
  }
  return undefined
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Runs a program and waits; resolves to its exit status, 128 and more for one that a signal ended. Rejects when it cannot be run. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<number> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const { cwd, env, owner, write, writeError } = options
  const isMerged = writeError === undefined
  // The shell makes both outputs one, so their lines stay in the order in which they were written.
  const child = isMerged
    ? spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', program, ...args], { cwd, env, ...owner, stdio: PIPES })
    : spawn(program, args, { cwd, env, ...owner, stdio: PIPES })
  const end = ended(child)
  // With EMFILE, the streams are undefined and the error is emitted later.
  const streams: readonly (readonly [Readable | undefined, (text: string) => void])[] = [
    [child.stdout, write],
    [child.stderr, writeError ?? write],
  ]
  for (const [stream, hear] of streams) stream?.setEncoding('utf8').on('data', hear)
  return await end
}

const PIPES: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
const STATUS_SIGNAL = 128

function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve(status ?? STATUS_SIGNAL))
  })
}

/** A process that goes on after us. */
export interface Daemon {
  readonly pid: number
  /** Its exit status once it has ended. */
  status(): number | undefined
}

/** Starts a program that stays; what it says before it has a log of its own goes to `fd`. Rejects when it cannot be run. */
export async function startDaemon(
  program: string,
  args: readonly string[],
  { cwd, env, fd, owner }: { cwd: string; env: Variables; fd: number; owner?: Owner | undefined },
): Promise<Daemon> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(program, args, { cwd, env, ...owner, detached: true, stdio: ['ignore', fd, fd] })
  let status: number | undefined
  child.on('exit', (code) => {
    status = code ?? STATUS_SIGNAL
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', resolve)
  })
  child.unref()
  return { pid: child.pid!, status: () => status }
}
