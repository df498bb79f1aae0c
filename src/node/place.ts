/** The files of Node processes: their names, and those left by processes that were killed. docs/guide/node.md */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { headerOf, isOwnerAlive } from '../mmv/owner.ts'
import { removeUnfinished } from '../mmv/published-file.ts'

/** All files of Node processes begin so; the number of a process and of a thread follow. */
export const FILE_PREFIX = 'node-'
/** All are in this cluster, so that they share metrics: chosen once, and nobody else's. */
export const NODE_CLUSTER = 3900

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
