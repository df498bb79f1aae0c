import { expect, test } from 'vitest'
import { OP_ALL, OP_FETCH, OP_STORE } from '../../../src/net/access/statements.ts'
import {
  type AccessPeer,
  type AccessTable,
  buildAccess,
  type NameService,
  parseAddress,
} from '../../../src/net/access/table.ts'
import { accessTables } from '../../../src/pmcd/log-tables.ts'
import { parseAccessFile } from '../../../src/routing/pmcd-conf.ts'

const names: NameService = {
  addressesOf: async (host) =>
    ({ friend: ['10.1.2.3', '2001:db8::3'], localhost: ['127.0.0.1'] })[host] ?? [],
  ownAddresses: () => ['127.0.0.1', '::1', '192.168.7.7'],
  accounts: () => ({
    userId: (name) => ({ root: 0, alice: 1000 })[name],
    groupId: (name) => ({ wheel: 10, crew: 50, alice: 1000 })[name],
    membersOf: (group) => (group === 'crew' ? [1000, 1001] : []),
  }),
}

async function build(text: string): Promise<Awaited<ReturnType<typeof buildAccess>>> {
  const { access, problems } = parseAccessFile(text)
  expect(problems).toEqual([])
  return buildAccess(access, names)
}

async function tableOf(text: string): Promise<AccessTable> {
  const built = await build(text)
  expect(built.problems).toEqual([])
  return built.table
}

const from = (address: string): AccessPeer => ({ address })
const UNIX: AccessPeer = { address: undefined }

test('without rules everything is allowed', async () => {
  const table = await tableOf('')
  expect(table.check(from('10.0.0.1')).denied).toBe(0)
  expect(table.check(UNIX).denied).toBe(0)
})

test('the shipped rules: only this host may store', async () => {
  const table = await tableOf('disallow ".*" : store; disallow ":*" : store; allow "local:*" : all;')
  expect(table.check(from('10.0.0.1')).denied).toBe(OP_STORE)
  expect(table.check(from('2001:db8::1')).denied).toBe(OP_STORE)
  expect(table.check(from('127.0.0.1')).denied).toBe(0)
  expect(table.check(from('192.168.7.7')).denied).toBe(0)
  expect(table.check(UNIX).denied).toBe(0)
})

test('the most specific rule decides each operation, whatever the order', async () => {
  const rules = ['disallow 10.1.* : store', 'allow 10.1.2.3 : store', 'disallow * : all', 'allow 10.* : all']
  for (const order of [rules, [...rules].reverse()]) {
    const table = await tableOf(`${order.join(';')};`)
    expect(table.check(from('11.0.0.1')).denied).toBe(OP_ALL)
    expect(table.check(UNIX).denied).toBe(OP_ALL)
    expect(table.check(from('10.2.0.1')).denied).toBe(0)
    expect(table.check(from('10.1.0.1')).denied).toBe(OP_STORE)
    expect(table.check(from('10.1.2.3')).denied).toBe(0)
  }
})

test('a host name covers all its addresses, an IPv6 prefix whole groups', async () => {
  const table = await tableOf('disallow friend : fetch; disallow "fe80:*" : store;')
  expect(table.check(from('10.1.2.3')).denied).toBe(OP_FETCH)
  expect(table.check(from('2001:db8::3')).denied).toBe(OP_FETCH)
  expect(table.check(from('fe80::1%eth0')).denied).toBe(OP_STORE)
  expect(table.check(from('fe81::1')).denied).toBe(0)
})

test('limits count connections once, and release them', async () => {
  const table = await tableOf('allow * : maximum 2 connections; allow 10.* : unlimited connections;')
  const admission = table.check(from('127.0.0.1'))
  expect([table.admit(admission), table.admit(admission), table.admit(admission)]).toEqual([
    true,
    true,
    false,
  ])
  table.release(admission)
  expect(table.admit(admission)).toBe(true)
  const free = table.check(from('10.0.0.1'))
  for (let i = 0; i < 10; i++) expect(table.admit(free)).toBe(true)
})

test('the most specific rule supplies the limit; if it has none there is no limit', async () => {
  // As 6.0.3 does: `allow .* : maximum 3 connections; allow localhost : all;` does not limit localhost.
  const table = await tableOf('allow .* : maximum 1 connections; allow 10.* : all;')
  const inner = table.check(from('10.0.0.1'))
  for (let i = 0; i < 5; i++) expect(table.admit(inner)).toBe(true)
  // They also counted towards the general rule, whose limit applies to other hosts.
  const outer = table.check(from('11.0.0.1'))
  expect(table.admit(outer)).toBe(false)
  for (let i = 0; i < 5; i++) table.release(inner)
  expect(table.admit(outer)).toBe(true)
})

test('with user or group rules, unidentified clients are refused, even by a rule for everyone', async () => {
  for (const subject of ['user', 'group']) {
    const table = await tableOf(`disallow ${subject} alice : store; allow ${subject} * : all;`)
    expect(table.check(UNIX).denied).toBe(OP_ALL)
    expect(table.check(from('10.0.0.1')).denied).toBe(OP_ALL)
  }
})

test('with user rules, a user who matches none is denied everything', async () => {
  const table = await tableOf('allow user root : all; disallow user alice : store;')
  expect(table.needsCredentials).toBe(true)
  expect(table.check({ address: undefined, credentials: { uid: 0 } }).denied).toBe(0)
  expect(table.check({ address: undefined, credentials: { uid: 1000 } }).denied).toBe(OP_STORE)
  expect(table.check({ address: undefined, credentials: { uid: 1 } }).denied).toBe(OP_ALL)
  expect(table.check(from('10.0.0.1')).denied).toBe(OP_ALL)
})

test('group rules hold for members as well as for users whose primary group it is', async () => {
  const table = await tableOf('allow group crew : all; disallow group wheel : store;')
  const unix = (uid: number, gid: number): AccessPeer => ({ ...UNIX, credentials: { uid, gid } })
  expect(table.check(unix(1001, 1)).denied).toBe(0)
  expect(table.check(unix(7, 50)).denied).toBe(0)
  expect(table.check(unix(1000, 10)).denied).toBe(OP_STORE)
  expect(table.check(unix(7, 7)).denied).toBe(OP_ALL)
})

test('a rule for every user works after one for some', async () => {
  const table = await tableOf('disallow user alice : all; allow user * : all;')
  expect(table.check({ address: undefined, credentials: { uid: 1000 } }).denied).toBe(OP_ALL)
  expect(table.check({ address: undefined, credentials: { uid: 1 } }).denied).toBe(0)
})

test.each(['user', 'group'])('rules for an unknown %s only still shut out everyone else', async (subject) => {
  const built = await build(`allow host * : all; allow ${subject} nobodyknows : all;`)
  expect(built.problems).toEqual([`[line 1]: Warning: unknown ${subject} "nobodyknows" is left out`])
  expect(built.isValid).toBe(true)
  expect(built.table.needsCredentials).toBe(true)
  expect(accessTables(built.table)).toContain(
    `no ${subject} of its statements is known, so everybody is refused`,
  )
  expect(built.table.check({ address: undefined, credentials: { uid: 1000, gid: 1000 } }).denied).toBe(OP_ALL)
  expect((await build(`allow ${subject} nobodyknows : all;`)).isValid).toBe(false)
})

test.each([
  ['1.2.3.4.*', 'Too many dots in host pattern "1.2.3.4.*"'],
  ['1.*.3', 'Wildcard in host pattern "1.*.3" is not at the end'],
  ['"x::y:*"', 'Bad IPv6 address wildcard, x::y:*'],
  ['300.*', 'Bad IP address wildcard, 300.*'],
  ['stranger', 'host "stranger" is unknown and left out'],
])('skips %s with a message', async (name, message) => {
  const built = await build(`allow ${name} : all; allow 10.* : all;`)
  expect(built.problems).toEqual([`[line 1]: Warning: ${message}`])
  expect(built.isValid).toBe(true)
  expect((await build(`allow ${name} : all;`)).isValid).toBe(false)
})

test('rules that contradict each other are refused', async () => {
  const built = await build('allow 10.* : fetch;\ndisallow 10.* : all;')
  expect(built.problems).toEqual([
    '[line 2]: Error: Permission clash for 10.* with earlier statement for 10.*',
  ])
  expect(built.isValid).toBe(false)
  expect((await build('allow 10.* : fetch; disallow 10.* : store;')).isValid).toBe(true)
})

test.each([
  ['1.2.3.4', [1, 2, 3, 4]],
  ['::ffff:1.2.3.4', [1, 2, 3, 4]],
  ['::1', [...Array(15).fill(0), 1]],
  ['fe80::12:3%lo', [0xfe, 0x80, ...Array(11).fill(0), 0x12, 0, 3]],
  ['1.2.3', undefined],
  ['256.1.1.1', undefined],
  ['1:2:3', undefined],
  ['host', undefined],
])('reads the address %s', (text, bytes) => {
  expect(parseAddress(text)).toEqual(bytes)
})
