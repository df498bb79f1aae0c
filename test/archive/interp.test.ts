/** Interpolated values. Expected numbers are those of PCP's library for archives like these. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { ArchiveSource, type ArchiveSourceOptions } from '../../src/archive/source.ts'
import type { Timestamp } from '../../src/base/timestamp.ts'
import { PcpError } from '../../src/model/errors.ts'
import { ALL_INSTANCES, exclude } from '../../src/model/profile.ts'
import { extract, valuesOf } from '../../src/model/value-set.ts'
import type { Value } from '../../src/model/values.ts'
import { archive, desc, indom, mark, memoryFiles, result, type TestArchive } from './build.ts'

const COUNTER = 1
const INSTANT = 3
const DISCRETE = 4
const TYPE_32 = 0
const TYPE_U32 = 1
const TYPE_64 = 2
const TYPE_U64 = 3
const TYPE_FLOAT = 4
const TYPE_DOUBLE = 5
const TYPE_STRING = 6

/** A singular metric observed at times; a time alone is a mark. */
function observed(
  type: number,
  sem: number,
  observations: readonly (readonly [number, (number | bigint | string)?])[],
): TestArchive {
  const records = observations.map(([time, value]) =>
    value === undefined ? mark(3, time) : result(3, time, { pmid: 1, type, values: [[-1, value]] }),
  )
  return { meta: [desc({ pmid: 1, type, sem }, 'm')], volumes: [records] }
}

function open(
  options: TestArchive | Record<string, Uint8Array>,
  rules?: ArchiveSourceOptions,
): ArchiveSource {
  const files =
    'meta' in options ? archive('a', options as TestArchive) : (options as Record<string, Uint8Array>)
  const bases = [...new Set(Object.keys(files).map((file) => file.replace(/\..*$/, '')))]
  return new ArchiveSource(Archive.open(bases, memoryFiles(files)), rules)
}

const at = (time: number): Timestamp => ({
  sec: Math.floor(time),
  nsec: Math.round((time - Math.floor(time)) * 1e9),
})

/** Values of metric 1 from a time on, '-' for none, until the end or `count` of them. */
function series(source: ArchiveSource, from: number, step: number, count = 99): (Value | '-')[] {
  const { type } = source.archive.metadata.descs.get(1)!
  const values: (Value | '-')[] = []
  source.setMode('interpolate', at(from), step)
  try {
    while (values.length < count) {
      const set = source.fetchNow([1]).sets[0]!
      values.push(set.status > 0 ? extract(set, 0, type) : '-')
    }
  } catch (error) {
    expect(PcpError.from(error).code).toBe('PM_ERR_EOL')
  }
  return values
}

const PLAIN = [
  [0, 100],
  [10, 110],
  [20, 130],
  [30, 131],
  [40, 200],
] as const

const MARKED = [[0, 0], [10, 100], [10.001], [20, 1000], [30, 1100], [30.001], [40, 50], [50, 150]] as const

describe('counters', () => {
  test('grow evenly between observations and are rounded', () => {
    expect(series(open(observed(TYPE_32, COUNTER, PLAIN)), 0, 2.5)).toEqual([
      100, 103, 105, 108, 110, 115, 120, 125, 130, 130, 131, 131, 131, 148, 166, 183, 200,
    ])
    const doubles = PLAIN.map(([time, value]) => [time, value + 0.5] as const)
    expect(series(open(observed(TYPE_DOUBLE, COUNTER, doubles)), 0, 2.5, 6)).toEqual([
      100.5, 103, 105.5, 108, 110.5, 115.5,
    ])
  })

  test('have no value across a mark, nor right after a crossed mark', () => {
    const source = open(observed(TYPE_32, COUNTER, MARKED))
    expect(series(source, 0, 5)).toEqual([0, 50, 100, '-', 1000, 1050, 1100, '-', 50, 100, 150])
    expect(series(source, 5, 20)).toEqual([50, '-', 100])
    expect(series(source, 45, -20)).toEqual([100, '-', 50])
    expect(series(open(observed(TYPE_32, INSTANT, MARKED)), 5, 20)[1]).not.toBe('-')
  })

  test('that decrease are interpolated downwards, or with wrap handling have wrapped once', () => {
    const down = (type: number, rules: ArchiveSourceOptions): Value | '-' =>
      series(
        open(
          observed(type, COUNTER, [
            [0, type === TYPE_64 || type === TYPE_U64 ? 1000n : 1000],
            [10, type === TYPE_64 || type === TYPE_U64 ? 500n : 500],
          ]),
          rules,
        ),
        2.5,
        1,
        1,
      )[0]!
    for (const type of [TYPE_32, TYPE_U32, TYPE_64, TYPE_U64, TYPE_DOUBLE]) expect(down(type, {})).toBe(875)
    expect(down(TYPE_U32, { counterWrap: true })).toBe(1073742699)
    expect(down(TYPE_64, { counterWrap: true })).toBe(875)
    expect(down(TYPE_U64, { counterWrap: true })).toBe((2n ** 64n - 500n) / 4n + 1000n)
    expect(down(TYPE_DOUBLE, { counterWrap: true })).toBe(875)
    const nearTop = observed(TYPE_U32, COUNTER, [
      [0, 4294967290],
      [10, 4],
    ])
    expect(series(open(nearTop), 2.5, 1, 1)).toEqual([3221225469])
    expect(series(open(nearTop, { counterWrap: true }), 2.5, 1, 1)).toEqual([4294967293])
  })

  test('of signed types that fell by more than half of their range have wrapped', () => {
    const at = (type: number, from: number | bigint, to: number | bigint): unknown =>
      series(
        open(
          observed(type, COUNTER, [
            [0, from],
            [10, to],
          ]),
        ),
        2.5,
        5,
        2,
      )
    expect(at(TYPE_32, 2 ** 31 - 5, -(2 ** 31) + 7)).toEqual([2 ** 31 - 2, -(2 ** 31) + 4])
    expect(at(TYPE_64, 2n ** 63n - 5n, -(2n ** 63n) + 7n)).toEqual([2n ** 63n - 2n, -(2n ** 63n) + 4n])
  })

  test('below zero are rounded as above it', () => {
    const source = open(
      observed(TYPE_32, COUNTER, [
        [0, -10],
        [10, -20],
      ]),
    )
    expect(series(source, 2.5, 2.5, 3)).toEqual([-12, -15, -17])
  })

  test.each([
    [TYPE_U64, 2n ** 64n - 1001n, 2n ** 64n - 1n],
    [TYPE_U64, 2n ** 63n - 500n, 2n ** 63n + 500n],
    [TYPE_U64, 2n ** 53n + 1n, 2n ** 53n + 1001n],
    [TYPE_U64, 0n, 2n ** 64n - 16n],
    [TYPE_64, 2n ** 63n - 1001n, 2n ** 63n - 1n],
    [TYPE_64, -(2n ** 63n), -(2n ** 63n) + 1000n],
    [TYPE_64, -(2n ** 62n), 2n ** 62n],
  ])('of 64 bits (type %i, %i to %i) are exact between any two observations', (type, from, to) => {
    const source = open(
      observed(type, COUNTER, [
        [0, from],
        [10, to],
      ]),
    )
    const exact = Array.from({ length: 11 }, (_, i) => from + (2n * BigInt(i) * (to - from) + 10n) / 20n)
    expect(series(source, 0, 1).map((value) => BigInt(value as number | bigint))).toEqual(exact)
  })

  test('of 64 bits never decrease, and stay between the observations, at any time', () => {
    const value = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    const moments = fc.uniqueArray(fc.integer({ min: 0, max: 10_000 }), { minLength: 2, maxLength: 20 })
    fc.assert(
      fc.property(value, value, moments, fc.constantFrom(TYPE_U64, TYPE_64), (a, b, times, type) => {
        const shift = type === TYPE_64 ? 2n ** 63n : 0n
        const [from, to] = a < b ? [a - shift, b - shift] : [b - shift, a - shift]
        const source = open(
          observed(type, COUNTER, [
            [0, from],
            [10, to],
          ]),
        )
        let last = from
        for (const time of times.sort((x, y) => x - y)) {
          const value = BigInt(series(source, time / 1000, 1, 1)[0] as bigint)
          expect(value).toBeGreaterThanOrEqual(last)
          last = value
        }
        expect(last).toBeLessThanOrEqual(to)
      }),
    )
  })
})

describe('values other than counters', () => {
  test('are those of the nearer observation, or with `nearest` off of the earlier one', () => {
    const nearer = [100, 100, 100, 110, 110, 110, 110, 130, 130, 130, 130, 131, 131, 131, 131, 200, 200]
    expect(series(open(observed(TYPE_32, INSTANT, PLAIN)), 0, 2.5)).toEqual(nearer)
    expect(series(open(observed(TYPE_32, DISCRETE, PLAIN)), 0, 2.5)).toEqual(nearer)
    const source = open(observed(TYPE_32, INSTANT, PLAIN), { nearest: false })
    expect(series(source, 0, 2.5, 9)).toEqual([100, 100, 100, 100, 110, 110, 110, 110, 130])
  })

  test('that are text are those of the observation before or at the time', () => {
    const texts = [0, 1, 2, 3, 4].map((n) => [10 * n, `s${n}`] as const)
    const source = open(observed(TYPE_STRING, DISCRETE, texts))
    expect(series(source, 0, 10)).toEqual(['s0', 's1', 's2', 's3', 's4'])
    expect(series(source, 0, 2.5, 6)).toEqual(['s0', 's0', 's0', 's0', 's1', 's1'])
    expect(series(source, 40, -5, 4)).toEqual(['s4', 's3', 's3', 's2'])
  })

  test('end with the last observation, discrete ones with the archive or a mark', () => {
    const sparse = (sem: number): TestArchive => ({
      meta: [desc({ pmid: 1, sem }, 'm'), desc({ pmid: 2 }, 'other')],
      volumes: [
        [0, 30, 60, 100].map((time) => {
          const values = time === 30 || time === 60 ? [{ pmid: 1, values: [[-1, time] as const] }] : []
          return result(3, time, ...values, { pmid: 2, values: [[-1, 1]] })
        }),
      ],
    })
    expect(series(open(sparse(COUNTER)), 0, 15)).toEqual(['-', '-', 30, 45, 60, '-', '-'])
    expect(series(open(sparse(INSTANT)), 0, 15)).toEqual(['-', '-', 30, 30, 60, '-', '-'])
    expect(series(open(sparse(DISCRETE)), 0, 15)).toEqual(['-', '-', 30, 30, 60, 60, 60])
    expect(series(open(sparse(DISCRETE)), 90, -15)).toEqual([60, 60, 60, 30, 30, '-', '-'])
  })
})

describe('instances', () => {
  const INDOM = 7
  const few = [
    [0, 'a'],
    [1, 'b'],
  ] as const
  const many = Array.from({ length: 22 }, (_, i) => [i, `i${i}`] as const)
  const records = [0, 10, 20, 30, 40, 50, 60].map((time) => {
    const both = time >= 20 && time <= 40
    return result(3, time, {
      pmid: 1,
      values: both
        ? [
            [0, 1],
            [1, time],
          ]
        : [[0, 1]],
    })
  })
  const of = (sem: number, meta: readonly Uint8Array[]): ArchiveSource =>
    open({ meta: [desc({ pmid: 1, sem, indom: INDOM }, 'm'), ...meta], volumes: [records] })
  const second = (source: ArchiveSource): (number | '-')[] => {
    source.setMode('interpolate', at(0), 10)
    return records.map(() => {
      const found = valuesOf(source.fetchNow([1]).sets[0]!, TYPE_32).find(({ inst }) => inst === 1)
      return found === undefined ? '-' : (found.value as number)
    })
  }

  test('of small domains persist when discrete', () => {
    const meta = [indom(3, 0, INDOM, few)]
    expect(second(of(INSTANT, meta))).toEqual(['-', '-', 20, 30, 40, '-', '-'])
    expect(second(of(DISCRETE, meta))).toEqual(['-', '-', 20, 30, 40, 40, 40])
  })

  test('of large domains end when a snapshot lacks them', () => {
    const meta = [
      indom(3, 0, INDOM, many),
      indom(
        3,
        50,
        INDOM,
        many.filter(([inst]) => inst !== 1),
      ),
    ]
    expect(second(of(DISCRETE, meta))).toEqual(['-', '-', 20, 30, 40, 40, '-'])
  })

  test('excluded by the profile are left out', () => {
    const source = of(INSTANT, [indom(3, 0, INDOM, few)])
    source.setMode('interpolate', at(30), 10)
    expect(source.fetchNow([1], exclude(ALL_INSTANCES, INDOM, [0])).sets[0]).toMatchObject({
      status: 1,
      inst: Int32Array.of(1),
    })
  })

  test('missing from all snapshots are invisible', () => {
    const source = of(INSTANT, [indom(3, 0, INDOM, [[0, 'a']])])
    source.setMode('interpolate', at(30), 10)
    expect(source.fetchNow([1]).sets[0]).toMatchObject({ status: 1, inst: Int32Array.of(0) })
  })
})

describe('the ends of an archive', () => {
  const source = (): ArchiveSource =>
    open(
      observed(TYPE_32, COUNTER, [
        [0, 0],
        [10, 10],
        [50, 150],
      ]),
    )

  test.each([
    [-0.0005, '-'],
    [49.9999, 150],
  ])('%s s is still answered', (time, value) => {
    expect(series(source(), time, 1, 1)).toEqual([value])
  })

  test.each([-0.002, 50.0005])('%s s is outside', (time) => {
    expect(series(source(), time, 1, 1)).toEqual([])
  })

  test('unknown metrics and non-numeric counters have an error instead of values', () => {
    const files = open({
      meta: [desc({ pmid: 1, type: TYPE_STRING, sem: COUNTER }, 'm')],
      volumes: [[result(3, 1, { pmid: 1, type: TYPE_STRING, values: [[-1, 'x']] })]],
    })
    files.setMode('interpolate', at(1), 1)
    expect(files.fetchNow([1, 2]).sets.map(({ status }) => status)).toEqual([-12397, -12378])
  })
})

describe('several archives', () => {
  const tens = (from: number, to: number, step = 10): [number, number][] =>
    Array.from({ length: (to - from) / step + 1 }, (_, i) => [from + i * step, 10 * (from + i * step)])
  const pair = (sem: number, start: number): ArchiveSource =>
    open({
      ...archive('a', { start: 0, ...observed(TYPE_32, sem, tens(0, 30)) }),
      ...archive('b', { start, ...observed(TYPE_32, sem, tens(start, start + 30)) }),
    })

  test('have nothing in the gap between them, but discrete values when going backwards', () => {
    for (const sem of [COUNTER, INSTANT, DISCRETE])
      expect(series(pair(sem, 50), 35, 5, 3)).toEqual(['-', '-', '-'])
    expect(series(pair(COUNTER, 50), 45, -5, 3)).toEqual(['-', '-', '-'])
    expect(series(pair(DISCRETE, 50), 45, -5, 3)).toEqual([300, 300, 300])
  })

  test('that overlap have values of both, and none of counters across the seam', () => {
    expect(series(pair(COUNTER, 25), 25, 5, 5)).toEqual([250, 300, '-', 400, 450])
    expect(series(pair(COUNTER, 25), 45, -5, 5)).toEqual([450, 400, 350, '-', 250])
  })
})

test('marks may be ignored, all or those of short gaps', () => {
  const marked = observed(TYPE_32, COUNTER, MARKED)
  expect(series(open(marked, { ignoreMarksSec: 0 }), 0, 5, 5)).toEqual([0, 50, 100, 550, 1000])
  expect(series(open(marked, { ignoreMarksSec: 10 }), 0, 5, 5)).toEqual([0, 50, 100, 550, 1000])
  expect(series(open(marked, { ignoreMarksSec: 9 }), 0, 5, 5)).toEqual([0, 50, 100, '-', 1000])
})

/** Random archives: a frequent metric, a rare one, and marks. */
const anyArchive = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 20 }),
      kind: fc.integer({ min: 0, max: 9 }),
      value: fc.integer({ min: -1000, max: 1000 }),
    }),
    { minLength: 3, maxLength: 40 },
  )
  .map((steps) => {
    let time = 0
    return steps.map(({ gap, kind, value }) => {
      const record =
        kind === 0
          ? mark(3, time)
          : result(
              3,
              time,
              { pmid: 1, values: [[-1, value]] },
              ...(kind > 7 ? [{ pmid: 2, values: [[-1, value]] as const }] : []),
            )
      time += gap
      return record
    })
  })

test('fetching forwards, backwards and singly gives the same values, for metrics together or alone', () => {
  fc.assert(
    fc.property(
      anyArchive,
      fc.constantFrom(INSTANT, DISCRETE),
      fc.integer({ min: 1, max: 30 }),
      (records, sem, step) => {
        const options = {
          meta: [desc({ pmid: 1, sem }, 'm'), desc({ pmid: 2, sem }, 'rare')],
          volumes: [records],
        }
        const source = open(options)
        const end = source.archive.end() as Timestamp
        const fetchAll = (from: number, by: number): Map<number, string> => {
          const found = new Map<number, string>()
          source.setMode('interpolate', at(from), by)
          for (let t = from; t >= 0 && t <= end.sec; t += by)
            found.set(t, JSON.stringify(source.fetchNow([2, 1]).sets.map((set) => valuesOf(set, TYPE_32))))
          return found
        }
        const forwards = fetchAll(0, step)
        const last = Math.floor(end.sec / step) * step
        const backwards = fetchAll(last, -step)
        for (const [t, value] of forwards) {
          expect(backwards.get(t)).toBe(value)
          const alone = [2, 1].map((pmid) => {
            source.setMode('interpolate', at(t), 1)
            return valuesOf(source.fetchNow([pmid]).sets[0]!, TYPE_32)
          })
          expect(JSON.stringify(alone)).toBe(value)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('small steps give the same values as separate fetches, for all types, also with reused memory', () => {
  const types = [TYPE_32, TYPE_U32, TYPE_64, TYPE_U64, TYPE_FLOAT, TYPE_DOUBLE]
  const steps = fc.array(
    fc.record({
      gap: fc.integer({ min: 1, max: 20 }),
      kind: fc.integer({ min: 0, max: 9 }),
      by: fc.integer({ min: -3, max: 90 }),
    }),
    { minLength: 3, maxLength: 30 },
  )
  let compared = 0
  fc.assert(
    fc.property(
      steps,
      fc.constantFrom(COUNTER, INSTANT, DISCRETE),
      fc.double({ min: 0.2, max: 9, noNaN: true }),
      fc.boolean(),
      fc.boolean(),
      (all, sem, step, reuses, counterWrap) => {
        let time = 0
        let value = 1000
        const records = all.map(({ gap, kind, by }) => {
          time += gap
          value += by
          if (kind === 0) return mark(3, time)
          return result(
            3,
            time,
            ...types.map((type, i) => {
              const number = type === TYPE_64 || type === TYPE_U64 ? BigInt(value) * 0x1_0000_0001n : value
              return {
                pmid: i + 1,
                type,
                values: [[1, number], ...(kind < 5 ? [[2, number] as const] : [])] as const,
              }
            }),
          )
        })
        const meta = [
          indom(3, 0, 5, [
            [1, 'a'],
            [2, 'b'],
          ]),
          ...types.map((type, i) => desc({ pmid: i + 1, type, sem, indom: 5 }, `m${i}`)),
        ]
        const ids = types.map((_, i) => i + 1)
        const inOneGo = open({ meta, volumes: [records] }, { counterWrap })
        const anew = open({ meta, volumes: [records] }, { counterWrap })
        for (const source of [inOneGo, anew]) source.setMode('interpolate', at(0), step)
        const shown = (source: ArchiveSource, asked: readonly number[]): string =>
          JSON.stringify(
            source
              .fetchNow(asked, ALL_INSTANCES, reuses)
              .sets.toSorted((a, b) => a.pmid - b.pmid)
              .map((set, i) => valuesOf(set, types[i]!)),
            (_, each) => (typeof each === 'bigint' ? `${each}n` : each),
          )
        for (let n = 0; n * step < time; n++) {
          // Metrics in another order each time.
          expect(shown(inOneGo, ids)).toBe(shown(anew, n % 2 === 0 ? ids : ids.toReversed()))
          compared += ids.length
        }
      },
    ),
    { numRuns: 25 },
  )
  console.log(`interpolation in small steps: ${compared} value sets compared`)
})

test('interpolated counters stay between their neighbours', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 20 }),
      fc.double({ min: 0.1, max: 7, noNaN: true }),
      (values, step) => {
        const found = series(
          open(
            observed(
              TYPE_32,
              COUNTER,
              values.map((value, i) => [10 * i, value] as const),
            ),
          ),
          0,
          step,
        )
        for (const [i, value] of found.entries()) {
          if (value === '-') continue // just after the end
          const k = Math.min(Math.floor((i * step) / 10), values.length - 2)
          const [low, high] = [values[k]!, values[k + 1]!].sort((a, b) => a - b) as [number, number]
          expect(value).toBeGreaterThanOrEqual(low)
          expect(value).toBeLessThanOrEqual(high)
        }
      },
    ),
    { numRuns: 60 },
  )
})
