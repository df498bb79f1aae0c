/** Where the files of Node processes are: where agents look, or where those of this user do. docs/guide/node.md */
import { accessSync, constants, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { headerOf, isOwnerAlive } from '../mmv/owner.ts'
import { removeUnfinished } from '../mmv/published-file.ts'
import { loadConfig, type Variables } from '../sys/config.ts'

/** All files of Node processes begin so; the number of a process and of a thread follow. */
export const FILE_PREFIX = 'node-'
/** All are in this cluster, so that they share metrics: chosen once, and nobody else's. */
export const NODE_CLUSTER = 3900

/**
 * `$PCP_TMP_DIR/mmv` where this process may write or make it; otherwise the directory that `npm start` of this user reads.
 * What the environment names is not second-guessed.
 */
export function publishDirectory(env: Variables): string {
  const { variables } = loadConfig(env)
  const directory = join(variables['PCP_TMP_DIR']!, 'mmv')
  const isNamed = ['PCP_TMP_DIR', 'PCP_CONF', 'PCP_DIR'].some((name) => env[name] !== undefined)
  if (isNamed || isWritable(directory)) return directory
  const own = loadConfig(env, { readText: () => undefined, uid: process.geteuid?.() || 1 })
  return join(own.variables['PCP_TMP_DIR']!, 'mmv')
}

/** May this process write there, or make the directory? */
function isWritable(directory: string): boolean {
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) {
    const parent = dirname(directory)
    return parent !== directory && isWritable(parent)
  }
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The file of a thread of a process. */
export function fileName(pid: number, thread: number): string {
  return `${FILE_PREFIX}${pid}-${thread}`
}

/** Removes files of processes that were killed, finished or not, as far as this user may. */
export function removeStale(directory: string): void {
  let names: readonly string[]
  try {
    removeUnfinished(directory, isOurs)
    names = readdirSync(directory).filter(isOurs)
  } catch {
    return // nobody has published anything yet
  }
  for (const name of names) {
    const path = join(directory, name)
    try {
      const header = headerOf(path)
      if (header !== undefined && !isOwnerAlive(header)) rmSync(path)
    } catch {
      // Somebody else's, or nothing that we wrote: agents leave out files of processes that ended anyway.
    }
  }
}

function isOurs(name: string): boolean {
  return name.startsWith(FILE_PREFIX)
}
