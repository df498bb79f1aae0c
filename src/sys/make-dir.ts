/** Making a directory with its parents. */
import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UntrustedPathError } from './trusted-path.ts'

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

/** Makes a directory, and gives it to an owner if there is one. Throws as mkdirSync and `giveDir` do. */
export function makeDirOf(
  path: string,
  mode: number,
  owner: { readonly uid: number; readonly gid: number } | undefined,
): void {
  mkdirSync(path, mode)
  if (owner !== undefined) giveDir(path, owner)
}

/**
 * Gives a directory that this process has just made to another owner. The account of the directory above may have put something else in
 * its place: a link is ELOOP or ENOTDIR, and a directory of another account UntrustedPathError.
 */
export function giveDir(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const found = fstatSync(fd).uid
    if (found !== process.geteuid?.())
      throw new UntrustedPathError(`${path} was replaced by a directory of user ${found}: make it by hand`)
    fchownSync(fd, uid, gid)
  } finally {
    closeSync(fd)
  }
}
