import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type RetentionPolicy,
  storedArchives,
  storedBytes,
  type TidyResult,
  tidyArchives,
} from '../../src/start/retention.ts'
import { stagingName } from '../../src/sys/staging.ts'

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 20, 12)
const POLICY: RetentionPolicy = { compressAfterMs: DAY_MS, keepMs: 14 * DAY_MS, keepBytes: 1e6 }

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-ts-store-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Creates the files of an archive, last written to some days ago. */
function makeArchive(name: string, days: number, parts: Readonly<Record<string, number>> = {}): void {
  const all = { index: 10, meta: 100, '0': 1000, ...parts }
  for (const [part, bytes] of Object.entries(all)) makeFile(`${name}.${part}`, days, bytes)
}

function makeFile(name: string, days: number, bytes = 10): void {
  writeFileSync(join(dir, name), 'x'.repeat(bytes))
  const time = (NOW - days * DAY_MS) / 1000
  utimesSync(join(dir, name), time, time)
}

const tidy = (changes: Partial<RetentionPolicy> = {}, inUse?: string): Promise<TidyResult> =>
  tidyArchives(
    dir,
    { ...POLICY, ...changes },
    { nowMs: NOW, inUse: () => inUse, signal: new AbortController().signal },
  )
const left = (): string[] => readdirSync(dir).sort()

test('archives are listed oldest first, with all their files', () => {
  makeArchive('20261119.00.00', 1, { '1': 500 })
  makeArchive('20261118.00.00', 2)
  makeFile('20261118.00.00.3.xz', 2, 50)
  const found = storedArchives(dir)
  expect(found.map(({ name, bytes }) => [name, bytes])).toEqual([
    ['20261118.00.00', 1160],
    ['20261119.00.00', 1610],
  ])
  expect(found[0]!.files.find(({ part }) => part === '3')).toMatchObject({ suffix: '.xz' })
  expect(storedBytes(found)).toBe(2770)
})

test('a missing directory is ignored', async () => {
  const nowhere = { nowMs: NOW, inUse: () => undefined, signal: new AbortController().signal }
  expect(await tidyArchives(join(dir, 'none'), POLICY, nowhere)).toEqual({
    compressed: [],
    removed: [],
    problems: [],
  })
})

test('after a day volumes and metadata are compressed, and keep their age', async () => {
  makeArchive('20261119.00.00', 1.2, { '1': 500 })
  makeArchive('20261119.14.00', 0.9)
  const { compressed, problems } = await tidy()
  expect({ compressed, problems }).toEqual({ compressed: ['20261119.00.00'], problems: [] })
  expect(left()).toEqual([
    '20261119.00.00.0.gz',
    '20261119.00.00.1.gz',
    '20261119.00.00.index',
    '20261119.00.00.meta.gz',
    '20261119.14.00.0',
    '20261119.14.00.index',
    '20261119.14.00.meta',
  ])
  const volume = join(dir, '20261119.00.00.0.gz')
  expect(gunzipSync(readFileSync(volume)).toString()).toBe('x'.repeat(1000))
  expect(statSync(volume).mtimeMs).toBeCloseTo(NOW - 1.2 * DAY_MS, -2)
  expect((await tidy()).compressed).toEqual([])
})

test('unfinished output of a killed process is removed, and the file compressed again', async () => {
  makeArchive('20261118.00.00', 2)
  const unfinished = stagingName().replace(`.${process.pid}-`, '.2000000000-')
  mkdirSync(join(dir, unfinished))
  makeFile(`${unfinished}/20261118.00.00.0.gz`, 2)
  // Complete, but the process died before the plain file was removed.
  makeFile('20261118.00.00.meta.gz', 2)
  await tidy()
  expect(left()).toEqual(['20261118.00.00.0.gz', '20261118.00.00.index', '20261118.00.00.meta.gz'])
  expect(gunzipSync(readFileSync(join(dir, '20261118.00.00.meta.gz')))).toHaveLength(100)
})

test('archives that are too old are removed with all their files', async () => {
  makeArchive('20261101.00.00', 14.1)
  makeArchive('20261102.00.00-03', 14)
  makeArchive('20261120.00.00', 0.1)
  expect((await tidy()).removed).toEqual(['20261101.00.00', '20261102.00.00-03'])
  expect(left()).toEqual(['20261120.00.00.0', '20261120.00.00.index', '20261120.00.00.meta'])
})

test('the oldest are removed until the size limit is met', async () => {
  for (const [i, name] of ['20261117.00.00', '20261118.00.00', '20261119.00.00'].entries())
    makeArchive(name, 0.5 - i / 10)
  expect((await tidy({ keepBytes: 2220 })).removed).toEqual(['20261117.00.00'])
  expect((await tidy({ keepBytes: 2219 })).removed).toEqual(['20261118.00.00'])
})

test('rollups count for the size, and are removed with their archive', async () => {
  mkdirSync(join(dir, 'rollups'))
  for (const day of ['17', '18']) {
    makeArchive(`202611${day}.00.00`, 0)
    makeFile(`rollups/202611${day}.00.00.columns`, 0, 100)
    makeFile(`rollups/202611${day}.00.00.1hour.parquet`, 0, 10)
  }
  expect(storedBytes(storedArchives(dir))).toBe(2440)
  expect((await tidy({ keepBytes: 2440 })).removed).toEqual([])
  expect((await tidy({ keepBytes: 2439 })).removed).toEqual(['20261117.00.00'])
  expect(readdirSync(join(dir, 'rollups')).sort()).toEqual([
    '20261118.00.00.1hour.parquet',
    '20261118.00.00.columns',
  ])
})

test('size is counted after compression', async () => {
  makeArchive('20261117.00.00', 3, { '0': 100_000 })
  makeArchive('20261120.00.00', 0)
  expect(await tidy({ keepBytes: 10_000 })).toMatchObject({ compressed: ['20261117.00.00'], removed: [] })
})

test('the archive being written is left alone, whatever its age and size', async () => {
  makeArchive('20261101.00.00', 15)
  expect(await tidy({ keepBytes: 1 }, '20261101.00.00')).toEqual({
    compressed: [],
    removed: [],
    problems: [],
  })
  expect(left()).toHaveLength(3)
})

test('files with other names are not ours', async () => {
  for (const name of ['mine.0', 'mine.meta', '20261101.0', '20261101.00.00.txt', '20261101.00.00.extra.0'])
    makeFile(name, 30)
  mkdirSync(join(dir, '20261101.00.00.1'))
  expect((await tidy({ keepBytes: 1 })).removed).toEqual([])
  expect(left()).toHaveLength(6)
})

test('a failing archive is reported, the others are processed', async () => {
  makeArchive('20261117.00.00', 3)
  makeArchive('20261118.00.00', 2)
  // No file can be renamed to the name of a directory.
  mkdirSync(join(dir, '20261117.00.00.0.gz'))
  const { compressed, problems } = await tidy()
  expect(problems).toEqual([`Cannot compress ${join(dir, '20261117.00.00.0')}: Is a directory`])
  expect(compressed).toEqual(['20261117.00.00', '20261118.00.00'])
  expect(existsSync(join(dir, '20261117.00.00.0'))).toBe(true)
  expect(left().filter((name) => name.endsWith('.new'))).toEqual([])
})
