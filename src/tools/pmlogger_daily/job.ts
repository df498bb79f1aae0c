/** A directory to maintain, and functions shared by the steps. */

import { asParent } from '../../sys/parent-process.ts'
import type { Instance } from '../lib/admin/instances.ts'
import type { Owner } from '../lib/admin/owner.ts'
import { findProgram, runProgram } from '../lib/admin/programs.ts'
import type { Reporter } from '../lib/admin/reporter.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Policy, Settings } from './settings.ts'

/** One directory of archives. */
export interface DirectoryJob {
  readonly instance: Instance
  /** As in the control file. */
  readonly dir: string
  readonly settings: Settings
  readonly policy: Policy
  readonly reporter: Reporter
  readonly io: ToolIo
  /** Owner of the archives, if it is another account and this process is root. */
  readonly owner: Owner | undefined
  /** Base name of the current archive; undefined if no recorder is known. */
  readonly current: string | undefined
}

/** Runs a command of this package in the directory; resolves to its status. Reports a missing command. */
export async function runCommand(job: DirectoryJob, name: string, args: readonly string[]): Promise<number> {
  const { dir, instance, reporter, owner } = job
  const program = findProgram(name, instance.variables)
  if (program === undefined) {
    reporter.error(instance.where, `cannot find the command ${name}`, instance.host)
    return 1
  }
  return await runProgram(program, args, {
    cwd: dir,
    env: asParent(instance.variables),
    owner,
    write: reporter.text,
  })
}

/** Runs the user's shell commands for an archive with its path. */
export async function runCallbacks(
  job: DirectoryJob,
  callbacks: readonly string[],
  base: string,
): Promise<void> {
  const { dir, instance, reporter, owner } = job
  for (const callback of callbacks) {
    const archive = `${dir}/${base}`
    if (job.settings.showsOnly) {
      reporter.show(`${callback} ${archive}`)
      continue
    }
    const options = { cwd: dir, env: instance.variables, owner, write: reporter.text }
    const status = await runProgram('/bin/sh', ['-c', `${callback} "$1"`, 'sh', archive], options)
    if (status !== 0)
      reporter.warning(instance.where, `callback: ${callback} ${archive}: exit status ${status}`)
  }
}
