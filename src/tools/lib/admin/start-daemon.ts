/** Starts a logger or rule engine of a control file, and waits until it is registered. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { CheckRun } from './check-options.ts'
import type { Instance } from './instances.ts'
import { type Owner, pcpAccount } from './owner.ts'
import { findProgram, startDaemon } from './programs.ts'
import { runningEngines, runningLoggers, waitUntil } from './running.ts'

/** Longest wait for registration: remote collectors can be slow to answer. */
const START_MS = 30_000

/** What to start and how to find it. */
export interface DaemonStart {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The daemon's log, shown if it fails. */
  readonly logPath: string
  /** Returns the id of the running process; undefined if there is no such process yet. */
  readonly find: () => number | undefined
}

/** Starts a daemon and reports it. If it exits or is not found in time, its output is reported. Rejects if it cannot be run. */
export async function startInstance(instance: Instance, start: DaemonStart, run: CheckRun): Promise<void> {
  const { program, args, cwd, find } = start
  const { reporter, io, isTerse } = run
  const path = findProgram(program, instance.variables)
  const what = instance.isPrimary && program === 'pmlogger' ? `primary ${program}` : program
  const announced = `Restarting ${what} for host "${instance.host}" ...`
  const isAnnounced = !isTerse && (reporter.showsOnly || reporter.verbosity > 0)
  if (isAnnounced) reporter.text(`${announced}${reporter.showsOnly ? '\n' : ''}`)
  if (reporter.showsOnly) {
    reporter.show([path ?? program, ...args].join(' '))
    return
  }
  if (path === undefined) throw new PcpError('ENOENT', `cannot find the command ${program}`)
  const dir = mkdtempSync(join(tmpdir(), `${program}-`))
  const said = join(dir, 'said')
  const fd = openSync(said, 'wx', 0o600)
  const begun = io.now()
  try {
    const owner = accountFor(instance)
    const daemon = await startDaemon(path, args, { cwd, env: instance.variables, fd, owner })
    // A daemon that moves to the background exits immediately with status 0.
    const hasFailed = (): boolean => (daemon.status() ?? 0) !== 0
    await waitUntil(START_MS, io.signal, () => find() !== undefined || hasFailed())
    const pid = find()
    if (pid !== undefined) {
      if (reporter.verbosity > 0) reporter.line(` [process ${pid}]  done`)
      return
    }
    const how = hasFailed() ? 'process exited!' : `not ready after ${START_MS / 1000} seconds`
    reporter.text(`${isAnnounced ? '' : announced} ${how}\n`)
    tellFailure(start, { run, said: readFileSync(said, 'utf8'), begun })
  } finally {
    closeSync(fd)
    rmSync(dir, { recursive: true, force: true })
  }
}

/** The account that root starts a daemon as, unless its arguments have -U: PCP's, which has all the rights it needs. */
function accountFor({ args, variables }: Instance): Owner | undefined {
  if (args.some((arg) => /^(?:-U|--username)/.test(arg))) return undefined
  return pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
}

/** File times can be slightly behind the clock. */
const CLOCK_MS = 2000

/** Reports a failed start as PCP's commands do: the running processes, and the daemon's output and log. */
function tellFailure(
  { program, logPath }: DaemonStart,
  { run, said, begun }: { run: CheckRun; said: string; begun: number },
): void {
  const { reporter, io, isTerse, variables } = run
  reporter.fail()
  if (!isTerse) {
    reporter.line(`${io.progname}: Error: failed to restart ${program}`)
    reporter.line(`Current ${program} processes:`)
    const pids = program === 'pmie' ? runningEngines(variables) : runningLoggers(variables)
    for (const { pid } of pids) reporter.line(`${String(pid).padStart(7)} ${commandLine(pid)}`)
    reporter.line('')
  }
  if (said.trim() !== '') reporter.line(said.trimEnd())
  const stats = statSync(logPath, { throwIfNoEntry: false })
  if (stats?.isFile() !== true || stats.mtimeMs < begun - CLOCK_MS) return // the daemon did not open its log
  reporter.line(`Contents of ${program} output file "${basename(logPath)}" ...`)
  reporter.text(readFileSync(logPath, 'utf8'))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trimEnd()
  } catch {
    return '' // it has just ended, or there is no /proc
  }
}
