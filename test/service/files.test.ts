import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ensureAccount, removeAccount } from '../../src/service/account.ts'
import { removeDirectories } from '../../src/service/directories.ts'
import { checkAccess, checkPlaces } from '../../src/service/installation.ts'
import { type PasswdEntry, readPasswd } from '../../src/service/passwd.ts'
import { removeUnit, writeUnit } from '../../src/service/unit-file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-service-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))
const uid = process.geteuid?.() ?? 0

test('a unit is written once, replaced when it changes, and kept when it was edited', () => {
  const path = join(dir, 'a', 'pcp-ts.service')
  expect(writeUnit(path, 'one\n', false)).toBe('new')
  expect(writeUnit(path, 'one\n', false)).toBe('unchanged')
  expect(writeUnit(path, 'two\n', false)).toBe('changed')
  writeFileSync(path, `${readFileSync(path, 'utf8')}mine\n`)
  expect(() => writeUnit(path, 'two\n', false)).toThrow(
    /was edited by hand: to replace it anyway, add --force/,
  )
  expect(() => removeUnit(path, false)).toThrow(/was edited by hand/)
  expect(readFileSync(path, 'utf8')).toContain('mine\n')
  expect(writeUnit(path, 'three\n', true)).toBe('changed')
  expect(removeUnit(path, false)).toBe(true)
  expect(removeUnit(path, false)).toBe(false)
})

test("another's unit is neither replaced nor removed", () => {
  const path = join(dir, 'pcp-ts.service')
  writeFileSync(path, '[Unit]\n')
  expect(() => writeUnit(path, 'one\n', false)).toThrow(/was not written by pcp-ts service/)
  rmSync(path)
  symlinkSync('/dev/null', path)
  expect(() => writeUnit(path, 'one\n', true)).toThrow(/is not a unit/)
  expect(() => removeUnit(path, true)).toThrow(/is not a unit/)
})

test('directories are removed with their contents, links are not followed', () => {
  const [state, outside] = [join(dir, 'state'), join(dir, 'outside')]
  mkdirSync(join(state, 'deep'), { recursive: true })
  mkdirSync(outside)
  writeFileSync(join(outside, 'file'), 'x')
  symlinkSync(outside, join(state, 'link'))
  expect(() => removeDirectories([state], [uid + 1])).toThrow(/belongs to user/)
  expect(removeDirectories([state, join(dir, 'none')], [uid])).toEqual([state])
  expect(existsSync(join(outside, 'file'))).toBe(true)
  symlinkSync(outside, state)
  expect(() => removeDirectories([outside, state], [uid])).toThrow(/not a directory but a link/)
  expect(existsSync(join(outside, 'file'))).toBe(true)
})

const NODE = '/usr/bin/node'

test.each([
  ['/usr/local/lib/node_modules/pcp-ts/bin/pcp-ts', []],
  ['/home/u/.nvm/versions/node/v20.1.0/lib/node_modules/pcp-ts/bin/pcp-ts', ['nvm']],
  ['/tmp/x/node_modules/pcp-ts/bin/pcp-ts', ['temporary']],
])('warnings about %s', (program, words) => {
  const warnings = checkPlaces({ node: NODE, program })
  expect(warnings).toHaveLength(words.length)
  for (const [i, word] of words.entries()) expect(warnings[i]).toContain(word)
})

test('a cache of npx is refused', () => {
  const program = '/home/u/.npm/_npx/0a1b/node_modules/pcp-ts/bin/pcp-ts'
  expect(() => checkPlaces({ node: NODE, program })).toThrow(
    /pcp-ts is a cache of npx.*npm install --global pcp-ts/,
  )
})

/** Modes and owners of paths; all others are open to everybody. */
function fakeStat(special: Readonly<Record<string, Partial<Stats>>>): (path: string) => Stats {
  return (path) => ({ mode: 0o755, uid: 0, gid: 0, ...special[path] }) as Stats
}

test.each([
  [{}, undefined],
  [{ '/home/u': { mode: 0o700, uid: 7, gid: 7 } }, '/home/u (mode 0700)'],
  [{ '/home/u': { mode: 0o750, uid: 7, gid: 50 } }, undefined], // the account's group
  [{ '/home/u/pcp-ts': { mode: 0o600, uid: 7, gid: 7 } }, '/home/u/pcp-ts (mode 0600)'],
  [{ '/usr/bin/node': { mode: 0o644, uid: 0, gid: 0 } }, '/usr/bin/node (mode 0644)'],
  [{ '/': { mode: 0o770, uid: 0, gid: 0 } }, '/ (mode 0770)'],
])('%j: what the account cannot use is named', (special, closed) => {
  const check = (): void =>
    checkAccess({ node: NODE, program: '/home/u/pcp-ts' }, { uid: 5, gid: 50 }, fakeStat(special))
  if (closed === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(`${closed} is closed to the service's account`)
})

const ENTRY: PasswdEntry = {
  uid: 990,
  gid: 990,
  fullName: 'pcp-ts collector and recorder',
  home: '/var/lib/pcp-ts',
}

test('the account is made if it does not exist, with the first program that works', async () => {
  const ran: string[] = []
  let entry: PasswdEntry | undefined
  const run = (program: string, args: readonly string[]) => {
    ran.push(program)
    if (program === 'systemd-sysusers') return Promise.resolve({ status: undefined, text: '' })
    if (program === 'useradd') entry = ENTRY
    else if (args[0] === 'pcp-ts') entry = undefined
    return Promise.resolve({ status: 0, text: '' })
  }
  const io = { run, find: () => entry }
  expect(await ensureAccount(io)).toEqual({ ...ENTRY, isNew: true })
  expect(await ensureAccount(io)).toEqual({ ...ENTRY, isNew: false })
  expect(await removeAccount(io)).toBe(true)
  expect(await removeAccount(io)).toBe(false)
  expect(ran).toEqual(['systemd-sysusers', 'useradd', 'userdel'])
})

test("an administrator's account is used and never removed; root's id is refused", async () => {
  const run = () => Promise.reject(new Error('nothing is run'))
  const find = () => ({ ...ENTRY, fullName: 'Our monitoring' })
  expect(await ensureAccount({ run, find })).toMatchObject({ uid: 990, isNew: false })
  expect(await removeAccount({ run, find })).toBe(false)
  await expect(ensureAccount({ run, find: () => ({ ...ENTRY, uid: 0 }) })).rejects.toThrow(/root's user id/)
})

test('a failure to make the account names what was tried', async () => {
  const run = (program: string) =>
    Promise.resolve(program === 'useradd' ? { status: 1, text: 'locked\n' } : { status: undefined, text: '' })
  await expect(ensureAccount({ run, find: () => undefined })).rejects.toThrow(
    /systemd-sysusers: not found; useradd: locked/,
  )
})

test('accounts are found by their whole name', () => {
  const path = join(dir, 'passwd')
  writeFileSync(path, 'pcp-tsx:x:1:1::/:\npcp-ts:x:5:6:Full name:/home:/bin/false\n')
  expect(readPasswd('pcp-ts', path)).toEqual({ uid: 5, gid: 6, fullName: 'Full name', home: '/home' })
  expect(readPasswd('pcp', path)).toBeUndefined()
})
