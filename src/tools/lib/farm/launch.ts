/** Starts an instance's daemon through the check command, and stops it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { pcpAccount } from '../admin/owner.ts'
import { findProgram, runProgram } from '../admin/programs.ts'
import { waitUntil } from '../admin/running.ts'
import { makeStateDirs } from '../admin/state-dirs.ts'
import type { FarmInstance } from './farm-files.ts'
import type { RunningDaemon } from './kinds.ts'
import type { FarmRun } from './run.ts'
import { migrate } from './service-manager.ts'

/** The fields of an instance by which its daemon is found. */
export type DaemonKey = Pick<FarmInstance, 'file' | 'host' | 'path' | 'isPrimary'>

/** Time for a daemon to register after a successful check command, and to stop. */
const START_MS = 60_000
const STOP_MS = 20_000

/** Finds the daemon of an instance; undefined if it is not running. */
export function daemonOf(
  { kind, variables }: FarmRun,
  { path, isPrimary }: DaemonKey,
): RunningDaemon | undefined {
  return kind.running(variables).find(path, isPrimary)
}

/** Starts the daemon of an instance; warns and resolves to false if it does not run afterwards. */
export async function startDaemon(run: FarmRun, instance: DaemonKey): Promise<boolean> {
  const { kind, variables, checkArgs, showsOnly, say, verbose, warn, io } = run
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
    throw new PcpError('ENOENT', `cannot find the command ${kind.checker}: reinstall this package`)
  makeStateDirs(kind.service, variables)
  let said = ''
  const write = (text: string): void => {
    said += text
  }
  const status = await runProgram(program, args, { cwd: '/', env: variables, owner: account, write })
  if (said !== '') verbose(1, said.trimEnd())
  const isThere = (): boolean => daemonOf(run, instance) !== undefined
  const isStarted = await waitUntil(status === 0 ? START_MS : 0, io.signal, isThere)
  verbose(2, `Started? ${isStarted ? 'yes' : 'no'}`)
  if (isStarted) await migrateTo(run, instance)
  else warn(`${kind.service} failed to start for host ${instance.host} and directory ${instance.path}`)
  return isStarted
}

/** With -m, moves the daemon to the farm's service. */
export async function migrateTo(run: FarmRun, instance: DaemonKey): Promise<void> {
  const daemon = daemonOf(run, instance)
  if (run.migrates && !run.showsOnly && daemon !== undefined) await migrate(run, daemon.pid)
}

/** Stops the daemon of an instance. Resolves to true if it has ended or (with a warning) was not running; warns and resolves to false if it still runs. */
export async function stopDaemon(run: FarmRun, instance: DaemonKey): Promise<boolean> {
  const { kind, showsOnly, say, verbose, warn, io, variables } = run
  const { host, path } = instance
  verbose(1, `Looking for ${kind.service} using directory ${path} ...`)
  const daemon = daemonOf(run, instance)
  if (daemon === undefined) {
    warn(`cannot find PID for host ${host} ${kind.service}, already exited?`)
    return true
  }
  // PCP's test suite simulates a daemon that does not stop with a signal that does not end it.
  const signal = variables['PCPQA_KILL_SIGNAL'] || 'TERM'
  verbose(1, `Found PID ${daemon.pid} to stop using signal ${signal}`)
  if (showsOnly) {
    say(`+ ${shownProgram('pmsignal', run)} -s ${signal} ${daemon.pid}`)
    return true
  }
  sendSignal(daemon.pid, signal)
  const isGone = await waitUntil(STOP_MS, io.signal, () => daemonOf(run, instance) === undefined)
  verbose(2, `Stopped? ${isGone ? 'yes' : 'no'}`)
  if (!isGone)
    warn(`${kind.service} failed to stop for host ${host} and directory ${path} (PID=${daemon.pid})`)
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

/** Returns the path of a program for dry runs: PCP's own one if it is known. */
function shownProgram(name: string, { variables }: FarmRun): string {
  const usual = join(variables['PCP_BINADM_DIR'] ?? '', name)
  return findProgram(usual, variables) ?? findProgram(name, variables) ?? name
}
