/** Finds the commands of pcp: the user's own, those of this package, and installed ones. pcp(1) */

import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Variables } from '../../sys/config.ts'
import { requireTrustedFile } from '../lib/trusted-files.ts'

const PREFIX = 'pcp-'

/** Folders of commands. Those of this package are looked up after the user's and before the system's. */
export interface CommandFolders {
  readonly user: string | undefined
  readonly system: string | undefined
}

/** Returns the folders of programs named `pcp-NAME`. */
export function commandFolders(env: Variables, variables: Variables): CommandFolders {
  const home = env['HOME']
  return {
    user: home === undefined || home === '' ? undefined : join(home, '.pcp', 'bin'),
    system: variables['PCP_BINADM_DIR'],
  }
}

/** Returns a command's program in a folder; undefined without an executable file. */
export function programOf(folder: string | undefined, command: string): string | undefined {
  if (folder === undefined || command.includes('/')) return undefined
  return runnable(join(folder, `${PREFIX}${command}`))
}

/** Returns a command's program in the user's own folder. Throws EACCES if another user could have written it. */
export function userProgramOf(folder: string | undefined, command: string): string | undefined {
  const program = programOf(folder, command)
  if (program !== undefined) {
    requireTrustedFile(join(folder!, `${PREFIX}${command}`), 'only your own programs are run')
    requireTrustedFile(program, 'only your own programs are run')
  }
  return program
}

/** Returns a program given by its path, which need not be one of PCP's; links are followed, as in PCP. */
export function programAt(command: string, cwd: string): string | undefined {
  return command === '' ? undefined : runnable(resolve(cwd, command))
}

function runnable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? realpathSync(path) : undefined
  } catch {
    return undefined // missing, or not accessible
  }
}

/** Lists the names of all commands alphabetically; `ours` are the programs of this package. */
export function commandNames({ user, system }: CommandFolders, ours: readonly string[]): readonly string[] {
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
    return [] // the folder does not exist
  }
}
