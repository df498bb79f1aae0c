/** Columns files of the archives that `npm start` records. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { columnsPath } from '../../src/series/columns/places.ts'
import { storedArchives, storedBytes, type TidyResult } from '../../src/start/retention.ts'
import { tidyWithRollups } from '../../src/start/rollups.ts'
import { writeHost } from '../series/lib.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 20, 12)

let directory = ''
/** Archives of this host. */
let dir = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'start-rollups-'))
  dir = join(directory, 'here')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Writes an archive whose last change was some days ago; returns its path. */
function archive(file: string, days: number): string {
  const base = writeHost(directory, 'here', { file, samples: 100 })
  const time = (NOW - days * DAY_MS) / 1000
  for (const part of ['meta', 'index', '0']) utimesSync(`${base}.${part}`, time, time)
  return base
}

function tidy(nowMs = NOW, keepBytes = 1e9): Promise<TidyResult> {
  const policy = { compressAfterMs: DAY_MS, keepMs: 14 * DAY_MS, keepBytes }
  const inUse = (): string => '20261120.00.00'
  return tidyWithRollups(dir, policy, { nowMs, inUse, signal: new AbortController().signal })
}

test('finished archives have columns files until they are too old', async () => {
  const old = archive('20261110.00.00', 9.5)
  const last = archive('20261119.00.00', 0.5)
  const current = archive('20261120.00.00', 0)
  expect(await tidy()).toEqual({ compressed: ['20261110.00.00'], removed: [], problems: [] })
  expect([old, last, current].map((base) => existsSync(columnsPath(base)))).toEqual([true, true, false])
  const { mtimeMs } = statSync(columnsPath(last))
  await tidy()
  expect(statSync(columnsPath(last)).mtimeMs).toBe(mtimeMs)
  // Five days later the first one is removed, and the second one compressed: its columns file is renewed.
  expect(await tidy(NOW + 5 * DAY_MS)).toEqual({
    compressed: ['20261119.00.00'],
    removed: ['20261110.00.00'],
    problems: [],
  })
  expect(readdirSync(join(dir, 'rollups'))).toEqual(['20261119.00.00.columns'])
})

test('new columns files that exceed the size limit remove the oldest archive', async () => {
  archive('20261118.00.00', 0.9)
  archive('20261119.00.00', 0.5)
  const bytes = storedBytes(storedArchives(dir))
  expect(await tidy(NOW, bytes)).toMatchObject({ removed: ['20261118.00.00'], problems: [] })
  expect(storedBytes(storedArchives(dir))).toBeLessThanOrEqual(bytes)
  expect(readdirSync(join(dir, 'rollups'))).toEqual(['20261119.00.00.columns'])
})
