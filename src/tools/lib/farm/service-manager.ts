/** What systemd knows of the daemons, where it runs the system. */
import { statSync, writeFileSync } from 'node:fs'
import { PcpError } from '../../../model/errors.ts'
import type { Variables } from '../../../sys/config.ts'
import { findProgram, runProgram } from '../admin/programs.ts'
import type { FarmRun } from './run.ts'

/** Does systemd run this system? */
export function hasServiceManager(): boolean {
  return statSync('/run/systemd/system', { throwIfNoEntry: false })?.isDirectory() === true
}

/** Why the primary daemon does not run, in the words of the table; undefined when it should, and without systemd. */
export async function primaryState(service: string, variables: Variables): Promise<string | undefined> {
  if (!hasServiceManager()) return undefined
  const ask = async (question: string): Promise<number> =>
    (await systemctl([question, '-q', `${service}.service`], variables)).status
  if ((await ask('is-enabled')) !== 0) return 'disabled by systemctl'
  return (await ask('is-active')) === 0 ? undefined : 'stopped by systemctl'
}

/** Moves a process into the control group of the farm's service. Warns where it cannot. */
export async function migrate({ kind, variables, tell, warn }: FarmRun, pid: number): Promise<void> {
  if (!hasServiceManager()) {
    tell(2, 'migrate_pid_service: ignored, not using systemd')
    return
  }
  const unit = `${kind.service}_farm.service`
  const { output } = await systemctl(['show', '-p', 'ControlGroup', '--value', unit], variables)
  const group = output.trim()
  if (group === '') {
    warn(`cannot move process ${pid} to ${unit}: it does not run, systemctl start ${unit} starts it`)
    return
  }
  try {
    const root = isVersion2() ? '/sys/fs/cgroup' : '/sys/fs/cgroup/systemd'
    writeFileSync(`${root}${group}/cgroup.procs`, `${pid}\n`)
    tell(1, `Moved process ${pid} to ${unit}`)
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
