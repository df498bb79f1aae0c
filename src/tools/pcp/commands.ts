/** Which commands pcp knows, and where they are: the user's own, ours, those installed. pcp(1) */

import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Variables } from '../../sys/config.ts'
import { insistOnOwnFile } from '../lib/own-files.ts'

const PREFIX = 'pcp-'

/** Where commands are: ours come after the user's own and before those of another PCP. */
export interface CommandPlaces {
  readonly user: string | undefined
  readonly system: string | undefined
}

/** The folders of programs `pcp-NAME`. */
export function commandPlaces(env: Variables, variables: Variables): CommandPlaces {
  const home = env['HOME']
  return {
    user: home === undefined || home === '' ? undefined : join(home, '.pcp', 'bin'),
    system: variables['PCP_BINADM_DIR'],
  }
}

/** The program of a command in a folder; undefined where there is none that may be run. */
export function programOf(folder: string | undefined, command: string): string | undefined {
  if (folder === undefined || command.includes('/')) return undefined
  return runnable(join(folder, `${PREFIX}${command}`))
}

/** The program of a command in the user's own folder. EACCES when another user could have put it there. */
export function ownProgramOf(folder: string | undefined, command: string): string | undefined {
  const program = programOf(folder, command)
  if (program !== undefined) {
    insistOnOwnFile(join(folder!, `${PREFIX}${command}`), 'only your own programs are run')
    insistOnOwnFile(program, 'only your own programs are run')
  }
  return program
}

/** A program that is named by its path, which is what a command may be that is none of PCP's; links are followed, as in PCP. */
export function programAt(command: string, cwd: string): string | undefined {
  return command === '' ? undefined : runnable(resolve(cwd, command))
}

function runnable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? realpathSync(path) : undefined
  } catch {
    return undefined // it is not there, or not for this user
  }
}

/** Names of all commands in the order of the alphabet; `ours` are names of programs of this package. */
export function commandNames({ user, system }: CommandPlaces, ours: readonly string[]): readonly string[] {
  const names = [...namesIn(user), ...namesIn(system), ...ours]
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length))
  return [...new Set(names)].sort()
}

function namesIn(folder: string | undefined): readonly string[] {
  if (folder === undefined) return []
  try {
    return readdirSync(folder).filter((name) => name.startsWith(PREFIX))
  } catch {
    return [] // nobody has put commands there
  }
}
