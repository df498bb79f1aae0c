import { expect, test } from 'vitest'
import { ALL_INSTANCES } from '../../src/model/profile.ts'
import { ANONYMOUS, type MetricSource } from '../../src/model/source.ts'
import type { FetchResult } from '../../src/model/values.ts'
import { SharedFetches } from '../../src/pmproxy/shared-fetches.ts'

/** A source whose fetches stay pending. */
function waiting(): {
  source: MetricSource
  answer: (n: number, fails?: boolean) => void
  count: () => number
} {
  const pending: { done: (result: FetchResult) => void; fail: (error: Error) => void }[] = []
  const fetch = (): Promise<FetchResult> => new Promise((done, fail) => pending.push({ done, fail }))
  return {
    source: { fetch } as unknown as MetricSource,
    answer: (n, fails = false) =>
      fails
        ? pending[n]!.fail(new Error(`${n}`))
        : pending[n]!.done({ timestamp: { sec: n, nsec: 0 }, changes: 0, sets: [] }),
    count: () => pending.length,
  }
}

const ASK = { requester: ANONYMOUS }
const second = async (result: Promise<FetchResult>): Promise<number> => (await result).timestamp.sec

test('requests during a fetch share the next one', async () => {
  const { source, answer, count } = waiting()
  const fetches = new SharedFetches(source)
  const [a, b, c] = [fetches.fetch([1], ASK), fetches.fetch([1], ASK), fetches.fetch([1], ASK)].map(second)
  expect(count()).toBe(1)
  answer(0)
  expect(await a).toBe(0)
  expect(count()).toBe(2)
  const d = second(fetches.fetch([1], ASK))
  answer(1)
  expect(await Promise.all([b, c])).toEqual([1, 1])
  answer(2)
  expect(await d).toBe(2)
  const e = second(fetches.fetch([1], ASK))
  answer(3)
  expect(await e).toBe(3)
})

test('other metrics and other profiles are fetched separately', () => {
  const { source, count } = waiting()
  const fetches = new SharedFetches(source)
  void fetches.fetch([1], ASK)
  void fetches.fetch([2], ASK)
  void fetches.fetch([1], { requester: { ...ANONYMOUS, profile: { ...ALL_INSTANCES } } })
  expect(count()).toBe(3)
})

test('a failed fetch fails only the requests that wait for it', async () => {
  const { source, answer } = waiting()
  const fetches = new SharedFetches(source)
  const [a, b] = [fetches.fetch([1], ASK), fetches.fetch([1], ASK)]
  answer(0, true)
  await expect(a).rejects.toThrow('0')
  await Promise.resolve()
  answer(1)
  expect(await second(b)).toBe(1)
})
