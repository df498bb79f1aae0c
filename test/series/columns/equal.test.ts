/** Queries give the same answers from columns files as from records, for random archives and windows. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Archive } from '../../../src/archive/archive.ts'
import { scan } from '../../../src/archive/scan.ts'
import { createArchive } from '../../../src/archive.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { indom, PM_INDOM_NULL, pmid } from '../../../src/model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../../src/model/types.ts'
import { placeAt } from '../../../src/series/archives/files.ts'
import { OpenColumns } from '../../../src/series/archives/open-columns.ts'
import { ArchiveSeries } from '../../../src/series/archives/store.ts'
import { buildColumns } from '../../../src/series/columns/build.ts'
import { columnsPath } from '../../../src/series/columns/places.ts'
import { evaluate } from '../../../src/series/query/evaluate.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import type { SampleWindow } from '../../../src/series/store.ts'
import { ValueBudget } from '../../../src/series/value-budget.ts'
import { archiveFiles } from '../../../src/sys/archive-files.ts'
import { UTC } from '../../../src/time/zone.ts'
import { generator } from '../../lib/generator.ts'
import { seed } from '../../lib/seed.ts'
import { START } from '../lib.ts'

const TYPES = [
  PM_TYPE_32,
  PM_TYPE_U32,
  PM_TYPE_64,
  PM_TYPE_U64,
  PM_TYPE_FLOAT,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
]
const ODD_NUMBERS = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 0.1, -2.5]

let directory = ''

let end = 0

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'series-'))
  end = await writeDays(generator(seed))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

type Random = (below: number) => number

function randomValue(type: number, random: Random): number | bigint | string {
  const large = BigInt(random(2 ** 31)) * BigInt(random(2 ** 31)) * 4n
  switch (type) {
    case PM_TYPE_32:
      return random(2 ** 32) - 2 ** 31
    case PM_TYPE_U32:
      return random(2 ** 32)
    case PM_TYPE_64:
      return random(2) === 0 ? -large : BigInt(random(1000))
    case PM_TYPE_U64:
      return random(2) === 0 ? large : BigInt(random(1000))
    case PM_TYPE_FLOAT:
      return Math.fround(random(5) === 0 ? ODD_NUMBERS[random(ODD_NUMBERS.length)]! : random(1000) / 8)
    case PM_TYPE_DOUBLE:
      return random(5) === 0 ? ODD_NUMBERS[random(ODD_NUMBERS.length)]! : random(1000) / 7
    default:
      return `text ${random(10)}`
  }
}

/** Writes an archive with marks, metrics that are not in each record, and instances that come and go. Returns its end. */
function writeRandom(base: string, start: number, random: Random): number {
  mkdirSync(dirname(base), { recursive: true })
  const made = createArchive(base, { hostname: 'db1', timezone: 'UTC' })
  for (const [i, type] of TYPES.entries()) {
    const domain = i % 2 === 0 ? PM_INDOM_NULL : indom(77, i)
    const about = { type, sem: PM_SEM_COUNTER, units: '', indom: domain }
    made.addMetric(`demo.m${i}`, { pmid: pmid(77, 0, i), ...about })
    if (domain !== PM_INDOM_NULL) for (let n = 0; n < 4; n++) made.addInstance(domain, `i${n}`, n)
  }
  let sec = start
  const every = TYPES.map(() => 1 + random(3))
  for (let i = 0; i < 200; i++) {
    sec += 1 + (random(20) === 0 ? random(600) : random(15))
    for (const [m, type] of TYPES.entries()) {
      if (m > 0 && i % every[m]! !== 0) continue
      if (m % 2 === 0) made.put(`demo.m${m}`, randomValue(type, random))
      else
        for (let n = 0; n < 4; n++) if (random(10) > 0) made.put(`demo.m${m}`, randomValue(type, random), n)
    }
    made.write({ sec, nsec: 1 + i })
    if (random(30) === 0) made.mark()
  }
  made.close()
  return sec
}

function windowOf(from: number, to: number, random: Random): SampleWindow {
  const at = (): { sec: number; nsec: number } => ({
    sec: from - 50 + random(to - from + 100),
    nsec: random(2) === 0 ? 0 : random(1000),
  })
  const maybe = <T>(make: () => T): T | undefined => (random(2) === 0 ? make() : undefined)
  return {
    samples: maybe(() => 1 + random(random(3) === 0 ? 3 : 300)),
    interval: maybe(() => [1, 10, 60, 61.5, 600, 3600][random(6)]!),
    start: maybe(at),
    finish: maybe(at),
  }
}

/** Writes three archives of a host, two of them with columns files; returns their end. */
async function writeDays(random: Random): Promise<number> {
  const ends: number[] = []
  for (let day = 0; day < 3; day++) {
    const base = join(directory, 'db1', `day${day}`)
    // The third archive begins before the second one ends.
    const start = day === 0 ? START : day === 1 ? ends[0]! + random(100) : ends[1]! - 500
    ends.push(writeRandom(base, start, random))
    if (day === 1) continue // stays without columns
    mkdirSync(dirname(columnsPath(base)), { recursive: true })
    await buildColumns(base, placeAt(base)!.content, columnsPath(base), { chunkBytes: 1 + random(20_000) })
  }
  return Math.max(...ends)
}

/** As `toStrictEqual`, which takes ten times as long. */
function same(fast: unknown, plain: unknown, what: string): void {
  if (!isDeepStrictEqual(fast, plain)) expect(fast, what).toStrictEqual(plain)
}

/** Returns stores that read columns files, and records alone. */
function bothStores(): readonly [ArchiveSeries, ArchiveSeries] {
  const store = (usesColumns: boolean): ArchiveSeries =>
    new ArchiveSeries([directory], { usesColumns, freshMs: 1e9 })
  return [store(true), store(false)]
}

test('columns files give the samples that records give', async () => {
  const random = generator(seed + 2)
  const stores = bothStores()
  for (let i = 0; i < 150; i++) {
    const [id] = await stores[0].withName('metric', `demo.m${random(TYPES.length)}`)
    const window = windowOf(START, end, random)
    const [fast, plain] = await Promise.all(
      stores.map((store) => store.samples(id!, window, new ValueBudget())),
    )
    same(fast, plain, JSON.stringify(window))
  }
  for (const store of stores) await store.close()
})

test('all values of metrics are those of a scan', () => {
  const random = generator(seed + 3)
  const columns = new OpenColumns((warning) => expect(warning).toBeUndefined())
  for (const day of ['day0', 'day2']) {
    const base = join(directory, 'db1', day)
    const archive = Archive.open(base, archiveFiles())
    for (let i = 0; i < 40; i++) {
      const ids = [...TYPES.keys()]
        .slice(0, 6)
        .filter(() => random(2) === 0)
        .map((m) => pmid(77, 0, m))
      const from = START + random(end - START)
      const window = {
        from: { sec: from, nsec: random(300) },
        to: { sec: from + random(3000), nsec: random(300) },
      }
      const descs = ids.map((id) => archive.metadata.descs.get(id)!)
      const { columns: scanned, marks } = scan(archive, ids, window)
      same(
        columns.values(placeAt(base)!, descs, window.from, window.to),
        { marks, columns: scanned },
        JSON.stringify(window),
      )
    }
    archive.close()
  }
})

test('a mark is found in a chunk without values of the metric', async () => {
  const base = join(mkdtempSync(join(directory, '.rare-')), 'rare')
  const made = createArchive(base, { hostname: 'rare' })
  for (const [item, name] of ['demo.often', 'demo.rare'].entries())
    made.addMetric(name, { pmid: pmid(77, 1, item), type: PM_TYPE_DOUBLE, sem: PM_SEM_COUNTER, units: '' })
  for (let i = 0; i < 300; i++) {
    made.put('demo.often', i / 7)
    if (i % 299 === 0) made.put('demo.rare', i)
    made.write({ sec: START + i, nsec: 0 })
    if (i === 150) made.mark()
  }
  made.close()
  mkdirSync(dirname(columnsPath(base)))
  await buildColumns(base, placeAt(base)!.content, columnsPath(base), { chunkBytes: 1 })
  const archive = Archive.open(base, archiveFiles())
  const window = { from: { sec: START, nsec: 0 }, to: { sec: START + 300, nsec: 0 } }
  const { columns, marks } = scan(archive, [pmid(77, 1, 1)], window)
  expect(marks).toHaveLength(1)
  const descs = [archive.metadata.descs.get(pmid(77, 1, 1))!]
  same(
    new OpenColumns(() => {}).values(placeAt(base)!, descs, window.from, window.to),
    { marks, columns },
    base,
  )
  archive.close()
  const stores = [true, false].map((usesColumns) => new ArchiveSeries([dirname(base)], { usesColumns }))
  const [first, second] = await Promise.all(
    stores.map(async (store) => {
      const [id] = await store.withName('metric', 'demo.rare')
      return store.samples(id!, { start: { sec: START, nsec: 0 } }, new ValueBudget())
    }),
  )
  same(first, second, base)
  expect(first!.map(({ isAfterGap }) => isAfterGap)).toEqual([true, true])
  for (const store of stores) await store.close()
})

/** Returns a query with up to three functions or operators. */
function randomQuery(random: Random, levels = 3): string {
  const pick = <T>(of: readonly T[]): T => of[random(of.length)]!
  if (levels === 0 || random(4) === 0) {
    const { samples, interval, start, finish } = windowOf(START, end, random)
    const texts = Object.entries({
      ...(samples !== undefined && { count: `${samples}` }),
      ...(interval !== undefined && { interval: `"${interval}sec"` }),
      ...(start !== undefined && { start: `${start.sec}` }),
      ...(finish !== undefined && { finish: `${finish.sec}` }),
    }).map((each) => each.join(':'))
    // A name with a pattern finds several series.
    const name = pick([...TYPES.keys()].slice(0, 6))
    const selector = random(4) === 0 ? 'demo.m*' : `demo.m${name}`
    return `${selector}[${texts.length === 0 ? 'count:40' : texts.join(',')}]`
  }
  const operand = randomQuery(random, levels - 1)
  const by = pick(['max', 'min', 'sum', 'avg', 'stdev', 'topk', 'nth_percentile'])
  const along = pick(['inst', 'sample'])
  return pick([
    `rate(${operand})`,
    `${by}_${along}(${operand}${by === 'topk' ? ',2' : by === 'nth_percentile' ? ',90' : ''})`,
    `${pick(['abs', 'floor', 'round'])}(${operand})`,
    `${operand} ${pick(['+', '*', '/'])} ${operand}`,
  ])
}

test('queries give the same answers with columns files and without', async () => {
  const random = generator(seed + 1)
  const stores = bothStores()
  let values = 0
  for (let i = 0; i < 100; i++) {
    const text = randomQuery(random)
    const query = parseQuery(text)
    const [fast, plain] = await Promise.all(
      stores.map(async (store) => {
        try {
          return await evaluate(store, query, { now: () => end * 1000, zone: UTC })
        } catch (error) {
          return PcpError.from(error).message
        }
      }),
    )
    same(fast, plain, text)
    if (typeof fast !== 'string' && fast!.kind === 'values')
      for (const { samples } of fast!.series) values += samples.length
  }
  expect(values).toBeGreaterThan(100)
  for (const store of stores) await store.close()
})
