/** File ownership: root acts in a directory with its owner's rights only, and its files belong to the owner. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Variables } from '../../../sys/config.ts'
import { makeDirOf } from '../../../sys/make-dir.ts'

/** User and group id of an account. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Returns the owner of a directory if we are root and the owner is not; otherwise undefined. */
export function impersonatedOwner(dir: string): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const { uid, gid } = statSync(dir)
  return uid === 0 ? undefined : { uid, gid }
}

/** Calls `chown` with a directory's owner if we are root and the owner is not. */
export function chownLike(dir: string, chown: (uid: number, gid: number) => void): void {
  const owner = impersonatedOwner(dir)
  if (owner !== undefined) chown(owner.uid, owner.gid)
}

/** Returns the ids of `$PCP_USER` if we are root; undefined for other users and an unknown account. */
export function pcpAccount(variables: Variables, readPasswd: () => string): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const name = variables['PCP_USER'] ?? 'pcp'
  for (const line of readPasswd().split('\n')) {
    const [user, , uid, gid] = line.split(':')
    if (user === name && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

/** Makes a directory and its missing parents for an owner. Throws Node's error. */
export function makeDirFor(path: string, owner: Owner | undefined): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeDirFor(parent, owner)
  makeDirOf(path, 0o755, owner)
}

/**
 * Runs an action with the owner's effective rights, if there is one. The action must not start programs, which would
 * inherit root's real user id.
 */
export async function runAs<T>(owner: Owner | undefined, action: () => Promise<T>): Promise<T> {
  if (owner === undefined) return await action()
  const groups = process.getgroups!()
  const gid = process.getegid!()
  process.setgroups!([])
  process.setegid!(owner.gid)
  process.seteuid!(owner.uid)
  try {
    return await action()
  } finally {
    process.seteuid!(0)
    process.setegid!(gid)
    process.setgroups!(groups)
  }
}
