import { expect, test } from 'vitest'
import { checkPrivateGroup } from '../../src/sys/private-group.ts'

interface Entries {
  /** Names by id. */
  readonly users?: Readonly<Record<number, string>>
  readonly groups?: Readonly<Record<number, string>>
  /** Ids of members by the name of a group. */
  readonly members?: Readonly<Record<string, readonly number[]>>
}

type Found = NonNullable<NonNullable<Parameters<typeof checkPrivateGroup>[2]>['local']>

function accounts({ users = {}, groups = {}, members = {} }: Entries): Found {
  return {
    userName: (id) => users[id],
    groupName: (id) => groups[id],
    membersOf: (name) => members[name] ?? [],
    userId: () => undefined,
    groupId: () => undefined,
    firstGroupOf: () => undefined,
  }
}

/** Ids that no account of this machine has. */
const ANN = 3_000_000_001
const BOB = 3_000_000_002
const NONE = accounts({})

test('the group of an account of a directory service is private when it is named like the user', () => {
  const all = accounts({ users: { [ANN]: 'ann' }, groups: { [ANN]: 'ann', [BOB]: 'staff' } })
  const options = { local: NONE, all: () => all, egid: 0 }
  expect(checkPrivateGroup(ANN, ANN, options)).toBe(true)
  expect(checkPrivateGroup(ANN, BOB, options)).toBe(false)
})

test('a group with another member is not private, whichever source lists it', () => {
  const shared = accounts({ users: { [ANN]: 'ann' }, groups: { [ANN]: 'ann' }, members: { ann: [ANN, BOB] } })
  expect(checkPrivateGroup(ANN, ANN, { local: shared, all: () => NONE, egid: ANN })).toBe(false)
  expect(checkPrivateGroup(ANN, ANN, { local: NONE, all: () => shared, egid: ANN })).toBe(false)
  const alone = accounts({ users: { [ANN]: 'ann' }, groups: { [ANN]: 'ann' }, members: { ann: [ANN] } })
  expect(checkPrivateGroup(ANN, ANN, { local: alone, all: () => NONE, egid: 0 })).toBe(true)
})

test("without an entry, only the process's own group with the number of its user is private", () => {
  const of = (uid: number, gid: number, egid: number, all = NONE): boolean =>
    checkPrivateGroup(uid, gid, { local: NONE, all: () => all, egid })
  expect(of(ANN, ANN, ANN)).toBe(true)
  expect(of(ANN, ANN, BOB)).toBe(false)
  expect(of(ANN, BOB, BOB)).toBe(false)
  expect(of(ANN, ANN, ANN, accounts({ groups: { [ANN]: 'x' }, members: { x: [BOB] } }))).toBe(false)
})

test('directory services are used only for accounts missing from the files', () => {
  const local = accounts({ users: { [ANN]: 'ann' }, groups: { [ANN]: 'ann' } })
  const all = (): never => expect.fail('asked')
  expect(checkPrivateGroup(ANN, ANN, { local, all })).toBe(true)
})
