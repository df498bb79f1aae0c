import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { loadNameSpace } from '../../src/pmapi/name-space.ts'

let dir: string
let file: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'name-space-'))
  file = join(dir, 'names')
  writeFileSync(file, '#define D 29\nroot {\n a\n b D:0:1\n}\na {\n c D:0:1\n}\n')
})
afterAll(() => rmSync(dir, { recursive: true }))

test('a file of names, preprocessed', () => {
  const names = loadNameSpace(file)
  expect(names.traverse()).toEqual(['a.c', 'b'])
  expect(names.lookup('a.c')).toBe(pmid(29, 0, 1))
})

test('the installed name space, at the path set in the environment', () => {
  expect(loadNameSpace(undefined, { env: { PMNS_DEFAULT: file } }).traverse()).toEqual(['a.c', 'b'])
})

test('two names for one PMID may be refused', () => {
  expect(() => loadNameSpace(file, { unique: true })).toThrow(/Duplicate metric id \(29\.0\.1\)/)
})

test('a missing file is reported with the error of the system', () => {
  expect(() => loadNameSpace(join(dir, 'nosuch'))).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})
