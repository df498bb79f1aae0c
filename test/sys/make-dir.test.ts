import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDir } from '../../src/sys/make-dir.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-make-dir-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

test('makes what is missing, with the mode, and does not mind what is there', () => {
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
