/** Starting a recorder or rule engine for a control file, and waiting until it can be found. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { CheckRun } from './check-options.ts'
import type { Instance } from './instances.ts'
import { type Owner, pcpAccount } from './owner.ts'
import { findProgram, startDaemon } from './programs.ts'
import { runningEngines, runningLoggers, until } from './running.ts'

/** Longest that a daemon may take until it can be found: collectors far away answer late. */
const START_MS = 30_000

/** What is started, and how it shows. */
export interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Where it says why it cannot go on. */
  readonly logPath: string
  /** The id of the process that is there now; undefined when there is none yet. */
  readonly find: () => number | undefined
}

/** Starts it, and tells so; when it ends or cannot be found in time, what it said. Rejects when it cannot be run. */
export async function startInstance(instance: Instance, start: Start, run: CheckRun): Promise<void> {
  const { program, args, cwd, find } = start
  const { voice, io, isTerse } = run
  const path = findProgram(program, instance.variables)
  const what = instance.isPrimary && program === 'pmlogger' ? `primary ${program}` : program
  const announced = `Restarting ${what} for host "${instance.host}" ...`
  const isAnnounced = !isTerse && (voice.showsOnly || voice.verbosity > 0)
  if (isAnnounced) voice.part(`${announced}${voice.showsOnly ? '\n' : ''}`)
  if (voice.showsOnly) {
    voice.show([path ?? program, ...args].join(' '))
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
    // One that goes into the background ends at once, with success.
    const hasFailed = (): boolean => (daemon.status() ?? 0) !== 0
    await until(START_MS, io.signal, () => find() !== undefined || hasFailed())
    const pid = find()
    if (pid !== undefined) {
      if (voice.verbosity > 0) voice.line(` [process ${pid}]  done`)
      return
    }
    const how = hasFailed() ? 'process exited!' : `not ready after ${START_MS / 1000} seconds`
    voice.part(`${isAnnounced ? '' : announced} ${how}\n`)
    tellFailure(start, { run, said: readFileSync(said, 'utf8'), begun })
  } finally {
    closeSync(fd)
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Whom root starts daemons as, unless -U says it: they need no more than PCP's account. */
function accountFor({ args, variables }: Instance): Owner | undefined {
  if (args.some((arg) => /^(?:-U|--username)/.test(arg))) return undefined
  return pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
}

/** Times of files may be a little behind those of the clock. */
const CLOCK_MS = 2000

/** Says why there is no daemon, as PCP's commands do: in the words of the daemon, and with those that there are. */
function tellFailure(
  { program, logPath }: Start,
  { run, said, begun }: { run: CheckRun; said: string; begun: number },
): void {
  const { voice, io, isTerse, variables } = run
  voice.fail()
  if (!isTerse) {
    voice.line(`${io.progname}: Error: failed to restart ${program}`)
    voice.line(`Current ${program} processes:`)
    const pids = program === 'pmie' ? runningEngines(variables) : runningLoggers(variables)
    for (const { pid } of pids) voice.line(`${String(pid).padStart(7)} ${commandLine(pid)}`)
    voice.line('')
  }
  if (said.trim() !== '') voice.line(said.trimEnd())
  const stats = statSync(logPath, { throwIfNoEntry: false })
  if (stats?.isFile() !== true || stats.mtimeMs < begun - CLOCK_MS) return // it did not come so far
  voice.line(`Contents of ${program} output file "${basename(logPath)}" ...`)
  voice.part(readFileSync(logPath, 'utf8'))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trimEnd()
  } catch {
    return '' // it has ended just now, or this system does not say
  }
}
