/**
 * Looking up users and groups by name, from all of the system's sources. getpwnam(3), getgrnam(3)
 *
 * Fallback: /etc/passwd and /etc/group, which are complete unless accounts come from a directory service.
 */
import { readFileSync } from 'node:fs'
import { type LoadNative, loadNative, type NativeCalls } from './calls.ts'

/** Ids by account names. Look-ups may block on a directory service. */
export interface Accounts {
  /** Returns the id of a user; undefined for an unknown one. */
  userId(name: string): number | undefined
  /** Returns the id of a user's primary group; undefined for an unknown user. */
  firstGroupOf(user: string): number | undefined
  /** Returns the id of a group; undefined for an unknown one. */
  groupId(name: string): number | undefined
  /** Returns the ids of the users listed as members of a group, not of those for whom it is only the primary group. */
  membersOf(group: string): readonly number[]
}

/** Account names by id. */
export interface AccountNames {
  /** Returns the name of a user; undefined if no user has that id. */
  userName(id: number): string | undefined
  /** Returns the name of a group; undefined if no group has that id. */
  groupName(id: number): string | undefined
}

/** Files of the fallback. */
export interface AccountFiles {
  readonly passwd: string
  readonly group: string
}

const FILES: AccountFiles = { passwd: '/etc/passwd', group: '/etc/group' }

/** Opens the account database of this host. */
export function openAccounts(
  load: LoadNative = loadNative,
  files: AccountFiles = FILES,
): Accounts & AccountNames {
  const calls = load()
  return calls === undefined ? accountsOfFiles(files) : accountsOfSystem(calls)
}

/** In struct passwd the id of the primary group follows the user's own. */
const GROUP_AFTER_USER = 4

/** struct passwd and struct group start alike on all systems: name, password, ids; members follow the group's id. */
function accountsOfSystem(calls: NativeCalls): Accounts & AccountNames {
  const { pointerBytes } = calls
  const getpwnam = calls.bind('void *getpwnam(const char *name)')
  const getgrnam = calls.bind('void *getgrnam(const char *name)')
  const entryOf = (get: (name: string) => unknown, name: string): bigint | undefined => {
    const address = get(name)
    return typeof address === 'bigint' && address !== 0n ? address : undefined
  }
  const wordOf = (get: (name: string) => unknown, name: string, offset: number): number | undefined => {
    const entry = entryOf(get, name)
    return entry === undefined ? undefined : (calls.read(entry, offset, 'uint32_t') as number)
  }
  const idOf = (get: (name: string) => unknown, name: string): number | undefined =>
    wordOf(get, name, 2 * pointerBytes)
  const pointerAt = (address: bigint, offset: number): bigint =>
    BigInt((calls.read(address, offset, 'void *') as bigint | null) ?? 0)
  const getpwuid = calls.bind('void *getpwuid(uint32_t id)')
  const getgrgid = calls.bind('void *getgrgid(uint32_t id)')
  const nameOf = (get: (id: number) => unknown, id: number): string | undefined => {
    const entry = get(id)
    return typeof entry === 'bigint' && entry !== 0n ? (calls.read(entry, 0, 'char *') as string) : undefined
  }
  return {
    userName: (id) => nameOf(getpwuid, id),
    groupName: (id) => nameOf(getgrgid, id),
    userId: (name) => idOf(getpwnam, name),
    firstGroupOf: (user) => wordOf(getpwnam, user, 2 * pointerBytes + GROUP_AFTER_USER),
    groupId: (name) => idOf(getgrnam, name),
    membersOf(group) {
      const entry = entryOf(getgrnam, group)
      if (entry === undefined) return []
      const list = pointerAt(entry, 3 * pointerBytes)
      const names: string[] = []
      for (let i = 0; list !== 0n && pointerAt(list, i * pointerBytes) !== 0n; i++)
        names.push(calls.read(list, i * pointerBytes, 'char *') as string)
      return idsOf(names, (name) => idOf(getpwnam, name))
    },
  }
}

function accountsOfFiles({ passwd, group }: AccountFiles): Accounts & AccountNames {
  const userId = (name: string): number | undefined => numberIn(entryIn(passwd, name)?.[2])
  return {
    userId,
    userName: (id) => nameIn(passwd, id),
    groupName: (id) => nameIn(group, id),
    firstGroupOf: (user) => numberIn(entryIn(passwd, user)?.[3]),
    groupId: (name) => numberIn(entryIn(group, name)?.[2]),
    membersOf: (name) => idsOf((entryIn(group, name)?.[3] ?? '').split(','), userId),
  }
}

/** Returns the fields of the line for a name. */
function entryIn(path: string, name: string): readonly string[] | undefined {
  for (const line of readText(path).split('\n')) {
    const fields = line.split(':')
    if (fields[0] === name && name !== '') return fields
  }
  return undefined
}

/** Returns the name in the first line for an id. */
function nameIn(path: string, id: number): string | undefined {
  for (const line of readText(path).split('\n')) {
    const [name, , number] = line.split(':')
    if (number === String(id)) return name
  }
  return undefined
}

function numberIn(field: string | undefined): number | undefined {
  return field !== undefined && /^\d+$/.test(field) ? Number(field) : undefined
}

/** Returns the ids of members; unknown users are skipped, as they cannot connect. */
function idsOf(names: readonly string[], userId: (name: string) => number | undefined): readonly number[] {
  return names.map(userId).filter((id) => id !== undefined)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // without the file all names are unknown, and callers report that
  }
}
