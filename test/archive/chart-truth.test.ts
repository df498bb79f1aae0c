/** Charts of archives show nothing that was not recorded: random archives and windows, read as the page does. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE } from '../../src/model/types.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'
import { seed } from '../lib/seed.ts'

const START = 1_700_000_000
/** Seconds between samples, and total memory, which its parts add up to. */
const INTERVAL = 10
const TOTAL = 31 * 2 ** 30
/** Longer distances are gaps. */
const LONGEST = 1.75 * INTERVAL

/** Samples at the interval, after a pause or a mark. */
interface Run {
  readonly away: number
  readonly isMarked: boolean
  /** Used and cached shares of the total in each sample. */
  readonly samples: readonly (readonly [used: number, cached: number])[]
}

const USED = 'mem.used'
const CACHED = 'mem.cached'
const FREE = 'mem.free'
const READ = 'disk.read'
const PROGRAMS = 'page.programs'
const BUSY = 'page.busy'
const NAMES = [USED, CACHED, FREE, READ, PROGRAMS, BUSY]
const DERIVE = { [PROGRAMS]: `${USED} - ${CACHED}`, [BUSY]: `rate(${READ}) * 2` }

interface Recorded {
  readonly archive: LocalArchive
  /** Times of samples and of marks. */
  readonly times: readonly number[]
  readonly marks: readonly number[]
  readonly valueAt: ReadonlyMap<number, readonly [used: number, cached: number]>
}

function recorded(runs: readonly Run[]): Recorded {
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  for (const name of [USED, CACHED, FREE]) made.addMetric(name, { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
  made.addMetric(READ, { type: PM_TYPE_DOUBLE, sem: PM_SEM_COUNTER, indom: 'disks' })
  const [times, marks]: [number[], number[]] = [[], []]
  const valueAt = new Map<number, readonly [number, number]>()
  let time = START
  for (const { away, isMarked, samples } of runs) {
    if (isMarked && times.length > 0) {
      made.mark()
      marks.push(times.at(-1)! + 0.001)
    }
    time += away
    for (const [share, part] of samples) {
      const used = Math.floor(share * TOTAL)
      const cached = Math.floor(part * used)
      made.put(USED, used)
      made.put(CACHED, cached)
      made.put(FREE, TOTAL - used)
      made.put(READ, 7 * (time - START), 'sda')
      made.write({ sec: time, nsec: 0 })
      times.push(time)
      valueAt.set(time, [used, cached])
      time += INTERVAL
    }
  }
  made.close()
  const files = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  return { archive: new LocalArchive('made', files), times, marks, valueAt }
}

const share = fc.double({ min: 0, max: 1, noNaN: true })
const run: fc.Arbitrary<Run> = fc.record({
  away: fc.oneof(fc.constant(0), fc.integer({ min: INTERVAL, max: 4000 })),
  isMarked: fc.constantFrom(false, false, true),
  samples: fc.array(fc.tuple(share, share), { minLength: 5, maxLength: 80 }),
})
const window = fc.record({
  from: fc.double({ min: -0.2, max: 1, noNaN: true }),
  length: fc.double({ min: 0.01, max: 1.5, noNaN: true }),
  points: fc.oneof(fc.integer({ min: 2, max: 40 }), fc.integer({ min: 40, max: 2000 })),
  aligned: fc.boolean(),
})

interface Drawn {
  readonly name: string
  readonly times: readonly number[]
  readonly values: readonly number[]
  /** Whether points are means of several samples. */
  readonly isReduced: boolean
}

async function drawn(
  { archive }: Recorded,
  start: number,
  { length, points, aligned }: Window,
): Promise<Drawn[]> {
  const query = { names: NAMES, derive: DERIVE, start, finish: start + length, points, aligned }
  const { metrics, lists } = decodeChartRange(await archive.range(query))
  return metrics.flatMap((metric) => {
    if (!('columns' in metric)) throw new Error(metric.message)
    const { name } = metric
    return metric.columns.map(({ times, values, min }) => ({
      name,
      isReduced: min !== undefined,
      times: [...lists[times]!],
      values: [...lists[values]!],
    }))
  })
}

interface Window {
  readonly length: number
  readonly points: number
  readonly aligned: boolean
}

/** Returns the gaps of an archive. */
function gapsOf({ times, marks }: Recorded): (readonly [from: number, to: number])[] {
  return times.flatMap((from, i) => {
    const to = times[i + 1]
    if (to === undefined) return []
    return to - from > LONGEST || marks.some((mark) => mark > from && mark < to) ? [[from, to] as const] : []
  })
}

test('no point without a sample, no line across a gap, no stack above the whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(run, { minLength: 1, maxLength: 6 }),
      window,
      async (runs, { from, length, ...how }) => {
        const made = recorded(runs)
        const span = made.times.at(-1)! - START + 1
        const start = START + from * span
        const columns = await drawn(made, start, { ...how, length: length * span })
        const gaps = gapsOf(made)
        for (const { name, times, values } of columns) {
          for (const [i, time] of times.entries()) {
            if (i > 0) expect(time, name).toBeGreaterThan(times[i - 1]!)
            if (Number.isNaN(values[i]!)) continue
            expect(
              time >= made.times[0]! && time <= made.times.at(-1)!,
              `${name} has samples at ${time - START}`,
            ).toBe(true)
            const gap = gaps.find(([a, b]) => time > a && time < b)
            expect(gap, `${name} at ${time - START}`).toBeUndefined()
            // A value next to another one is connected with it.
            const before = times[i - 1]
            if (before === undefined || Number.isNaN(values[i - 1]!)) continue
            const crossed = gaps.find(([a, b]) => before <= a && time >= b)
            expect(crossed, `${name} from ${before - START} to ${time - START}`).toBeUndefined()
            if (name === READ) expect(values[i]).toBeCloseTo(7, 3)
            if (name === BUSY) expect(values[i]).toBeCloseTo(14, 3)
          }
        }
        expectWhole(columns, how.aligned)
        expectAll(made, columns, [start, start + length * span])
        expectRecorded(made, columns)
      },
    ),
    { numRuns: 150, seed },
  )
})

/** Each sample of the window is a point if there is room; rates need a sample before, without a mark between. */
function expectAll(
  { times: samples, marks }: Recorded,
  columns: readonly Drawn[],
  [start, finish]: readonly [number, number],
): void {
  for (const { name, times, values, isReduced } of columns) {
    if (isReduced) continue
    const isRate = name === READ || name === BUSY
    const wanted = samples.filter((time, i) => {
      const from = isRate ? samples[i - 1] : time
      if (from === undefined || marks.some((mark) => mark > from && mark < time)) return false
      return from >= start && time - from <= LONGEST && time <= finish
    })
    const points = new Set(times.filter((_, i) => !Number.isNaN(values[i]!)))
    expect(
      wanted.filter((time) => !points.has(time)).map((time) => time - START),
      name,
    ).toEqual([])
  }
}

/** Used and free memory add up to the total; programs and cache to used memory. */
function expectWhole(columns: readonly Drawn[], isAligned: boolean): void {
  const of = (name: string): Drawn =>
    columns.find((column) => column.name === name) ?? { name, times: [], values: [], isReduced: false }
  const [used, cached, free, programs] = [USED, CACHED, FREE, PROGRAMS].map(of) as [
    Drawn,
    Drawn,
    Drawn,
    Drawn,
  ]
  expect(free.times).toEqual(used.times)
  for (const [i, value] of used.values.entries())
    if (!Number.isNaN(value)) expect(Math.abs(value + free.values[i]! - TOTAL)).toBeLessThan(64)
  if (!isAligned) return
  expect(programs.times).toEqual(used.times)
  for (const [i, value] of programs.values.entries())
    if (!Number.isNaN(value))
      expect(Math.abs(value + cached.values[i]! + free.values[i]! - TOTAL)).toBeLessThan(64)
}

/** Points are samples, or means of those since the previous point. */
function expectRecorded({ valueAt }: Recorded, columns: readonly Drawn[]): void {
  const sampleOf = {
    [USED]: (used: number) => used,
    [PROGRAMS]: (used: number, cached: number) => used - cached,
  }
  for (const { name, times, values, isReduced } of columns)
    for (const [i, time] of times.entries()) {
      if (Number.isNaN(values[i]!)) continue
      const sample = valueAt.get(time)
      expect(sample, `${name} at ${time - START}`).toBeDefined()
      if (!isReduced && Object.hasOwn(sampleOf, name))
        expect(values[i], name).toBe(sampleOf[name as keyof typeof sampleOf](...sample!))
    }
}

test('with more records than samples, a stack never exceeds the total, and no line crosses the gap', async () => {
  const samples = Array.from({ length: 3000 }, (_, i) => [((i * 37) % 100) / 100, 0.5] as const)
  const away = { away: 5000, isMarked: false, samples }
  const made = recorded([{ ...away, away: 0 }, away])
  const length = made.times.at(-1)! - START
  const columns = await drawn(made, START, { length, points: 600, aligned: true })
  expectWhole(columns, true)
  const [[from, to]] = gapsOf(made) as [readonly [number, number]]
  for (const { name, times, values } of columns) {
    const known = times.filter((_, i) => !Number.isNaN(values[i]!))
    expect(known.length, name).toBeGreaterThan(400)
    expect(
      known.filter((time) => time > from && time < to),
      name,
    ).toEqual([])
    const isBroken = times.some((time, i) => time > from && time < to && Number.isNaN(values[i]!))
    expect(isBroken, name).toBe(true)
  }
})

test('an instance that was absent has a gap, also in metrics computed from it', async () => {
  const output = memoryOutput('made')
  const archive = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  archive.addMetric('proc.rss', { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT, indom: 'processes' })
  archive.addMetric('proc.time', { type: PM_TYPE_DOUBLE, sem: PM_SEM_COUNTER, indom: 'processes' })
  for (let n = 0; n < 60; n++) {
    for (const name of n >= 20 && n < 40 ? ['init'] : ['init', 'shell']) {
      archive.put('proc.rss', n, name)
      archive.put('proc.time', 5 * n, name)
    }
    archive.write({ sec: START + INTERVAL * n, nsec: 0 })
  }
  archive.close()
  const files = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  const { metrics, lists } = decodeChartRange(
    await new LocalArchive('made', files).range({
      names: ['proc.rss', 'proc.time', 'page.twice', 'page.rate'],
      derive: { 'page.twice': 'proc.rss * 2', 'page.rate': 'rate(proc.time)' },
      ...{ start: START, finish: START + 600, points: 600 },
    }),
  )
  const away = [START + 19 * INTERVAL, START + 40 * INTERVAL] as const
  for (const metric of metrics) {
    if (!('columns' in metric)) throw new Error(metric.message)
    for (const { name, times, values } of metric.columns) {
      const points = Array.from(lists[times]!, (time, i) => [time, lists[values]![i]!] as const)
      const within = points.filter(([time]) => time > away[0] && time < away[1])
      const isRate = metric.name === 'proc.time' || metric.name === 'page.rate'
      expect(
        within.some(([, value]) => !Number.isNaN(value)),
        `${metric.name} ${name}`,
      ).toBe(name === 'init')
      if (name === 'init') continue
      expect(within.length, metric.name).toBeGreaterThan(0)
      // A rate starts with the second sample.
      expect(points.find(([time, value]) => time >= away[1] && !Number.isNaN(value))![0], metric.name).toBe(
        away[1] + (isRate ? INTERVAL : 0),
      )
      if (isRate) for (const [, value] of points) if (!Number.isNaN(value)) expect(value).toBeCloseTo(0.5, 6)
    }
  }
})

test('sampled metrics have their first and last records, to the nanosecond, and no gap after the last', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 999_999_999 }), { minLength: 3, maxLength: 12 }),
      fc.boolean(),
      async (fractions, aligned) => {
        const output = memoryOutput('made')
        const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
        for (const name of [USED, FREE]) made.addMetric(name, { type: PM_TYPE_DOUBLE, sem: PM_SEM_INSTANT })
        const seldom: number[] = []
        for (const [i, nsec] of fractions.entries()) {
          for (const name of [USED, FREE]) {
            if (name === FREE && i % 3 > 0) continue
            made.put(name, 5)
            const sec = START + INTERVAL * i + (name === FREE ? 1 : 0)
            made.write({ sec, nsec })
            if (name === FREE) seldom.push(sec + nsec / 1e9)
          }
        }
        made.close()
        const archive = new LocalArchive(
          'made',
          new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes])),
        )
        const names = [USED, FREE, PROGRAMS]
        const query = { names, derive: { [PROGRAMS]: `${FREE} + 0` }, points: 1000, aligned }
        const range = { ...query, start: START - 10, finish: START + 1000 }
        const { metrics, lists } = decodeChartRange(await archive.range(range))
        for (const metric of metrics.slice(1)) {
          if (!('columns' in metric)) throw new Error(metric.message)
          const { times, values } = metric.columns[0]!
          expect([...lists[values]!], metric.name).not.toContain(Number.NaN)
          expect([lists[times]![0], lists[times]!.at(-1)], metric.name).toEqual([seldom[0], seldom.at(-1)])
          if (seldom.length > 2) expect(metric.interval).toBeCloseTo(3 * INTERVAL, -1)
        }
      },
    ),
    { seed },
  )
})
