/** Making a directory with its parents. */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes what is missing of the path; throws as mkdirSync does. Its own `recursive` never returns where the parent exists
 * but refuses with ENOENT, as /proc does (Node 20.20).
 *
 * @param mode of the directories that it makes
 */
export function makeDir(path: string, mode = 0o777): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeDir(parent, mode)
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // Somebody else may have made it just now.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
