import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  assertTrustedPrefix,
  hasTrustedTree,
  isTrustedPath,
  readTrustedFile,
  trustedPath,
} from '../../src/sys/trusted-path.ts'
import { canActForOthers, giveAway, NOBODY } from '../lib/accounts.ts'

const isRoot = canActForOthers()
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-trust-'))
  mkdirSync(join(dir, 'a/b'), { recursive: true, mode: 0o755 })
  writeFileSync(join(dir, 'a/b/file'), 'text', { mode: 0o644 })
})
afterEach(() => rmSync(dir, { recursive: true }))

const at = (name: string): string => join(dir, name)

test("the user's own files are trusted, also before they exist", () => {
  expect(trustedPath(at('a/b/file'), '')).toBe(at('a/b/file'))
  expect(trustedPath(at('a/none/file'), '')).toBe(at('a/none/file'))
  expect(trustedPath(at('a/b/file/below'), '')).toBe(at('a/b/file/below'))
  expect(readTrustedFile(at('a/b/file'), '')).toBe('text')
  expect(hasTrustedTree(at('a'), '')).toBe(true)
  expect(hasTrustedTree(at('none'), '')).toBe(false)
})

test.each([
  ['a/b/file', 0o666, /file is writable by everybody \(chmod o-w\): REMEDY$/],
  ['a/b', 0o777, /b on the way to .*file: it is writable by everybody/],
  ['a', 0o757, /a on the way to /],
])('%s with mode %o is not trusted', (name, mode, message) => {
  chmodSync(at(name), mode)
  expect(() => trustedPath(at('a/b/file'), 'REMEDY')).toThrow(message)
  expect(() => readTrustedFile(at('a/b/file'), 'REMEDY')).toThrow(message)
  expect(() => hasTrustedTree(at('a'), 'REMEDY')).toThrow(/writable by everybody/)
  expect(isTrustedPath(at('a/b/file'))).toBe(false)
})

test('a sticky directory may lead to own files, but not contain them directly', () => {
  chmodSync(at('a'), 0o1777)
  expect(isTrustedPath(at('a/b/file'))).toBe(true)
  expect(isTrustedPath(at('a'))).toBe(false)
})

test('a missing path is trusted, wherever it is', () => {
  for (const mode of [0o777, 0o1777]) {
    chmodSync(at('a'), mode)
    expect(() => readTrustedFile(at('a/none/file'), '')).toThrow(/^ENOENT/)
    expect(hasTrustedTree(at('a/none'), '')).toBe(false)
  }
})

test('a name that others could create is not trusted before the caller has created it', () => {
  chmodSync(at('a'), 0o1777)
  expect(() => trustedPath(at('a/none/below'), 'REMEDY')).toThrow(
    /a on the way to .*below: it lets other users create the missing part: REMEDY$/,
  )
  assertTrustedPrefix(at('a/none/below'), '')
  mkdirSync(at('a/none'), { mode: 0o755 })
  expect(trustedPath(at('a/none/below'))).toBe(at('a/none/below'))
  chmodSync(at('a'), 0o777)
  expect(() => assertTrustedPrefix(at('a/none/below'), '')).toThrow(
    /a on the way to .* is writable by everybody/,
  )
})

test('links are followed, and their targets are checked', () => {
  symlinkSync(at('a/b'), at('link'))
  symlinkSync('link/file', at('file'))
  expect(trustedPath(at('file'), '')).toBe(at('a/b/file'))
  expect(readTrustedFile(at('file'), '')).toBe('text')
  chmodSync(at('a/b'), 0o777)
  expect(isTrustedPath(at('file'))).toBe(false)
  symlinkSync(at('loop'), at('loop'))
  expect(() => trustedPath(at('loop'), '')).toThrow(/too many links/)
})

test.skipIf(!isRoot)('nothing on the way may belong to another user', () => {
  for (const name of ['a', 'a/b', 'a/b/file']) {
    giveAway(at(name))
    expect(() => trustedPath(at('a/b/file'), ''), name).toThrow(/belongs to user nobody \(65534\)/)
    expect(() => hasTrustedTree(at('a'), ''), name).toThrow(/belongs to user nobody/)
    chownSync(at(name), 0, 0)
  }
  symlinkSync(at('a/b/file'), at('link'))
  lchownSync(at('link'), NOBODY, NOBODY)
  expect(() => trustedPath(at('link'), '')).toThrow(/is a link of user nobody/)
})

test.skipIf(!isRoot)('a group may write only where it has no other members', () => {
  chmodSync(at('a/b'), 0o775)
  expect(isTrustedPath(at('a/b/file'))).toBe(true)
  chownSync(at('a/b'), 0, NOBODY)
  expect(() => trustedPath(at('a/b/file'), '')).toThrow(/is writable by group 65534 \(chmod g-w\)/)
})
