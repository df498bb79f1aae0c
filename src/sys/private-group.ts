/** Groups of one user: many systems give each user a group, and let it write what the user makes. */
import { readFileSync, type Stats } from 'node:fs'
import { type AccountNames, type Accounts, openAccounts } from './native/accounts.ts'

/** How groups are looked up; tests have others. */
export interface GroupOptions {
  /** Accounts of this host's own files. */
  readonly local?: Accounts & AccountNames
  /** Accounts of directory services too; asked for what the files lack, as loading the calls takes longer than reading them. */
  readonly all?: () => Accounts & AccountNames
  /** The group of this process. */
  readonly egid?: number
}

/** Verdicts are kept this long: a path has several directories, mostly of one owner and group. */
const KEEP_MS = 60_000
const verdicts = new Map<string, boolean>()
let keptUntil = 0

/** Returns whether only the owner is in the group of a file, as it was within the last minute. */
export function isPrivateGroup({ uid, gid }: Pick<Stats, 'uid' | 'gid'>): boolean {
  const now = Date.now()
  if (now > keptUntil || now < keptUntil - KEEP_MS) {
    verdicts.clear()
    keptUntil = now + KEEP_MS
  }
  const key = `${uid}:${gid}`
  let verdict = verdicts.get(key)
  if (verdict === undefined) {
    verdict = findPrivateGroup(uid, gid)
    verdicts.set(key, verdict)
  }
  return verdict
}

/**
 * Returns whether only this user is in a group. Where either has no entry, the numbers decide: a private group has the number of
 * its user, and is the one in which the user's own processes run.
 */
export function findPrivateGroup(uid: number, gid: number, options: GroupOptions = {}): boolean {
  if (uid === 0 && gid === 0) return true
  const { local = localAccounts(), all = openAccounts, egid = process.getegid?.() } = options
  const isLocal = local.userName(uid) !== undefined && local.groupName(gid) !== undefined
  const accounts = isLocal ? local : all()
  const user = accounts.userName(uid)
  const group = accounts.groupName(gid)
  if (group !== undefined && accounts.membersOf(group).some((member) => member !== uid)) return false
  if (usersOfFirstGroup(gid).some((other) => other !== uid)) return false
  return user === undefined || group === undefined ? uid === gid && gid === egid : user === group
}

/** Returns the name of a user, for messages. */
export function userNameOf(uid: number): string | undefined {
  return localAccounts().userName(uid) ?? openAccounts().userName(uid)
}

function localAccounts(): Accounts & AccountNames {
  return openAccounts(() => undefined)
}

/** Returns the ids of local users whose first group it is; directory services do not list theirs. */
function usersOfFirstGroup(gid: number): readonly number[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter(([, , , first]) => first === String(gid))
      .map(([, , uid]) => Number(uid))
  } catch {
    return [] // without the file there are no local users
  }
}
