/** Atomic replacement of files. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replaceFile, replaceFileBy } from '../../src/sys/replace-file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'replace-file-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test('makes a file, and leaves nothing else behind', () => {
  replaceFile(join(dir, 'a'), 'text\n')
  expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('text\n')
  expect(readdirSync(dir)).toEqual(['a'])
})

test('open files and links keep the old content', () => {
  writeFileSync(join(dir, 'a'), 'old')
  linkSync(join(dir, 'a'), join(dir, 'b'))
  replaceFile(join(dir, 'a'), 'new')
  expect(readFileSync(join(dir, 'b'), 'utf8')).toBe('old')
})

test('keeps the mode on request', () => {
  const path = join(dir, 'a')
  writeFileSync(path, 'old')
  chmodSync(path, 0o4600) // set-id bits are removed
  replaceFile(path, 'new', { keepMode: true })
  expect(statSync(path).mode & 0o7777).toBe(0o600)
  replaceFile(path, 'newer')
  expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask())
})

test('follows a symbolic link', () => {
  mkdirSync(join(dir, 'sub'))
  writeFileSync(join(dir, 'sub', 'a'), 'old')
  symlinkSync(join('sub', 'a'), join(dir, 'link'))
  replaceFile(join(dir, 'link'), 'new')
  expect(lstatSync(join(dir, 'link')).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(dir, 'sub', 'a'), 'utf8')).toBe('new')
})

test('other than regular files are not replaced', () => {
  const pipe = join(dir, 'pipe')
  spawnSync('mkfifo', [pipe])
  const fd = openSync(pipe, 'r+') // a reader, so that writing does not wait for one
  replaceFile(pipe, 'text')
  const bytes = new Uint8Array(10)
  expect(readSync(fd, bytes)).toBe(4)
  closeSync(fd)
  expect(statSync(pipe).isFIFO()).toBe(true)
})

test('a failure changes nothing', () => {
  symlinkSync('nowhere', join(dir, 'dangling'))
  for (const path of [dir, join(dir, 'no', 'such'), join(dir, 'dangling')])
    expect(() => replaceFile(path, 'text')).toThrow()
  expect(readdirSync(dir)).toEqual(['dangling'])
})

test('errors name the file that was to be replaced, not the temporary one', async () => {
  const path = join(dir, 'missing', 'a')
  const expected = expect.objectContaining({
    code: 'ENOENT',
    path,
    message: `ENOENT: no such file or directory, open '${path}'`,
  })
  const errorOf = async (write: () => unknown): Promise<unknown> => {
    try {
      await write()
    } catch (error) {
      return error
    }
    return undefined
  }
  expect(await errorOf(() => replaceFile(path, 'text'))).toEqual(expected)
  expect(await errorOf(() => replaceFileBy(path, async () => {}))).toEqual(expected)
})
