/** Ages, names of archives, and the lock of a directory. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { archiveFilesIn, byPart } from '../../../../src/archive-store/files.ts'
import { formatAge, NEVER, parseAge, wrapNames } from '../../../../src/tools/lib/admin/ages.ts'
import {
  datedFilesIn,
  dateOf,
  dayBefore,
  dayName,
  fullDate,
  isPartOfDay,
  isWholeDay,
} from '../../../../src/tools/lib/admin/archive-names.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'archives-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

test.each([
  ['14', 14 * 86_400_000],
  ['0', 0],
  ['1:12', 36 * 3_600_000],
  ['0:0:30', 30 * 60_000],
  ['never', NEVER],
  ['forever', NEVER],
  ['', undefined],
  ['-1', undefined],
  ['1:24', undefined],
  ['1:0:60', undefined],
  ['1d', undefined],
])('an age %j', (text, ms) => {
  expect(parseAge(text)).toBe(ms)
})

test('formats ages and lists of names', () => {
  expect(['1', '14', '1:12'].map(formatAge)).toEqual(['1 day', '14 days', '1:12'])
  const lines = wrapNames(Array.from({ length: 8 }, (_, i) => `20261120.10.0${i}.meta`))
  expect(lines.map((line) => line.length <= 79)).toEqual([true, true, true])
  expect(lines.join(' ').split(/ +/).filter(Boolean)).toHaveLength(8)
})

test.each([
  ['20261120', '20261120', true, false],
  ['20261120.10.05', '20261120', false, true],
  ['20261120.10.05-01', '20261120', false, true],
  ['261120', '261120', true, false],
  ['20261120-old', '20261120', false, false],
  ['mine', undefined, false, false],
  ['99999999', undefined, false, false],
])('the name %j', (base, date, isDay, isPart) => {
  expect([dateOf(base), isWholeDay(base), isPartOfDay(base)]).toEqual([date, isDay, isPart])
})

test('uses calendar days', () => {
  const at = new Date(2026, 2, 1, 0, 30).getTime()
  expect([dayName(at), dayName(dayBefore(at)), fullDate('991231')]).toEqual([
    '20260301',
    '20260228',
    '20991231',
  ])
})

test('lists files of archives, including compressed ones', () => {
  const names = [
    '20261120.10',
    '20261120.2.xz',
    '20261120.index',
    '20261120.meta.zst',
    'own.meta',
    'pmlogger.log',
  ]
  for (const name of names) writeFileSync(join(dir, name), '')
  const found = datedFilesIn(dir).sort(byPart)
  expect(found.map(({ name, base, part, suffix }) => [name, base, part, suffix])).toEqual([
    ['20261120.2.xz', '20261120', '2', '.xz'],
    ['20261120.10', '20261120', '10', ''],
    ['20261120.index', '20261120', 'index', ''],
    ['20261120.meta.zst', '20261120', 'meta', '.zst'],
  ])
  expect(archiveFilesIn(dir).map(({ name }) => name)).toContain('own.meta')
})
