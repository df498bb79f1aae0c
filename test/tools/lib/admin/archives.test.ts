/** Ages, names of archives, and the lock of a directory. */
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ageWords, NEVER, nameLines, parseAge } from '../../../../src/tools/lib/admin/ages.ts'
import {
  archiveFilesIn,
  byPart,
  dateOf,
  dayBefore,
  dayName,
  fullDate,
  isPartOfDay,
  isWholeDay,
} from '../../../../src/tools/lib/admin/archive-names.ts'
import { takeMutex } from '../../../../src/tools/lib/admin/mutex.ts'

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

test('ages and names in words', () => {
  expect(['1', '14', '1:12'].map(ageWords)).toEqual(['1 day', '14 days', '1:12'])
  const lines = nameLines(Array.from({ length: 8 }, (_, i) => `20261120.10.0${i}.meta`))
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

test('days are those of the calendar', () => {
  const at = new Date(2026, 2, 1, 0, 30).getTime()
  expect([dayName(at), dayName(dayBefore(at)), fullDate('991231')]).toEqual([
    '20260301',
    '20260228',
    '20991231',
  ])
})

test('files of archives, those compressed among them', () => {
  const names = [
    '20261120.10',
    '20261120.2.xz',
    '20261120.index',
    '20261120.meta.zst',
    'own.meta',
    'pmlogger.log',
  ]
  for (const name of names) writeFileSync(join(dir, name), '')
  const found = archiveFilesIn(dir, { onlyDated: true }).sort(byPart)
  expect(found.map(({ name, base, part, suffix }) => [name, base, part, suffix])).toEqual([
    ['20261120.2.xz', '20261120', '2', '.xz'],
    ['20261120.10', '20261120', '10', ''],
    ['20261120.index', '20261120', 'index', ''],
    ['20261120.meta.zst', '20261120', 'meta', '.zst'],
  ])
  expect(archiveFilesIn(dir, { onlyDated: false }).map(({ name }) => name)).toContain('own.meta')
})

/** Takes the lock at once or not at all. */
async function take(): Promise<{ mutex: Awaited<ReturnType<typeof takeMutex>>; stale: string[] }> {
  const stale: string[] = []
  const { signal } = new AbortController()
  const options = { limitMs: 0, nowMs: Date.now, signal, onStale: (why: string) => stale.push(why) }
  return { mutex: await takeMutex(join(dir, 'lock'), options), stale }
}

test('a lock is of one at a time', async () => {
  const { mutex } = await take()
  expect(readFileSync(join(dir, 'lock'), 'utf8')).toBe(`${hostname()}:${process.pid}\n`)
  expect((await take()).mutex).toBeUndefined()
  mutex!.release()
  expect(existsSync(join(dir, 'lock'))).toBe(false)
})

test('a lock of nobody is removed, and that is told', async () => {
  writeFileSync(join(dir, 'lock'), `${hostname()}:999999999\n`)
  const left = await take()
  expect(left.stale).toEqual(['removing lock file of process 999999999, which is no more'])
  left.mutex!.release()
  // that of a command of PCP's has no text
  writeFileSync(join(dir, 'lock'), '')
  expect((await take()).mutex).toBeUndefined()
  const old = Date.now() / 1000 - 31 * 60
  utimesSync(join(dir, 'lock'), old, old)
  const { mutex, stale } = await take()
  expect(stale).toEqual(['removing lock file older than 30 minutes'])
  mutex!.release()
})
