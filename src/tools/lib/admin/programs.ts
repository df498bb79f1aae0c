/** Running the other commands of this package, and programs of the system. */
import type { ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Variables } from '../../../sys/config.ts'
import { ownBinDir } from '../own-program.ts'
import type { Owner } from './owner.ts'

/** How to run a program. */
export interface RunOptions {
  readonly cwd: string
  readonly env: Variables
  /** Account to run as; default is the current one. */
  readonly owner?: Owner | undefined
  /** Receives standard output and standard error in order, or only standard output if `writeError` is given. */
  readonly write: (text: string) => void
  readonly writeError?: (text: string) => void
}

/** Finds a program beside the running command, in PCP's program directories, or on the PATH. */
export function findProgram(
  name: string,
  variables: Variables,
  ownBin: string = ownBinDir(),
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

/** Runs a program and resolves to its exit status, 128 plus the signal number if a signal killed it. Rejects if it cannot be run. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<number> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const { cwd, env, owner, write, writeError } = options
  const isMerged = writeError === undefined
  // The shell merges both outputs into one pipe, which keeps the order of their lines.
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

/** A process that outlives this one. */
export interface Daemon {
  readonly pid: number
  /** Its exit status; undefined while it runs. */
  status(): number | undefined
}

/** Starts a program in the background; its output before it opens its own log goes to `fd`. Rejects if it cannot be run. */
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
