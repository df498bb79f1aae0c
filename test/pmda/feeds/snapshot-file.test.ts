import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { snapshotFile } from '../../../src/pmda/feeds/snapshot-file.ts'

const top = mkdtempSync(join(tmpdir(), 'snapshot-'))
afterAll(() => rmSync(top, { recursive: true }))

test('is parsed again only when it has changed', () => {
  const path = join(top, 'a')
  let parsed = 0
  const reading = snapshotFile({
    path,
    parse: (text) => {
      parsed++
      return Number(text)
    },
  })
  reading.refresh({})
  expect(reading.error?.code).toBe('ENOENT')
  writeFileSync(path, '41')
  reading.refresh({})
  reading.refresh({})
  expect([reading.value, parsed]).toEqual([41, 1])
  writeFileSync(`${path}.new`, '42')
  renameSync(`${path}.new`, path)
  reading.refresh({})
  expect([reading.value, parsed]).toEqual([42, 2])
  rmSync(path)
  reading.refresh({})
  expect(() => reading.value).toThrow('No such file or directory')
})

test('an invalid file is an error each time, until the file changes', () => {
  const path = join(top, 'b')
  writeFileSync(path, 'x')
  const reading = snapshotFile({ path, parse: (text) => JSON.parse(text) as unknown })
  for (let i = 0; i < 2; i++) {
    reading.refresh({})
    expect(reading.error?.message).toContain('JSON')
  }
  writeFileSync(path, '[1]')
  reading.refresh({})
  expect(reading.value).toEqual([1])
})

test('files that are too large or too old are errors', () => {
  const path = join(top, 'c')
  writeFileSync(path, '12345')
  const large = snapshotFile({ path, parse: String, maxBytes: 4 })
  large.refresh({})
  expect(large.error).toMatchObject({ code: 'EFBIG', message: `"${path}" has 5 bytes, more than 4` })
  utimesSync(path, 1000, 1000)
  const old = snapshotFile({ path, parse: String, maxAgeMs: 5000, clock: () => 1_006_000 })
  old.refresh({})
  expect(old.error).toMatchObject({ code: 'PM_ERR_AGAIN' })
  const young = snapshotFile({ path, parse: String, maxAgeMs: 5000, clock: () => 1_004_000 })
  young.refresh({})
  expect(young.value).toBe('12345')
})
