/** Starting the daemon of an instance by the check command, and stopping it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { pcpAccount } from '../admin/owner.ts'
import { findProgram, runProgram } from '../admin/programs.ts'
import { until } from '../admin/running.ts'
import type { FarmInstance } from './farm-files.ts'
import type { RunningDaemon } from './kinds.ts'
import type { FarmRun } from './run.ts'
import { migrate } from './service-manager.ts'

/** What of an instance finds its daemon. */
export type Whereabouts = Pick<FarmInstance, 'file' | 'host' | 'place' | 'isPrimary'>

/** Longest that a daemon may take to be there once the check command has ended well, and to be gone. */
const START_MS = 60_000
const STOP_MS = 20_000

/** The daemon of an instance; undefined when there is none. */
export function daemonOf(
  { kind, variables }: FarmRun,
  { place, isPrimary }: Whereabouts,
): RunningDaemon | undefined {
  return kind.running(variables).find(place, isPrimary)
}

/** Starts the daemon of an instance; false, and warned of, when it is not there afterwards. */
export async function launch(run: FarmRun, instance: Whereabouts): Promise<boolean> {
  const { kind, variables, checkArgs, showsOnly, say, tell, warn, io } = run
  const args = [...checkArgs, '-c', instance.file]
  const account = pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
  if (showsOnly) {
    const user = variables['PCP_USER'] ?? 'pcp'
    const group = variables['PCP_GROUP'] ?? user
    say(`+ sudo -u ${user} -g ${group} ${[shownProgram(kind.checker, run), ...args].join(' ')}`)
    return true
  }
  const program = findProgram(kind.checker, variables)
  if (program === undefined)
    throw new PcpError('ENOENT', `cannot find the command ${kind.checker}: is this package installed whole?`)
  let said = ''
  const write = (text: string): void => {
    said += text
  }
  const status = await runProgram(program, args, { cwd: '/', env: variables, owner: account, write })
  if (said !== '') tell(1, said.trimEnd())
  const isThere = (): boolean => daemonOf(run, instance) !== undefined
  const isStarted = await until(status === 0 ? START_MS : 0, io.signal, isThere)
  tell(2, `Started? ${isStarted ? 'yes' : 'no'}`)
  if (isStarted) await migrateTo(run, instance)
  else warn(`${kind.service} failed to start for host ${instance.host} and directory ${instance.place}`)
  return isStarted
}

/** With -m: the daemon becomes one of the farm's service. */
export async function migrateTo(run: FarmRun, instance: Whereabouts): Promise<void> {
  const daemon = daemonOf(run, instance)
  if (run.migrates && !run.showsOnly && daemon !== undefined) await migrate(run, daemon.pid)
}

/**
 * Stops the daemon of an instance. True when it is gone, or was never there, which is warned of; false, and warned of, when it
 * stays.
 */
export async function stopDaemon(run: FarmRun, instance: Whereabouts): Promise<boolean> {
  const { kind, showsOnly, say, tell, warn, io, variables } = run
  const { host, place } = instance
  tell(1, `Looking for ${kind.service} using directory ${place} ...`)
  const daemon = daemonOf(run, instance)
  if (daemon === undefined) {
    warn(`cannot find PID for host ${host} ${kind.service}, already exited?`)
    return true
  }
  // PCP's test suite has a daemon that does not stop, by a signal that does not end it.
  const signal = variables['PCPQA_KILL_SIGNAL'] || 'TERM'
  tell(1, `Found PID ${daemon.pid} to stop using signal ${signal}`)
  if (showsOnly) {
    say(`+ ${shownProgram('pmsignal', run)} -s ${signal} ${daemon.pid}`)
    return true
  }
  sendSignal(daemon.pid, signal)
  const isGone = await until(STOP_MS, io.signal, () => daemonOf(run, instance) === undefined)
  tell(2, `Stopped? ${isGone ? 'yes' : 'no'}`)
  if (!isGone)
    warn(`${kind.service} failed to stop for host ${host} and directory ${place} (PID=${daemon.pid})`)
  return isGone
}

function sendSignal(pid: number, signal: string): void {
  try {
    process.kill(pid, `SIG${signal}`)
  } catch (error) {
    const { code, text } = PcpError.from(error)
    if (code !== 'ESRCH') throw new PcpError(code, `cannot stop process ${pid}: ${text}`, { cause: error })
  }
}

/** A program as a dry run shows it: where PCP keeps it, if it does. */
function shownProgram(name: string, { variables }: FarmRun): string {
  const usual = join(variables['PCP_BINADM_DIR'] ?? '', name)
  return findProgram(usual, variables) ?? findProgram(name, variables) ?? name
}
