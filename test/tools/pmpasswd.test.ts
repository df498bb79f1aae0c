import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkPassword } from '../../src/net/sasl/keys.ts'
import { parseUsers } from '../../src/net/sasl/user-file.ts'
import { SecretLines } from '../../src/tools/lib/secret.ts'
import { tool } from '../../src/tools/pmpasswd.ts'
import { testIo } from './run-tool.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmpasswd-'))
  path = join(dir, 'conf', 'passwd.conf')
})
afterEach(() => rmSync(dir, { recursive: true }))

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function pmpasswd(args: readonly string[], input = ''): Promise<[number, string]> {
  const io = { ...testIo('pmpasswd', args, { PCP_PASSWDCONF_PATH: path }), stdin: chunks(input) }
  const status = await tool.run(io)
  return [status, io.printed.stdout + io.printed.stderr]
}

const users = () => parseUsers(readFileSync(path, 'utf8'), path)

test('adds users, changes their passwords, lists and removes them', async () => {
  expect(await pmpasswd(['joe'], 'first\n')).toEqual([0, ''])
  expect(await pmpasswd(['ann'], 'second')).toEqual([0, ''])
  expect(statSync(path).mode & 0o007).toBe(0)
  expect(await checkPassword('first', users().get('joe')!)).toBe(true)
  expect(await pmpasswd(['joe'], 'third\n')).toEqual([0, ''])
  expect(await checkPassword('first', users().get('joe')!)).toBe(false)
  expect(await checkPassword('third', users().get('joe')!)).toBe(true)
  expect(readFileSync(path, 'utf8')).not.toMatch(/first|second|third/)
  expect(await pmpasswd(['-l'])).toEqual([0, 'joe\nann\n'])
  expect(await pmpasswd(['-d', 'joe'])).toEqual([0, ''])
  expect(await pmpasswd(['-l'])).toEqual([0, 'ann\n'])
})

test('refuses invalid requests, and leaves unknown files alone', async () => {
  expect(await pmpasswd(['joe'], '')).toEqual([1, 'pmpasswd: no password given, nothing changed\n'])
  expect((await pmpasswd([]))[1]).toMatch(/a user is required/)
  expect((await pmpasswd(['a:b'], 'x\n'))[1]).toMatch(/invalid user name/)
  expect((await pmpasswd([''], 'x\n'))[1]).toMatch(/invalid user name ""/)
  expect((await pmpasswd(['a\tb'], 'x\n'))[1]).toMatch(/invalid user name "a\\tb"/)
  expect((await pmpasswd(['-l', 'joe']))[1]).toMatch(/too many/)
  await pmpasswd(['joe'], 'x\n')
  await expect(pmpasswd(['-d', 'ann'])).rejects.toThrow(`user "ann" not found in ${path}`)
  writeFileSync(path, 'joe:x\n')
  await expect(pmpasswd(['ann'], 'x\n')).rejects.toMatchObject({ code: 'EINVAL' })
  expect(readFileSync(path, 'utf8')).toBe('joe:x\n')
})

test('a password can arrive in pieces that split characters', async () => {
  const text = Buffer.from('\u00fcber\n')
  const lines = new SecretLines(
    (async function* () {
      yield text.subarray(0, 1)
      yield text.subarray(1)
    })(),
  )
  expect(await lines.next()).toBe('\u00fcber')
})

test('help and version do not need a user', async () => {
  expect((await pmpasswd(['--version']))[1]).toMatch(/^pmpasswd version [\d.]+\n$/)
  expect((await pmpasswd(['--help']))[1]).toMatch(/^Usage: pmpasswd \[options\] user\n/)
})

test('lines are read key by key', async () => {
  const lines = new SecretLines(chunks('se', 'xx\x7f', '\bcret\rne', 'xt\n\n', 'half\x03'))
  expect(await lines.next()).toBe('secret')
  expect(await lines.next()).toBe('next')
  expect(await lines.next()).toBe('')
  expect(await lines.next()).toBeUndefined()
  expect(await lines.next()).toBeUndefined()
})
