/** Columns for charts: the same bytes from pmproxy and from an archive opened in the browser. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeChartRange } from '../../../src/archive/chart-bytes.ts'
import { ArchiveImport } from '../../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../../src/base/byte-source.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_STRING,
  PM_TYPE_U32,
} from '../../../src/model/types.ts'
import { openArchive } from '../../../src/pmapi/archive.ts'
import { Query } from '../../../src/pmproxy/http/query.ts'
import type { PageCall } from '../../../src/pmproxy/routes/page-call.ts'
import { range } from '../../../src/pmproxy/routes/range.ts'
import { LocalArchive } from '../../../src/ui/data/local-archive.ts'
import type { RangeQuery } from '../../../src/ui/data/responses.ts'

type Files = ReadonlyMap<string, Uint8Array>

const START = 1_700_000_000

interface Moment {
  /** Seconds since the previous one. */
  readonly after: number
  readonly isMark: boolean
  readonly values: readonly number[]
}

/** Writes a counter and a level with changing instances, a size recorded when it changes, and a name. */
function written(moments: readonly Moment[]): Files {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  made.addMetric('made.count', { type: PM_TYPE_U32, sem: PM_SEM_COUNTER, units: 'count', indom: 'things' })
  made.addMetric('made.level', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, indom: 'things' })
  made.addMetric('made.size', { type: PM_TYPE_U32, sem: PM_SEM_DISCRETE })
  made.addMetric('made.name', { type: PM_TYPE_STRING })
  let time = START
  for (const [n, { after, isMark, values }] of moments.entries()) {
    if (isMark && n > 0) made.mark()
    time += after
    if (n === 0) made.put('made.name', 'x')
    if (n % 5 === 0) made.put('made.size', values.length)
    for (const [i, value] of values.entries()) {
      made.put('made.count', value * n, `thing${i}`)
      made.put('made.level', value / 3, `thing${i}`)
    }
    if (n % 5 === 0 || values.length > 0) made.write({ sec: time, nsec: 500_000_000 })
  }
  made.close()
  return new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
}

async function served(
  files: Files,
  { names, derive, aligned, ...window }: RangeQuery,
  more = '',
): Promise<string | Uint8Array> {
  const context = await openArchive('made', {
    files: {
      isDirectory: (path) => path === '.',
      list: () => [...files.keys()],
      open: (path) => {
        const bytes = files.get(path.replace(/^\.\//, ''))
        if (bytes === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
        return bytesSource(bytes)
      },
    },
    env: {},
  })
  const parameters = [
    ...Object.entries(window).map(([name, value]) => `${name}=${value}`),
    ...Object.entries(derive).map(([name, expr]) => `derive=${name}=${encodeURIComponent(expr)}`),
    `names=${names.join()}`,
    `aligned=${aligned === true ? 1 : 0}`,
  ]
  const request = { query: new Query(`${parameters.join('&')}${more}`), signal: new AbortController().signal }
  const { body } = await range({ request, context } as unknown as PageCall)
  await context.close()
  return body
}

const NAMES = [
  'made.count',
  'made.level',
  'made.size',
  'page.twice',
  'made.name',
  'made.nothing',
  'page.wrong',
]
const DERIVE = { 'page.twice': 'rate(made.count) * 2', 'page.wrong': 'made.count +' }

test('an archive opened in the browser gives the same bytes as pmproxy', async () => {
  const moment = fc.record({
    after: fc.integer({ min: 1, max: 4000 }),
    isMark: fc.constantFrom(false, false, false, true),
    values: fc.array(fc.nat(100_000), { maxLength: 3 }),
  })
  const window = fc.record({
    start: fc.integer({ min: -5000, max: 20_000 }),
    length: fc.integer({ min: 1, max: 50_000 }),
    points: fc.integer({ min: 2, max: 40 }),
    aligned: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(moment, { minLength: 1, maxLength: 60 }),
      window,
      async (moments, { start, length, points, aligned }) => {
        const files = written(moments)
        const finish = START + start + length
        const query = { names: NAMES, derive: DERIVE, start: START + start, finish, points, aligned }
        const local = await new LocalArchive('made', files).range(query)
        expect(await served(files, query, '&format=columns')).toEqual(local)
      },
    ),
    { numRuns: 40 },
  )
})

/** A day of seconds with one outlier. */
const SPIKE = Array.from({ length: 2000 }, (_, n) => ({
  after: 1,
  isMark: false,
  values: [n === 1234 ? 9000 : 30],
}))

test('a single outlier is the maximum of its interval, however many samples there are', async () => {
  const query = { names: ['made.level'], derive: {}, start: START, finish: START + 2001, points: 20 }
  const body = await served(written(SPIKE), query, '&format=columns')
  const { metrics, lists } = decodeChartRange(body as Uint8Array<ArrayBuffer>)
  const [column] = 'columns' in metrics[0]! ? metrics[0].columns : []
  expect(lists[column!.values]).toHaveLength(20)
  expect(Math.max(...lists[column!.max!]!)).toBe(3000)
  expect(Math.min(...lists[column!.min!]!)).toBe(10)
})

test('JSON has the same content, with lists in their columns', async () => {
  const query = { names: NAMES, derive: DERIVE, start: START, finish: START + 2001, points: 20 }
  const files = written(SPIKE)
  const { metrics, lists } = decodeChartRange(
    (await served(files, query, '&format=columns')) as Uint8Array<ArrayBuffer>,
  )
  const text = JSON.parse(String(await served(files, query))) as {
    metrics: { name: string; columns?: { times: number; values: unknown[]; max?: unknown[] }[] }[]
    times: number[][]
  }
  expect(text.metrics.map(({ name }) => name)).toEqual(NAMES)
  for (const [m, { columns = [] }] of text.metrics.entries())
    for (const [c, { times, values, max }] of columns.entries()) {
      const metric = metrics[m]!
      const column = 'columns' in metric ? metric.columns[c]! : undefined
      const rounded = (list: number | undefined) =>
        list === undefined
          ? undefined
          : Array.from(lists[list]!, (value) => (Number.isNaN(value) ? null : Number(value.toPrecision(8))))
      expect(values).toEqual(rounded(column!.values))
      expect(max).toEqual(rounded(column!.max))
      expect(text.times[times]).toHaveLength(values.length)
    }
})
