import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { giveDir, makeDir, makeDirOf } from '../../src/sys/make-dir.ts'
import { canActForOthers, giveAway, NOBODY } from '../lib/accounts.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-make-dir-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('creates missing directories with the mode, and accepts existing ones', () => {
  const path = join(dir, 'a', 'b')
  makeDir(path, 0o700)
  makeDir(path)
  expect([dir, join(dir, 'a'), path].map((each) => statSync(each).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ])
})

test('a file in the way is an error', () => {
  writeFileSync(join(dir, 'file'), '')
  expect(() => makeDir(join(dir, 'file'))).toThrowError(expect.objectContaining({ code: 'EEXIST' }))
  expect(() => makeDir(join(dir, 'file', 'x'))).toThrowError(expect.objectContaining({ code: 'ENOTDIR' }))
})

test.runIf(process.platform === 'linux')('a file system that makes no directories is an error', () => {
  expect(() => makeDir('/proc/pcp-ts/x')).toThrowError(expect.objectContaining({ code: 'ENOENT' }))
})

const nobody = { uid: NOBODY, gid: NOBODY }

test('a link in place of the directory just made is an error', () => {
  mkdirSync(join(dir, 'other'))
  symlinkSync(join(dir, 'other'), join(dir, 'link'))
  const before = statSync(join(dir, 'other'))
  const owner = { uid: before.uid, gid: before.gid }
  expect(() => giveDir(join(dir, 'link'), owner)).toThrow(/ELOOP|ENOTDIR/)
  expect(statSync(join(dir, 'other')).ctimeMs).toBe(before.ctimeMs)
})

test.runIf(canActForOthers())(
  'changes the owner of a directory, but not if another account put it there',
  () => {
    makeDirOf(join(dir, 'made'), 0o750, nobody)
    expect(statSync(join(dir, 'made'))).toMatchObject(nobody)
    mkdirSync(join(dir, 'planted'))
    giveAway(join(dir, 'planted'))
    expect(() => giveDir(join(dir, 'planted'), { uid: 0, gid: 0 })).toThrow(
      expect.objectContaining({ code: 'EACCES', message: expect.stringContaining(join(dir, 'planted')) }),
    )
    expect(statSync(join(dir, 'planted'))).toMatchObject(nobody)
  },
)
