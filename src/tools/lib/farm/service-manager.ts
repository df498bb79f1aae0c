/** State of the daemons in systemd, where it is running. */
import { statSync, writeFileSync } from 'node:fs'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { findProgram, runProgram } from '../admin/programs.ts'
import type { FarmRun } from './run.ts'

/** Is systemd the service manager? */
export function hasServiceManager(): boolean {
  return statSync('/run/systemd/system', { throwIfNoEntry: false })?.isDirectory() === true
}

/** Returns why the primary daemon does not run, as the table shows it; undefined if it should run, and without systemd. */
export async function primaryServiceState(
  service: string,
  variables: Variables,
): Promise<string | undefined> {
  if (!hasServiceManager()) return undefined
  const ask = async (question: string): Promise<number> =>
    (await systemctl([question, '-q', `${service}.service`], variables)).status
  if ((await ask('is-enabled')) !== 0) return 'disabled by systemctl'
  return (await ask('is-active')) === 0 ? undefined : 'stopped by systemctl'
}

/** Moves a process to the control group of the farm's service. Warns if it cannot. */
export async function migrate({ kind, variables, verbose, warn }: FarmRun, pid: number): Promise<void> {
  if (!hasServiceManager()) {
    verbose(2, 'migrate_pid_service: ignored, not using systemd')
    return
  }
  const unit = `${kind.service}_farm.service`
  const { output } = await systemctl(['show', '-p', 'ControlGroup', '--value', unit], variables)
  const group = output.trim()
  if (group === '') {
    warn(`cannot move process ${pid} to ${unit}: it is not running; start it with systemctl start ${unit}`)
    return
  }
  try {
    const root = isVersion2() ? '/sys/fs/cgroup' : '/sys/fs/cgroup/systemd'
    writeFileSync(`${root}${group}/cgroup.procs`, `${pid}\n`)
    verbose(1, `Moved process ${pid} to ${unit}`)
  } catch (error) {
    warn(`cannot move process ${pid} to ${unit}: ${PcpError.from(error).text}`)
  }
}

function isVersion2(): boolean {
  return statSync('/sys/fs/cgroup/cgroup.controllers', { throwIfNoEntry: false }) !== undefined
}

async function systemctl(
  args: readonly string[],
  variables: Variables,
): Promise<{ status: number; output: string }> {
  const program = findProgram('systemctl', variables)
  if (program === undefined) return { status: 1, output: '' }
  let output = ''
  const write = (text: string): void => {
    output += text
  }
  const status = await runProgram(program, args, { cwd: '/', env: variables, write, writeError: () => {} })
  return { status, output }
}
