/** User private groups: many systems give each user a group of the same name, with write access to the user's files. */
import { readFileSync, type Stats } from 'node:fs'
import { type AccountNames, type Accounts, openAccounts } from './native/accounts.ts'

/** Account databases; tests pass their own. */
export interface GroupOptions {
  /** Accounts in this host's files. */
  readonly local?: Accounts & AccountNames
  /** All accounts, including directory services. Used only if the files lack an id, because it is slower to load. */
  readonly all?: () => Accounts & AccountNames
  /** The group of this process. */
  readonly egid?: number
}

/** Results are cached this long: the directories of a path mostly have one owner and group. */
const KEEP_MS = 60_000
const verdicts = new Map<string, boolean>()
let keptUntil = 0

/** Returns whether a file's owner is the only member of its group; cached for a minute. */
export function isPrivateGroup({ uid, gid }: Pick<Stats, 'uid' | 'gid'>): boolean {
  const now = Date.now()
  if (now > keptUntil || now < keptUntil - KEEP_MS) {
    verdicts.clear()
    keptUntil = now + KEEP_MS
  }
  const key = `${uid}:${gid}`
  let verdict = verdicts.get(key)
  if (verdict === undefined) {
    verdict = checkPrivateGroup(uid, gid)
    verdicts.set(key, verdict)
  }
  return verdict
}

/**
 * Returns whether only this user is in a group. If the user or the group is unknown, the numbers decide: a private group has the
 * number of its user, and the user's own processes run in it.
 */
export function checkPrivateGroup(uid: number, gid: number, options: GroupOptions = {}): boolean {
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

/** Returns the ids of local users with this primary group; directory services do not list theirs. */
function usersOfFirstGroup(gid: number): readonly number[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter(([, , , first]) => first === String(gid))
      .map(([, , uid]) => Number(uid))
  } catch {
    return [] // without the file, no local users
  }
}
