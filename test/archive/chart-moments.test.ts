/** Expressions and stacks of metrics in several log groups: their records are milliseconds apart, and at different intervals. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { sampleMoments } from '../../src/archive/chart-moments.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'

const START = 1_700_000_000
/** Interval and change per second of each counter; gauges have ten times that value. Integers, as the kernel's are. */
const METRICS = {
  'one.fast': { every: 10, rate: 37 },
  'two.fast': { every: 10, rate: 60 },
  'one.slow': { every: 60, rate: 21 },
  'two.slow': { every: 60, rate: 45 },
  'one.slower': { every: 300, rate: 11 },
} as const
type Counter = keyof typeof METRICS
const counters = Object.keys(METRICS) as Counter[]
const gauges = counters.map((name) => name.replace('.', '.gauge.'))

/** An archive of an hour. `delays`: milliseconds by which each log group is late, at each of its records. */
function recorded(delays: readonly number[]): LocalArchive {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 1 })
  for (const [i, name] of counters.entries()) {
    made.addMetric(name, { type: PM_TYPE_U64, sem: PM_SEM_COUNTER })
    made.addMetric(gauges[i]!, { type: PM_TYPE_U64, sem: PM_SEM_INSTANT })
  }
  const records = counters.flatMap((name, group) =>
    Array.from({ length: Math.floor(3600 / METRICS[name].every) }, (_, n) => ({
      name,
      ms: 1000 * n * METRICS[name].every + 20 * group + delays[(n + group) % delays.length]!,
    })),
  )
  for (const { name, ms } of records.sort((a, b) => a.ms - b.ms)) {
    made.put(name, Math.floor((METRICS[name].rate * ms) / 1000) + 1_000_000)
    made.put(name.replace('.', '.gauge.'), 10 * METRICS[name].rate)
    made.write({ sec: START + Math.floor(ms / 1000), nsec: (ms % 1000) * 1e6 })
  }
  made.close()
  return new LocalArchive(
    'made',
    new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes])),
  )
}

/** Expressions of two counters with their values, at the rates of `METRICS`. */
const FORMS: readonly (readonly [
  name: string,
  of: (a: string, b: string) => string,
  value: (a: number, b: number) => number,
])[] = [
  ['ratio of rates', (a, b) => `rate(${a}) / rate(${b})`, (a, b) => a / b],
  ['sum of rates', (a, b) => `rate(${a}) + rate(${b})`, (a, b) => a + b],
  ['rate of a sum', (a, b) => `rate(${a} + ${b})`, (a, b) => a + b],
  ['sum of counters', (a, b) => `${a} + ${b}`, (a, b) => a + b],
  ['ratio of changes', (a, b) => `delta(${a}) / delta(${b})`, (a, b) => a / b],
  ['one of them', (a) => `rate(${a})`, (a) => a],
  ['gauges', (a, b) => `${a.replace('.', '.gauge.')} + ${b.replace('.', '.gauge.')}`, (a, b) => 10 * (a + b)],
  ['gauge by rate', (a, b) => `${a.replace('.', '.gauge.')} / rate(${b})`, (a, b) => (10 * a) / b],
]

const counter = fc.constantFrom(...counters)
const plot = fc.record({ form: fc.constantFrom(...FORMS), a: counter, b: counter })

test('expressions of constant rates are constant, whichever groups record their operands', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 5 }),
      fc.array(plot, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 0, max: 2000 }),
      fc.boolean(),
      async (delays, plots, from, aligned) => {
        const derive = Object.fromEntries(plots.map(({ form, a, b }, i) => [`page.x${i}`, form[1](a, b)]))
        const names = Object.keys(derive)
        const window = { start: START + from, finish: START + from + 1500, points: 1000 }
        const answer = decodeChartRange(await recorded(delays).range({ names, derive, ...window, aligned }))
        for (const [i, metric] of answer.metrics.entries()) {
          const { form, a, b } = plots[i]!
          if ('code' in metric) throw new Error(metric.message)
          const value = form[2](METRICS[a].rate, METRICS[b].rate)
          const values = metric.columns.flatMap((column) => Array.from(answer.lists[column.values]!))
          expect(values.length, form[0]).toBeGreaterThan(2)
          // Counters are whole numbers: one more or less in an interval of ten seconds.
          for (const one of values) {
            expect(one / value, `${form[0]} of ${a} and ${b}`).toBeGreaterThan(0.97)
            expect(one / value, `${form[0]} of ${a} and ${b}`).toBeLessThan(1.03)
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})

const every = (interval: number, late: number, from = 0, to = 600): number[] =>
  Array.from({ length: (to - from) / interval }, (_, n) => from + n * interval + late)
const operand = (interval: number, times: readonly number[]) => ({ intervalAt: () => interval, times })

test('changes are taken over whole intervals of the slowest operand', () => {
  const slow = every(60, 0.011)
  expect(sampleMoments([operand(10, every(10, 0)), operand(60, slow)], true)).toEqual(slow)
})

test('where the slowest operand has no records, the others decide', () => {
  const [fast, slow] = [every(10, 0), every(60, 0.011, 0, 300)]
  const late = fast.filter((time) => time >= slow.at(-1)! + 60)
  expect(sampleMoments([operand(10, fast), operand(60, slow)], true)).toEqual([...slow, ...late])
})

test('levels are sampled at each record, but once where records belong together', () => {
  const [fast, slow] = [every(10, 0), every(60, 0.011)]
  const moments = sampleMoments([operand(10, fast), operand(60, slow)], false)
  expect(moments).toHaveLength(fast.length)
  expect(moments.filter((time) => slow.includes(time))).toEqual(slow)
})

test('a metric that two groups record is sampled once for both', () => {
  const fast = every(10, 0)
  const both = [...fast, ...every(60, 0.011)].sort((a, b) => a - b)
  expect(sampleMoments([operand(10, both)], true)).toEqual(fast)
})

test('the single record of a metric is sampled', () => {
  const moments = sampleMoments([operand(10, every(10, 0)), operand(0, [100.011])], false)
  expect(moments).toContain(100.011)
  expect(moments).not.toContain(100)
})

test('an expression reaches the end of a window in which it was recorded too often', async () => {
  const day = 86_400
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 1 })
  made.addMetric('both', { type: PM_TYPE_U64, sem: PM_SEM_COUNTER })
  // Two log groups, a few milliseconds apart: samples of both together count as one.
  for (let sec = 0; sec <= day; sec += 10)
    for (const nsec of sec % 60 === 0 ? [0, 5e6] : [0]) {
      made.put('both', 7 * sec)
      made.write({ sec: START + sec, nsec })
    }
  made.close()
  const files = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  const query = { names: ['page.x'], derive: { 'page.x': 'rate(both)' }, points: 1000, aligned: false }
  const answer = decodeChartRange(
    await new LocalArchive('made', files).range({ ...query, start: START, finish: START + day }),
  )
  const [metric] = answer.metrics
  if (metric === undefined || 'code' in metric) throw new Error(metric?.message)
  expect(answer.lists[metric.columns[0]!.times]!.at(-1)).toBeGreaterThan(START + day - 600)
})

/** An archive of counters and gauges; `times`: when each was recorded, in seconds. */
function recordedAt(times: Readonly<Record<string, readonly number[]>>): LocalArchive {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'h', timezone: 'UTC', pid: 1 })
  for (const name of Object.keys(times)) {
    made.addMetric(`counter.${name}`, { type: PM_TYPE_U64, sem: PM_SEM_COUNTER })
    made.addMetric(`gauge.${name}`, { type: PM_TYPE_U64, sem: PM_SEM_INSTANT })
  }
  const records = Object.entries(times).flatMap(([name, list]) => list.map((time) => ({ name, time })))
  for (const { name, time } of records.sort((a, b) => a.time - b.time)) {
    made.put(`counter.${name}`, Math.round(1000 * time))
    made.put(`gauge.${name}`, 7)
    made.write({ sec: START + Math.floor(time), nsec: Math.round((time % 1) * 1e9) })
  }
  made.close()
  return new LocalArchive(
    'made',
    new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes])),
  )
}

/** Returns the times of an expression's values, in seconds. */
async function timesOf(
  archive: LocalArchive,
  expr: string,
  finish: number,
  points = 1000,
): Promise<readonly number[]> {
  const window = { start: START, finish: START + finish, points }
  const { metrics, lists } = decodeChartRange(
    await archive.range({ names: ['page.x'], derive: { 'page.x': expr }, ...window }),
  )
  const [metric] = metrics
  if (metric === undefined || 'code' in metric) throw new Error(metric?.message)
  const [column] = metric.columns
  const values = lists[column!.values]!
  return Array.from(lists[column!.times]!, (time) => Math.round(1000 * (time - START)) / 1000).filter(
    // The first two distances of a longer interval are gaps.
    (_, i) => !Number.isNaN(values[i]),
  )
}

describe('an interval that changes applies from then on:', () => {
  test.each([
    [1, 60],
    [10, 600],
    [60, 1],
  ])('levels of %i s, then %i s, are sampled at each record', async (first, then) => {
    const middle = 20 * Math.max(first, then)
    const times = [...every(first, 0, 0, middle), ...every(then, 0, middle, 2 * middle)]
    const archive = recordedAt({ a: times })
    expect(await timesOf(archive, 'gauge.a + 1', 2 * middle, 4000)).toEqual(times)
  })

  test.each([
    ['grew beyond that of the other operand', 10, 60, 30],
    ['grew from that of the other operand', 10, 60, 10],
    ['shrank below that of the other operand', 60, 10, 30],
    ['shrank to that of the other operand', 60, 10, 10],
  ])('changes are taken over those of the slowest operand: %s', async (_, first, then, other) => {
    const a = [...every(first, 0, 0, 1800), ...every(then, 0, 1800, 3600)]
    const archive = recordedAt({ a, b: every(other, 0.011, 0, 3600) })
    const times = await timesOf(archive, 'rate(counter.a) + rate(counter.b)', 3600)
    for (const [from, to, interval] of [
      [120, 1700, Math.max(first, other)],
      [2100, 3500, Math.max(then, other)],
    ] as const) {
      const within = times.filter((time) => time > from && time < to)
      expect(within.length, `from ${from}`).toBeCloseTo((to - from) / interval, -0.5)
      for (const [i, time] of within.slice(1).entries())
        expect(time - within[i]!, `after ${within[i]}`).toBeCloseTo(interval, 1)
    }
  })

  test('equal steps are at least an interval apart where it is that long', async () => {
    const times = [...every(1, 0, 0, 7200), ...every(600, 0, 7200, 36_000)]
    const archive = recordedAt({ a: times, b: times.map((time) => time + 0.011) })
    const found = await timesOf(archive, 'rate(counter.a) + rate(counter.b)', 36_000)
    expect(found.filter((time) => time < 7000).length).toBeGreaterThan(0.9 * (1000 * (7000 / 36_000)))
    const late = found.filter((time) => time > 8400)
    for (const [i, time] of late.slice(1).entries()) expect(time - late[i]!).toBeGreaterThanOrEqual(599)
  })
})
