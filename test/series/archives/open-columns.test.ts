/** Columns files in memory: bounded, renewed when archives change, forgotten when they are gone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pmid } from '../../../src/model/ids.ts'
import { PM_TYPE_STRING, PM_TYPE_U64 } from '../../../src/model/types.ts'
import { findArchives } from '../../../src/series/archives/files.ts'
import { OpenColumns } from '../../../src/series/archives/open-columns.ts'
import { maintainRollups } from '../../../src/series/columns/maintain.ts'
import { writeHost } from '../lib.ts'

const COUNT = pmid(77, 0, 1)
const NAME = pmid(77, 0, 3)

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'columns-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('files are kept up to a number of bytes', async () => {
  for (const host of ['a', 'b', 'c']) writeHost(directory, host)
  await maintainRollups([directory], { nowMs: Date.now(), isActive: () => false, isColumnsOnly: true })
  const places = findArchives([directory])
  const samplesIn = (columns: OpenColumns): (number | undefined)[] =>
    places.map((place) => columns.chunks(place, COUNT, PM_TYPE_U64, {})?.[0]?.samples.records.length)
  const warnings: unknown[] = []
  const all = new OpenColumns((warning) => warnings.push(warning))
  expect(samplesIn(all)).toEqual([6, 6, 6])
  expect(all.count).toBe(3)
  // Three blocks in a directory, and the times of six records.
  const two = new OpenColumns((warning) => warnings.push(warning), 2 * (3 * 24 + 6 * 16))
  for (let i = 0; i < 3; i++) expect(samplesIn(two)).toEqual([6, 6, 6])
  expect(two.count).toBe(2)
  two.retain(new Set([places[0]!.base]))
  expect(two.count).toBe(0)
  all.retain(new Set([places[0]!.base]))
  expect(all.count).toBe(1)
  expect(all.chunks({ ...places[0]!, content: 'changed' }, COUNT, PM_TYPE_U64, {})).toBeUndefined()
  expect(all.count).toBe(0)
  expect(all.chunks(places[0]!, NAME, PM_TYPE_STRING, {})).toBeUndefined()
  expect(warnings).toEqual([])
})
