/** Creating directories with their parents. */
import { closeSync, constants, fchownSync, fstatSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UntrustedPathError } from './trusted-path.ts'

/**
 * Creates a directory and its missing parents. Throws as mkdirSync does, whose own `recursive` hangs if the parent exists
 * but creating fails with ENOENT, as in /proc (Node 20.20).
 *
 * @param mode of the created directories
 */
export function makeDir(path: string, mode = 0o777): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeDir(parent, mode)
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // Another process may have created it just now.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** Creates a directory and changes its owner if one is given. Throws as mkdirSync and `giveDir` do. */
export function makeDirOf(
  path: string,
  mode: number,
  owner: { readonly uid: number; readonly gid: number } | undefined,
): void {
  mkdirSync(path, mode)
  if (owner !== undefined) giveDir(path, owner)
}

/**
 * Changes the owner of a directory that this process has just created. The owner of the parent directory may have replaced it
 * meanwhile: a link throws ELOOP or ENOTDIR, another account's directory UntrustedPathError.
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
