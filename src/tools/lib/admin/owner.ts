/** Whose files are: what root does in somebody's directory belongs to them, and is done with no more than their rights. */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Variables } from '../../../sys/config.ts'
import { makeDirOf } from '../../../sys/make-dir.ts'

/** Account of a user and a group. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Whom root acts for in a directory: its owner; undefined when that is root, or when we are not root ourselves. */
export function ownerToActFor(dir: string): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const { uid, gid } = statSync(dir)
  return uid === 0 ? undefined : { uid, gid }
}

/** When root: calls back with the owner of a directory. */
export function chownLike(dir: string, chown: (uid: number, gid: number) => void): void {
  const owner = ownerToActFor(dir)
  if (owner !== undefined) chown(owner.uid, owner.gid)
}

/** The account of PCP, `$PCP_USER`, for root; undefined for others, and where there is no such account. */
export function pcpAccount(variables: Variables, readPasswd: () => string): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const name = variables['PCP_USER'] ?? 'pcp'
  for (const line of readPasswd().split('\n')) {
    const [user, , uid, gid] = line.split(':')
    if (user === name && uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  return undefined
}

/** Makes a directory with what is missing above it, for an owner. Throws Node's error. */
export function makeDirFor(path: string, owner: Owner | undefined): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeDirFor(parent, owner)
  makeDirOf(path, 0o755, owner)
}

/**
 * Does something with no more than the rights of an owner, when root acts for one. No program may be started meanwhile: it would keep
 * root's real user id.
 */
export async function actingAs<T>(owner: Owner | undefined, action: () => Promise<T>): Promise<T> {
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
