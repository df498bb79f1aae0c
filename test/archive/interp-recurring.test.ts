/** Requests for several sets of metrics in turn, as of charts with expressions over two log groups. */
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { RecordReader } from '../../src/archive/reader.ts'
import { ArchiveSource } from '../../src/archive/source.ts'
import type { Timestamp } from '../../src/base/timestamp.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, PM_TYPE_32 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { LocalArchive } from '../../src/ui/data/local-archive.ts'
import { archive, desc, mark, memoryFiles, result } from './build.ts'

const FAST = [1, 2]
const SLOW = [3, 4]
const METRICS = [...FAST, ...SLOW]

const at = (time: number): Timestamp => ({
  sec: Math.floor(time),
  nsec: Math.round((time - Math.floor(time)) * 1e9),
})

/** Two log groups, each 10 s and each 60 s, for some seconds; recording is interrupted after the times in `marks`. */
function files(seconds: number, sem: number, marks: readonly number[] = []): Record<string, Uint8Array> {
  const records: Uint8Array[] = []
  const record = (time: number, ids: readonly number[]): void =>
    void records.push(
      result(3, time, ...ids.map((pmid) => ({ pmid, values: [[-1, pmid * Math.floor(time)] as const] }))),
    )
  for (let time = 0; time <= seconds; time += 10) {
    record(time, FAST)
    if (time % 60 === 0) record(time + 0.25, SLOW)
    if (marks.includes(time)) records.push(mark(3, time + 0.5))
  }
  return archive('a', { meta: METRICS.map((pmid) => desc({ pmid, sem }, `m${pmid}`)), volumes: [records] })
}

function open(seconds: number, sem: number, marks?: readonly number[]): ArchiveSource {
  return new ArchiveSource(Archive.open('a', memoryFiles(files(seconds, sem, marks))))
}

const fetchAt = (source: ArchiveSource, time: number, ids: readonly number[]) => {
  source.moveTo(at(time))
  return source.fetchNow(ids).sets.map((set) => valuesOf(set, PM_TYPE_32).map(({ value }) => value))
}

afterEach(() => vi.restoreAllMocks())

/** Returns how often the archive is searched for a position. */
function searches(act: () => void): number {
  const seek = vi.spyOn(RecordReader.prototype, 'seek')
  act()
  const { length } = seek.mock.calls
  seek.mockRestore()
  return length
}

// Between records, the next value of the slow group is searched once per record: for all its metrics in a request together.
test.each([
  ['two groups', 1, [FAST, SLOW]],
  ['one metric in both requests', 1, [FAST, [1, ...SLOW]]],
  ['three requests', 1, [FAST, SLOW, METRICS]],
  ['eight requests', 2, [[1], [2], [3], [4], [1, 2], [1, 3], [2, 3], [2, 4]]],
])('requests in turn do not search their place in the archive again: %s', (_, perRecord, requests) => {
  const searchesFor = (seconds: number): number =>
    searches(() => {
      const source = open(10_000, PM_SEM_INSTANT)
      source.setMode('interpolate', at(0), 1)
      for (let time = 0; time < seconds; time += 60)
        for (const [i, ids] of requests.entries())
          fetchAt(source, time + (i === 0 ? 0 : 0.25 + i / 1000), ids)
    })
  expect(searchesFor(9000) - searchesFor(3000)).toBeLessThanOrEqual((6000 / 60) * perRecord)
})

const anyRequests = fc.array(
  fc.record({
    ids: fc.subarray(METRICS, { minLength: 1 }),
    by: fc.oneof(
      fc.constantFrom(0, 0.25, 10, 60),
      fc.integer({ min: 0, max: 360 }).map((quarters) => quarters / 4),
    ),
  }),
  { minLength: 2, maxLength: 60 },
)

test('each request has the values that it has alone', () => {
  fc.assert(
    fc.property(
      anyRequests,
      fc.constantFrom(PM_SEM_INSTANT, PM_SEM_DISCRETE, PM_SEM_COUNTER),
      fc.boolean(),
      (requests, sem, isBackward) => {
        // Counters are held back after marks, see below.
        const marks = sem === PM_SEM_COUNTER ? [] : [120, 130, 400]
        const end = 600
        const inTurn = open(end, sem, marks)
        const alone = open(end, sem, marks)
        inTurn.setMode('interpolate', at(0), isBackward ? -1 : 1)
        let passed = 0
        for (const { ids, by } of requests) {
          passed += by
          if (passed > end) break
          const time = isBackward ? end - passed : passed
          alone.setMode('interpolate', at(time), isBackward ? -1 : 1)
          expect(fetchAt(inTurn, time, ids), `${ids} at ${time}`).toEqual(fetchAt(alone, time, ids))
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a counter has no value at its first request after a mark, in whichever request it is', () => {
  const source = open(600, PM_SEM_COUNTER, [180])
  source.setMode('interpolate', at(0), 1)
  for (let time = 0; time < 180; time += 20) {
    fetchAt(source, time, [1])
    fetchAt(source, time + 5, [1, 2])
    fetchAt(source, time + 6, [2])
  }
  expect(fetchAt(source, 200, [1])).toEqual([[]])
  expect(fetchAt(source, 201, [1, 2])).toEqual([[201], []])
  expect(fetchAt(source, 202, [2])).toEqual([[404]])
  expect(fetchAt(source, 203, [1])).toEqual([[203]])
})

test('metrics are followed until their request is missing for a while', () => {
  const source = open(10_000, PM_SEM_INSTANT)
  source.setMode('interpolate', at(0), 1)
  const turn = (time: number): void => {
    fetchAt(source, time, FAST)
    fetchAt(source, time + 0.25, SLOW)
  }
  for (let time = 0; time < 600; time += 60) turn(time)
  expect(searches(() => fetchAt(source, 600, FAST))).toBe(0)
  expect(searches(() => fetchAt(source, 600.25, SLOW))).toBe(0)
  for (let time = 610; time < 1800; time += 10) fetchAt(source, time, FAST)
  expect(searches(() => fetchAt(source, 1800.25, SLOW))).toBeGreaterThan(0)
})

test('a chart with expressions over two log groups searches the archive at its start only', async () => {
  const searchesFor = async (finish: number): Promise<number> => {
    const seek = vi.spyOn(RecordReader.prototype, 'seek')
    const derive = { 'page.a': 'm1 + m2', 'page.b': 'm3 + m4' }
    const made = new LocalArchive('a', new Map(Object.entries(files(20_000, PM_SEM_INSTANT))))
    await made.range({ names: Object.keys(derive), derive, start: 0, finish, points: 1000 })
    const { length } = seek.mock.calls
    seek.mockRestore()
    return length
  }
  expect(await searchesFor(7000)).toBe(await searchesFor(4000))
})
