/** Ranks of single changes: counters, noise, instances, groups, limits. */
import { expect, test } from 'vitest'
import { changeInput } from '../../src/analysis/open-archive.ts'
import {
  type ChangeReport,
  MOST_BUCKETS,
  MOST_CANDIDATES,
  whatChanged,
} from '../../src/analysis/what-changed.ts'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveImport } from '../../src/archive/import/archive-import.ts'
import { memoryOutput } from '../../src/archive/write/memory-output.ts'
import { bytesSource } from '../../src/base/byte-source.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_SEM_INSTANT,
  PM_TYPE_DOUBLE,
  PM_TYPE_U32,
} from '../../src/model/types.ts'
import { type Random, random } from './lib/random.ts'

const START = 1_700_000_000
const HALF = 600
const STEP = 10

interface Made {
  readonly sem?: number
  readonly type?: number
  readonly units?: string
  /** Returns the value at a second since the start; of a counter the growth by step; undefined for none. */
  readonly at: (second: number, random: Random, instance: number) => number | undefined
  readonly instances?: readonly string[]
}

/** Records metrics over both windows. `mark`: where recording was interrupted; `isOff`: no record at all then. */
function recorded(
  metrics: Readonly<Record<string, Made>>,
  { mark, isOff = () => false }: { mark?: number; isOff?: (second: number) => boolean } = {},
): Archive {
  const rng = random(7)
  const output = memoryOutput('made')
  const made = new ArchiveImport(output, { hostname: 'elsewhere', timezone: 'UTC', pid: 1 })
  const totals = new Map<string, number>()
  made.addMetric('made.clock', { units: 'sec' })
  for (const [name, { sem = PM_SEM_INSTANT, type = PM_TYPE_DOUBLE, units = '', instances }] of Object.entries(
    metrics,
  )) {
    made.addMetric(name, { sem, type, units, ...(instances === undefined ? {} : { indom: `of.${name}` }) })
    made.addText(name, 'oneline', `Help of ${name}`)
  }
  for (let second = 0; second <= 2 * HALF; second += STEP) {
    if (second === mark) made.mark()
    if (isOff(second)) continue
    made.put('made.clock', 1)
    for (const [name, { sem, at, instances = [undefined] }] of Object.entries(metrics))
      for (const [i, instance] of instances.entries()) {
        const value = at(second, rng, i)
        if (value === undefined) continue
        const key = `${name} ${instance}`
        const shown = sem === PM_SEM_COUNTER ? ((totals.get(key) ?? 1000) + value) % 2 ** 32 : value
        totals.set(key, shown)
        made.put(name, shown, instance)
      }
    made.write({ sec: START + second, nsec: 0 })
  }
  made.close()
  const contents = new Map([...output.contents()].map(([part, bytes]) => [`made.${part}`, bytes]))
  return Archive.open('made', {
    isDirectory: () => false,
    list: () => [...contents.keys()],
    open: (path) => bytesSource(contents.get(path.replace('./', ''))!),
  })
}

const SPAN = { start: START + HALF, finish: START + 2 * HALF }

async function changes(archive: Archive, limit?: number): Promise<ChangeReport['changes']> {
  const { archive: input, metrics } = changeInput(archive)
  return (await whatChanged(input, metrics, { span: SPAN, limit })).changes
}

const counter = { sem: PM_SEM_COUNTER, type: PM_TYPE_U32, units: 'count' }
const noisy =
  (level: number) =>
  (_: number, { normal }: Random) =>
    level * (1 + 0.1 * normal())

test('a step of a rate is first, with its values, units, time, help and lines', async () => {
  const [first, ...others] = await changes(
    recorded({
      'made.load': { at: noisy(5) },
      'made.reads': {
        ...counter,
        at: (second, rng) => Math.round((second > HALF + 200 ? 4000 : 1000) * rng.around(0.05)),
      },
    }),
  )
  expect(first).toMatchObject({
    metric: 'made.reads',
    instance: '',
    kind: 'level',
    direction: 'up',
    units: 'count / sec',
    isRate: true,
    help: 'Help of made.reads',
  })
  expect(first!.before).toBeCloseTo(100, -1)
  expect(first!.now).toBeCloseTo(300, -1.3)
  expect(first!.since).toBeGreaterThanOrEqual(START + HALF + 195)
  expect(first!.since).toBeLessThanOrEqual(START + HALF + 220)
  expect(first!.score).toBeGreaterThan(0.5)
  expect(first!.sparks.before.length).toBe(40)
  expect(first!.sparks.now.at(-1)).toBeCloseTo(400, -2)
  for (const { score } of others) expect(score).toBeLessThan(0.1)
})

test('wraps and resets of counters, and marks, do not change the rate', async () => {
  const at = (second: number, { around }: Random): number => {
    const growth = Math.round(1000 * around(0.05))
    return second === HALF + 100 ? 2 ** 32 - 500_000 : growth
  }
  const found = await changes(recorded({ 'made.wraps': { ...counter, at } }))
  // The jump to the end of the range is one burst; the wrap after it is nothing.
  expect(found.every(({ score }) => score < 0.3)).toBe(true)
  const marked = await changes(
    recorded(
      {
        'made.reset': {
          ...counter,
          at: (second, rng) => Math.round((second === HALF + 50 ? 900_000 : 1000) * rng.around(0.05)),
        },
      },
      { mark: HALF + 50 },
    ),
  )
  expect(marked).toEqual([])
})

test('ignores noise, a trend and bursts by timers', async () => {
  const found = await changes(
    recorded({
      'made.noise': { at: noisy(50) },
      'made.trend': { at: (second) => 100 + second },
      'made.bursts': { at: (second, rng) => (second % 150 < 20 ? 80 : 2) * rng.around(0.1) },
      'made.still': { ...counter, at: () => 0 },
    }),
  )
  expect(found.filter(({ score }) => score > 0.15)).toEqual([])
})

test('a few events of a counter that never moved are listed', async () => {
  const found = await changes(
    recorded({
      'made.errors': { ...counter, at: (second) => (second > HALF && second % 200 === 0 ? 1 : 0) },
    }),
  )
  expect(found).toMatchObject([{ metric: 'made.errors', before: 0, direction: 'up' }])
})

test('instances that appear and disappear are changes, unless nothing was recorded', async () => {
  const metrics = {
    'made.things': {
      units: 'count',
      instances: ['stays', 'comes', 'goes'],
      at: (second: number, rng: Random, i: number) =>
        (i === 1 && second < HALF + 100) || (i === 2 && second > HALF - 100)
          ? undefined
          : 50 * rng.around(0.1),
    },
  }
  const found = await changes(recorded(metrics))
  expect(found.map(({ instance, kind, direction }) => [instance, kind, direction]).sort()).toEqual([
    ['comes', 'new', 'up'],
    ['goes', 'gone', 'down'],
  ])
  expect(found.find(({ kind }) => kind === 'new')).toMatchObject({ before: null, since: START + HALF + 100 })
  const { archive, metrics: all } = changeInput(
    recorded(metrics, { isOff: (second) => second > 100 && second < HALF }),
  )
  const before = { start: START + 200, finish: START + HALF }
  expect((await whatChanged(archive, all, { span: SPAN, before })).changes).toEqual([])
})

test('merges processes that come and go, led by the largest, and ignores their identifiers', async () => {
  const instances = Array.from({ length: 20 }, (_, i) => `process${i}`)
  const isAlive = (second: number, i: number): boolean =>
    second > HALF + 20 * i && second < HALF + 20 * i + 300
  const found = await changes(
    recorded({
      'proc.memory': {
        units: 'Kbyte',
        instances,
        at: (second, rng, i) => (isAlive(second, i) ? (i === 7 ? 4e6 : 1e5) * rng.around(0.1) : undefined),
      },
      'proc.id': { instances, at: (second, _, i) => (isAlive(second, i) ? 4000 + i : undefined) },
    }),
  )
  expect(found[0]).toMatchObject({ metric: 'proc.memory', instance: 'process7', kind: 'new' })
  expect(found.filter(({ metric }) => metric === 'proc.memory')).toHaveLength(1)
  expect(found.filter(({ metric, score }) => metric === 'proc.id' && score > 0.1)).toEqual([])
})

test('a discrete value that is replaced is a change', async () => {
  const found = await changes(
    recorded({
      'made.cpus': {
        sem: PM_SEM_DISCRETE,
        type: PM_TYPE_U32,
        at: (second) => (second % 300 === 0 ? (second < HALF + 300 ? 8 : 4) : undefined),
      },
    }),
  )
  expect(found).toMatchObject([
    { metric: 'made.cpus', kind: 'value', before: 8, now: 4, direction: 'down', since: START + HALF + 300 },
  ])
})

test('merges instances that rise together, but not an instance that rises later', async () => {
  const cpus = Array.from({ length: 16 }, (_, i) => `cpu${i}`)
  const found = await changes(
    recorded({
      'made.cpu.user': {
        instances: cpus,
        at: (second, rng) => (second > HALF + 100 ? 70 : 10) * rng.around(0.1),
      },
      'made.disk.busy': {
        instances: ['sda', 'sdb'],
        at: (second, rng, i) => (i === 0 && second > HALF + 400 ? 90 : 10) * rng.around(0.1),
      },
    }),
  )
  expect(found.map(({ metric, others }) => [metric, others.length])).toEqual([
    ['made.cpu.user', 15],
    ['made.disk.busy', 0],
  ])
  // No series is hidden behind another without its name.
  const named = [found[0]!, ...found[0]!.others].map(({ instance }) => instance)
  expect(named.sort()).toEqual([...cpus].sort())
})

test('many series that moved along are named up to a bound, and the rest is counted', async () => {
  const instances = Array.from({ length: MOST_CANDIDATES + 50 }, (_, i) => `queue${i}`)
  const { archive, metrics } = changeInput(
    recorded({
      'made.queue': { instances, at: (second, rng) => (second > HALF + 100 ? 70 : 10) * rng.around(0.1) },
    }),
  )
  const { changes: found, further } = await whatChanged(archive, metrics, { span: SPAN })
  const named = found.flatMap(({ instance, others }) => [instance, ...others.map((other) => other.instance)])
  expect(named).toHaveLength(MOST_CANDIDATES)
  expect(further).toBe(50)
})

test('a metric that is the sum of another is one change with it, another of the same time is not', async () => {
  let shared = 0
  const found = await changes(
    recorded({
      'one.part': { at: (second, rng) => (shared = (second > HALF + 100 ? 40 : 10) * rng.around(0.1)) },
      'two.whole': { at: () => 3 * shared + 100 },
      'three.separate': { at: (second, rng) => (second > HALF + 100 ? 30 : 5) * rng.around(0.1) },
    }),
  )
  expect(found.map(({ metric }) => metric).sort()).toEqual(['one.part', 'three.separate'])
  expect(found.find(({ metric }) => metric === 'one.part')!.others).toMatchObject([{ metric: 'two.whole' }])
})

test('a small instance counts less than a large one', async () => {
  const found = await changes(
    recorded({
      'made.traffic': {
        instances: ['large', 'small'],
        at: (second, rng, i) => {
          if (i === 0) return 10_000 * (second > HALF + 300 ? 2 : 1) * rng.around(0.05)
          return 20 * (second > HALF + 100 ? 4 : 1) * rng.around(0.05)
        },
      },
    }),
  )
  expect(found[0]).toMatchObject({ instance: 'large' })
  expect(found[1]?.score ?? 0).toBeLessThan(0.1)
})

test('an excursion that is over is found, with its time and its mean', async () => {
  const [from, to] = [HALF + 200, HALF + 300]
  const found = await changes(
    recorded({
      'made.level': { at: (second, rng) => (second >= from && second < to ? 8 : 5) * rng.around(0.05) },
    }),
  )
  expect(found[0]).toMatchObject({ metric: 'made.level', direction: 'up', kind: 'level' })
  const { since, until, now, score } = found[0]!
  expect(score).toBeGreaterThan(0.1)
  expect(Math.abs(since - START - from)).toBeLessThanOrEqual(STEP)
  expect(Math.abs(until! - START - to)).toBeLessThanOrEqual(STEP)
  expect(now).toBeCloseTo(8, 0)
})

test('of two excursions the larger one is found, not the first', async () => {
  const small = HALF + 100
  const [from, to] = [HALF + 300, HALF + 400]
  const bump = (second: number): number =>
    second >= from && second < to ? 12 : second >= small && second < small + 60 ? 7 : 5
  const [found] = await changes(
    recorded({ 'made.level': { at: (second, rng) => bump(second) * rng.around(0.05) } }),
  )
  expect(Math.abs(found!.since - START - from)).toBeLessThanOrEqual(STEP)
  expect(Math.abs(found!.until! - START - to)).toBeLessThanOrEqual(STEP)
  expect(found!.now).toBeCloseTo(12, 0)
})

test('a change that lasts has no end', async () => {
  const [change] = await changes(
    recorded({ 'made.level': { at: (second, rng) => (second > HALF + 100 ? 50 : 5) * rng.around(0.1) } }),
  )
  expect(change!.until).toBeNull()
})

test.each<[string, Made['at']]>([
  ['excursions as before', (second, rng) => (second % 400 < 100 ? 8 : 5) * rng.around(0.05)],
  ['growth as before', (second, rng) => 100 + second * 0.2 + rng.normal()],
])('%s are no change', async (_, at) => {
  const found = await changes(recorded({ 'made.level': { at } }))
  expect(found[0]?.score ?? 0).toBeLessThan(0.1)
})

test('the answer has at most the requested number of changes', async () => {
  const metrics = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [
      `made${String.fromCharCode(97 + i)}.level`,
      { at: (second: number, rng: Random) => (second > HALF + 20 * i ? 50 : 5) * rng.around(0.1) },
    ]),
  )
  expect(await changes(recorded(metrics), 5)).toHaveLength(5)
  const { archive, metrics: all } = changeInput(recorded(metrics))
  expect((await whatChanged(archive, all, { span: SPAN, limit: 5 })).further).toBe(7)
})

test('series without room are counted, not kept', async () => {
  const { archive, metrics } = changeInput(recorded({ 'made.load': { at: noisy(5) } }))
  const span = { start: SPAN.start, finish: SPAN.start + 100 }
  // The longest window before has 480 buckets.
  const before = { start: SPAN.start - 100_000, finish: SPAN.start }
  const few = MOST_BUCKETS / 480
  const crowded = {
    ...archive,
    scan: (...[ids, options]: Parameters<typeof archive.scan>) => {
      for (let inst = 0; inst < few + 100; inst++) options.into!.columnOf(metrics[0]!.desc.pmid, inst)
      return archive.scan(ids, options)
    },
  }
  const report = await whatChanged(crowded, metrics, { span, before })
  expect(report.series).toBeLessThanOrEqual(few)
  expect(report.leftOut).toBeGreaterThanOrEqual(99)
})

test('a window chosen to compare with, also a later one', async () => {
  const archive = recorded({
    'made.level': { at: (second, rng) => (second < 300 ? 50 : 5) * rng.around(0.1) },
  })
  const { archive: input, metrics } = changeInput(archive)
  const [change] = (
    await whatChanged(input, metrics, {
      span: { start: START, finish: START + 300 },
      before: { start: START + 600, finish: START + 1200 },
    })
  ).changes
  expect(change).toMatchObject({ metric: 'made.level', direction: 'up' })
})

test.each([
  ['an empty span', { start: 5, finish: 5 }, undefined],
  ['windows that overlap', { start: 0, finish: 10 }, { start: -5, finish: 5 }],
])('%s is refused', async (_, span, before) => {
  const { archive, metrics } = changeInput(recorded({ 'made.load': { at: noisy(5) } }))
  await expect(whatChanged(archive, metrics, { span, before })).rejects.toMatchObject({ code: 'PM_ERR_ARG' })
})

test.each([
  ['span', { start: START - 100, finish: START }],
  ['before', { start: START, finish: START + 100 }],
])('the answer names a window without records: %s', async (unrecorded, span) => {
  const { archive, metrics } = changeInput(recorded({ 'made.load': { at: noisy(5) } }))
  expect(await whatChanged(archive, metrics, { span })).toMatchObject({ unrecorded, changes: [] })
})

test('a window in which recording was interrupted is named, though the archive goes on', async () => {
  const { archive, metrics } = changeInput(
    recorded({ 'made.load': { at: (i) => (i < 180 || i > 300 ? 5 + (i % 3) : undefined) } }),
  )
  const span = { start: START + 2000, finish: START + 2900 }
  expect(await whatChanged(archive, metrics, { span })).toMatchObject({ unrecorded: 'span', changes: [] })
})
