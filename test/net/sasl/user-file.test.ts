import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkPassword, makeVerifier } from '../../../src/net/sasl/keys.ts'
import { formatUsers, parseUsers, userFileLookup, userFilePath } from '../../../src/net/sasl/user-file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-users-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** The keys of RFC 7677's example: user, pencil. */
const LINE =
  'user:SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU='

test('a file of users is read and written unchanged', async () => {
  const text = `# who may log in\n${LINE}\n`
  const users = parseUsers(text, 'passwd.conf')
  expect([...users.keys()]).toEqual(['user'])
  expect(await checkPassword('pencil', users.get('user')!)).toBe(true)
  expect(await checkPassword('Pencil', users.get('user')!)).toBe(false)
  expect(formatUsers(users, text)).toBe(text)
})

test('no two verifiers of a password are alike', async () => {
  const [a, b] = [await makeVerifier('x'), await makeVerifier('x')]
  expect(a.salt).not.toEqual(b.salt)
  expect(a.storedKey).not.toEqual(b.storedKey)
})

test.each(['user', 'user:secret', LINE.slice(0, -5), LINE.replace('4096', '0'), `:${LINE}`])(
  'refuses the line %j with its line number',
  (line) => {
    expect(() => parseUsers(`# comment\n${line}\n`, 'passwd.conf')).toThrow(
      /^passwd\.conf line 2: .*pmpasswd/,
    )
  },
)

test('users are looked up in the current file; problems are reported once', () => {
  const path = join(dir, 'passwd.conf')
  const problems: string[] = []
  const find = userFileLookup(path, (problem) => problems.push(problem))
  expect(find('user')).toBeUndefined()
  expect(problems.splice(0)).toEqual([expect.stringMatching(/ENOENT.*no user can authenticate/)])
  writeFileSync(path, `${LINE}\n`)
  expect(find('user')).toMatchObject({ iterations: 4096 })
  expect(problems).toEqual([])
  writeFileSync(path, 'user:secret\n')
  expect(find('user')).toBeUndefined()
  expect(find('user')).toBeUndefined()
  expect(problems).toEqual([expect.stringMatching(/line 1.*no user can authenticate/)])
})

test('a world-writable file admits no user', () => {
  const path = join(dir, 'passwd.conf')
  const problems: string[] = []
  const find = userFileLookup(path, (problem) => problems.push(problem))
  writeFileSync(path, `${LINE}\n`)
  chmodSync(path, 0o666)
  expect(find('user')).toBeUndefined()
  expect(problems).toEqual([expect.stringMatching(/writable by everybody.*no user can authenticate/)])
  chmodSync(path, 0o640)
  expect(find('user')).toMatchObject({ iterations: 4096 })
})

test('the file is beside the other settings', () => {
  expect(userFilePath({ PCP_SYSCONF_DIR: '/etc/pcp' })).toBe('/etc/pcp/passwd.conf')
  expect(userFilePath({ PCP_SYSCONF_DIR: '/etc/pcp', PCP_PASSWDCONF_PATH: '/x' })).toBe('/x')
})
