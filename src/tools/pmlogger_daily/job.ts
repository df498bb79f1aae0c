/** The directory that is looked after, and what the steps of its maintenance share. */

import { asParent } from '../../sys/parent-process.ts'
import type { Instance } from '../lib/admin/instances.ts'
import type { Owner } from '../lib/admin/owner.ts'
import { findProgram, runProgram } from '../lib/admin/programs.ts'
import type { Voice } from '../lib/admin/voice.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Policy, Settings } from './settings.ts'

/** One directory of archives. */
export interface Job {
  readonly instance: Instance
  /** As the control file has it. */
  readonly dir: string
  readonly settings: Settings
  readonly policy: Policy
  readonly voice: Voice
  readonly io: ToolIo
  /** Whom the archives belong to, when we are root and they are not root's. */
  readonly owner: Owner | undefined
  /** Base name of the archive that is being written there; undefined when no recorder is known. */
  readonly current: string | undefined
}

/** Runs a command of this package in the directory; resolves to its status. A command that is not there is told of. */
export async function runCommand(job: Job, name: string, args: readonly string[]): Promise<number> {
  const { dir, instance, voice, owner } = job
  const program = findProgram(name, instance.variables)
  if (program === undefined) {
    voice.error(instance.where, `cannot find the command ${name}`, instance.host)
    return 1
  }
  return await runProgram(program, args, {
    cwd: dir,
    env: asParent(instance.variables),
    owner,
    write: voice.part,
  })
}

/** Calls what the user has set to be called for an archive: a command of the shell, which gets its path. */
export async function runCallbacks(job: Job, callbacks: readonly string[], base: string): Promise<void> {
  const { dir, instance, voice, owner } = job
  for (const callback of callbacks) {
    const archive = `${dir}/${base}`
    if (job.settings.showsOnly) {
      voice.show(`${callback} ${archive}`)
      continue
    }
    const options = { cwd: dir, env: instance.variables, owner, write: voice.part }
    const status = await runProgram('/bin/sh', ['-c', `${callback} "$1"`, 'sh', archive], options)
    if (status !== 0) voice.warning(instance.where, `callback: ${callback} ${archive}: exit status ${status}`)
  }
}
