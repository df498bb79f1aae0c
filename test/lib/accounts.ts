/** A second account for tests of what one user of a machine can do to another: they need root. */
import { chownSync } from 'node:fs'

/** User and group `nobody`, as every distribution numbers them. */
export const NOBODY = 65534

/** Whether tests can act for another user; prints why not, once for each file that asks. */
export function canActForOthers(): boolean {
  const isRoot = process.geteuid?.() === 0
  if (!isRoot) console.log('tests with two accounts are skipped: they need root')
  return isRoot
}

/** Gives paths to the user `nobody`. */
export function giveAway(...paths: readonly string[]): void {
  for (const path of paths) chownSync(path, NOBODY, NOBODY)
}
