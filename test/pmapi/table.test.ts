/** Typed rows: the programmer's guide's example, instances, units, archives in both directions. */
import { expect, expectTypeOf, test } from 'vitest'
import { PM_INDOM_NULL, pmid } from '../../src/model/ids.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSingular } from '../../src/model/value-writer.ts'
import { emptySet, type Value } from '../../src/model/values.ts'
import type { ArchiveControl } from '../../src/pmapi/archive-control.ts'
import type { Clock } from '../../src/pmapi/clock.ts'
import { Context } from '../../src/pmapi/context.ts'
import { datasetSource } from './dataset-source.ts'

const SEMANTICS: Readonly<Record<string, number>> = {
  counter: PM_SEM_COUNTER,
  instant: PM_SEM_INSTANT,
  discrete: PM_SEM_DISCRETE,
}
const NAMES = Object.keys(SEMANTICS)

/** Times and values of the example in the programmer's guide. */
const SAMPLES: readonly (readonly [number, number | undefined])[] = [
  [1, 10],
  [3, 30],
  [5, 60],
  [7, 80],
  [9, 90],
  [11, undefined],
]

/** Returns three metrics with the same values and different semantics. */
function guideSource(): MetricSource {
  let next = 0
  return {
    ...datasetSource(),
    lookupNames: async (names) => names.map((name) => pmid(246, 0, NAMES.indexOf(name))),
    descs: async (ids) =>
      ids.map((id) => ({
        pmid: id,
        type: PM_TYPE_U32,
        indom: PM_INDOM_NULL,
        sem: SEMANTICS[NAMES[id & 1023]!]!,
        units: 0,
      })),
    fetch: async (ids) => {
      const [sec, value] = SAMPLES[next++]!
      const sets = ids.map((id) =>
        value === undefined ? emptySet(id) : makeSingular(id, PM_TYPE_U32, value),
      )
      return { timestamp: { sec, nsec: 0 }, changes: 0, sets }
    },
  }
}

/** Returns a clock that advances only during sleeps. */
function fakeClock(): Clock {
  let time = 0
  return {
    now: () => time,
    sleep: async (ms) => {
      time += ms
    },
  }
}

test("counters become rates, instantaneous values are unchanged, discrete ones hold: the programmer's guide's table", async () => {
  const context = Context.over(guideSource(), { clock: fakeClock() })
  const columns = { counter: 'counter', instant: 'instant', discrete: 'discrete' } as const
  const rows: unknown[] = []
  for await (const { time, values } of context.table(columns, { every: 2, count: 6 }))
    rows.push([time.sec, values.counter, values.instant, values.discrete])
  expect(rows).toEqual([
    [1, undefined, 10, 10],
    [3, 10, 30, 30],
    [5, 15, 60, 60],
    [7, 10, 80, 80],
    [9, 5, 90, 90],
    [11, undefined, undefined, 90],
  ])
})

test('columns select instances and units, and their cells have the requested types', async () => {
  const context = Context.over(datasetSource(), { clock: fakeClock() })
  const table = context.table(
    {
      one: 'm.a.kb[one]',
      bytes: { metric: 'm.a.kb', instances: 'all', scale: 'byte' },
      two: { metric: 'm.a.kb', instances: ['three', 'four'] },
      text: { metric: 'g.str', as: 'text' },
      big: { metric: 'g.u64.i', as: 'exact' },
      busy: { metric: 'm.a.msec', instance: 'one' },
    },
    { count: 3 },
  )
  const rows = []
  for await (const row of table) rows.push(row)
  const [first, second, third] = rows.map(({ values }) => values)
  expectTypeOf(first!.one).toEqualTypeOf<number | undefined>()
  expectTypeOf(first!.bytes).toEqualTypeOf<ReadonlyMap<string, number>>()
  expectTypeOf(first!.text).toEqualTypeOf<string | undefined>()
  expectTypeOf(first!.big).toEqualTypeOf<Value | undefined>()
  expect(first!.one).toBe(1024)
  expect([...first!.bytes]).toEqual([
    ['one', 1_048_576],
    ['two', 0],
    ['three bis', 7168],
  ])
  expect([...third!.two]).toEqual([
    ['three bis', 7],
    ['four', 9],
  ])
  expect([first!.text, third!.text, third!.big]).toEqual(['alpha', 'beta', 2n ** 64n - 1n])
  // 5000 ms of use in 10 s, as a utilisation.
  expect([rows[0]!.errors.busy?.code, second!.busy]).toEqual(['PM_ERR_AGAIN', 0.5])
})

test.each([
  ['a metric without its instance', 'm.a.kb', 'PM_ERR_INDOM'],
  ['an unexpected instance', 'g.s32.i[one]', 'PM_ERR_INDOM'],
  ['an unknown metric', 'no.such', 'PM_ERR_NAME'],
  ['units that do not fit', { metric: 'g.s32.i', scale: 'byte' }, 'PM_ERR_CONV'],
  ['two instances in one cell', 'm.a.kb[one,two]', 'PM_ERR_ARG'],
])('%s is refused immediately', async (_what, column, code) => {
  const context = Context.over(datasetSource())
  await expect(context.table({ column }).next()).rejects.toMatchObject({ code })
})

/** Returns enough of an archive of seconds 0 to 60 whose counter grows by 3 per second. */
function archiveContext(): Context {
  let at = 0
  let step = 0
  const archive = {
    start: { sec: 0, nsec: 0 },
    end: () => ({ sec: 60, nsec: 0 }),
    setMode: (_mode: string, when: { sec: number }, stepSec: number) => {
      at = when.sec
      step = stepSec
    },
  } as unknown as ArchiveControl
  const source: MetricSource = {
    ...guideSource(),
    fetch: async (ids) => {
      const sec = at
      at += step
      const sets = ids.map((id) => makeSingular(id, PM_TYPE_U32, 3 * sec))
      return { timestamp: { sec, nsec: 0 }, changes: 0, sets }
    },
  }
  return Context.over(source, { archive })
}

test.each([
  [{ every: 20, to: { sec: 60, nsec: 0 } }, [0, 20, 40, 60]],
  [{ every: '10s', from: { sec: 5, nsec: 0 }, to: { sec: 30, nsec: 0 } }, [5, 15, 25]],
  [{ every: 30, backward: true, to: { sec: 0, nsec: 0 } }, [60, 30, 0]],
])('an archive is read through a window: %o', async (options, times) => {
  const rows: number[] = []
  const rates: unknown[] = []
  for await (const { time, values } of archiveContext().table({ rate: 'counter' }, options)) {
    rows.push(time.sec)
    rates.push(values.rate)
  }
  expect(rows).toEqual(times)
  expect(rates).toEqual(times.map((_, i) => (i === 0 ? undefined : 3)))
})

test('only archives can be read from an earlier time or backwards', async () => {
  const context = Context.over(guideSource())
  const from = { sec: 0, nsec: 0 }
  await expect(context.table({ counter: 'counter' }, { from }).next()).rejects.toMatchObject({
    code: 'PM_ERR_NOTARCHIVE',
  })
})
