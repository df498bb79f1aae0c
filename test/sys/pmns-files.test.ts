/** Finding name space files and their includes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { defaultPmnsPath, isReadableFile, pmnsFiles } from '../../src/sys/pmns-files.ts'

const dir = mkdtempSync(join(tmpdir(), 'pmns-'))
afterAll(() => rmSync(dir, { recursive: true }))
for (const path of ['sub/beside', 'added/both', 'added/dir/', 'var/pmns/both', 'var/pmns/stdpmid', 'here']) {
  mkdirSync(join(dir, path, '..'), { recursive: true })
  if (path.endsWith('/')) mkdirSync(join(dir, path))
  else writeFileSync(join(dir, path), path)
}
const files = pmnsFiles({ PCP_VAR_DIR: join(dir, 'var') }, { cwd: dir, includeDirs: ['added'] })

test.each([
  ['here', 'here'],
  ['beside', 'sub/beside'],
  ['both', 'added/both'],
  ['stdpmid', join(dir, 'var/pmns/stdpmid')],
  [join(dir, 'here'), join(dir, 'here')],
])('finds %s', (name, path) => {
  expect(files.findInclude(name, 'sub/main')?.path).toBe(path)
  expect(files.findInclude(name, 'sub/main')?.text).toBe(files.readText(path))
})

test.each(['nowhere', 'dir', 'sub', '/stdpmid', 'here/x', 'a\0b'])('finds no %j', (name) => {
  expect(files.findInclude(name, 'sub/main')).toBeUndefined()
})

test('a device is readable, a directory is not', () => {
  expect(isReadableFile('/dev/null')).toBe(true)
  expect(isReadableFile(dir)).toBe(false)
})

test('the default name space follows the environment', () => {
  expect(defaultPmnsPath({ PMNS_DEFAULT: '/x/names', PCP_VAR_DIR: '/y' })).toBe('/x/names')
  expect(defaultPmnsPath({ PCP_VAR_DIR: '/y' })).toBe('/y/pmns/root')
})
