/** The files of Node processes: their names, and removal of those left by killed processes. docs/how-to/instrument-node.md */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { headerOf, isOwnerAlive } from '../mmv/owner.ts'
import { removeUnfinished } from '../mmv/published-file.ts'

/** Prefix of all files of Node processes, followed by PID and thread number. */
export const FILE_PREFIX = 'node-'
/** Cluster of all files, so that they share metrics. It is permanent and reserved for them. */
export const NODE_CLUSTER = 3900

/** Returns the file name of a thread. */
export function fileName(pid: number, thread: number): string {
  return `${FILE_PREFIX}${pid}-${thread}`
}

/** Removes files of killed processes, finished or not, if this user may. */
export function removeStale(directory: string): void {
  let names: readonly string[]
  try {
    removeUnfinished(directory, isOurs)
    names = readdirSync(directory).filter(isOurs)
  } catch {
    return // no application has published anything yet
  }
  for (const name of names) {
    const path = join(directory, name)
    try {
      const header = headerOf(path)
      if (header !== undefined && !isOwnerAlive(header)) rmSync(path)
    } catch {
      // Belongs to another user, or is not our file: agents skip files of ended processes anyway.
    }
  }
}

function isOurs(name: string): boolean {
  return name.startsWith(FILE_PREFIX)
}
