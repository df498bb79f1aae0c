/** Fetches that wait together share one moment, however many they are. */
import { expect, test, vi } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask, type MetricSource } from '../../src/model/source.ts'
import { emptySet, type FetchResult } from '../../src/model/values.ts'
import { FetchBatch } from '../../src/pmcd/fetch-batch.ts'

const METRIC = pmid(253, 0, 1)
const signal = new AbortController().signal

/** A source that remembers the moment of each fetch. */
function recorder(): { source: MetricSource; moments: unknown[] } {
  const moments: unknown[] = []
  const fetch = async (ids: readonly number[], ask: Ask): Promise<FetchResult> => {
    moments.push(ask.moment)
    return { timestamp: { sec: 1, nsec: 0 }, changes: 0, sets: ids.map((id) => emptySet(id)) }
  }
  const store = async (): Promise<void> => {}
  return { source: { fetch, store } as Partial<MetricSource> as MetricSource, moments }
}

function fetchOf(batch: FetchBatch, count: number, gone = signal): Promise<FetchResult> {
  const ids = new Array<number>(count).fill(METRIC)
  return batch.fetch(ids, { requester: ANONYMOUS, signal: gone })
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('fetches that came before the first was asked share its moment, later ones have their own', async () => {
  const { source, moments } = recorder()
  const batch = new FetchBatch(source)
  await Promise.all([fetchOf(batch, 1), fetchOf(batch, 1)])
  await fetchOf(batch, 1)
  expect(new Set(moments.slice(0, 2)).size).toBe(1)
  expect(moments[2]).not.toBe(moments[0])
})

test('many large fetches take several turns, still of one moment, and what comes meanwhile is of the next', async () => {
  const { source, moments } = recorder()
  const batch = new FetchBatch(source)
  const first = Array.from({ length: 10 }, () => fetchOf(batch, 2000))
  await nextTurn()
  const asked = moments.length
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThan(10)
  const late = fetchOf(batch, 1)
  await Promise.all([...first, late])
  expect(new Set(moments.slice(0, 10)).size).toBe(1)
  expect(moments).toHaveLength(11)
  expect(moments[10]).not.toBe(moments[0])
})

test('a store asks for all that wait before it, those of a moment that has begun first', async () => {
  const { source, moments } = recorder()
  const batch = new FetchBatch(source)
  for (let i = 0; i < 10; i++) void fetchOf(batch, 2000)
  await nextTurn()
  void fetchOf(batch, 1)
  await batch.store([], { requester: ANONYMOUS })
  expect(moments).toHaveLength(11)
  expect(new Set(moments).size).toBe(2)
})

test('a fetch whose client has gone is not asked', async () => {
  const { source, moments } = recorder()
  const batch = new FetchBatch(source)
  const gone = new AbortController()
  void fetchOf(batch, 1, gone.signal)
  gone.abort()
  await fetchOf(batch, 1)
  expect(moments).toHaveLength(1)
})

test('answers that come long after the question count for staying awake', async () => {
  let now = 1000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const late: (() => void)[] = []
  const fetch = (): Promise<FetchResult> =>
    new Promise((resolve) =>
      late.push(() => resolve({ timestamp: { sec: 1, nsec: 0 }, changes: 0, sets: [] })),
    )
  const batch = new FetchBatch({ fetch } as Partial<MetricSource> as MetricSource)
  const answers = [fetchOf(batch, 1), fetchOf(batch, 1)]
  await nextTurn()
  const immediate = vi.spyOn(globalThis, 'setImmediate').mockReturnValue(undefined as never)
  now += 50
  late[0]!()
  await answers[0]
  expect(immediate).not.toHaveBeenCalled()
  now += 0.3
  late[1]!()
  await answers[1]
  expect(immediate).toHaveBeenCalledOnce()
  vi.restoreAllMocks()
})
