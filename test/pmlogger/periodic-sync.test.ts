import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PeriodicSync } from '../../src/pmlogger/periodic-sync.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Starts with a disk whose syncs are completed by the test. */
function start(everyMs: number) {
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
  const ages: (number | undefined)[] = []
  const failures: string[] = []
  let begun = 0
  const sync = new PeriodicSync(everyMs, {
    sync: () => {
      begun++
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    atRisk: (ms) => ages.push(ms),
    failed: ({ message }) => failures.push(message),
  })
  const end = async (problem?: string): Promise<void> => {
    const one = waiting.shift()!
    if (problem === undefined) one.resolve()
    else one.reject(new Error(problem))
    await vi.advanceTimersByTimeAsync(0)
  }
  return { sync, ages, failures, end, begun: () => begun }
}

test('values are synced within the limit, and one sync covers all earlier values', async () => {
  const { sync, ages, end, begun } = start(1000)
  sync.written()
  await vi.advanceTimersByTimeAsync(900)
  sync.written()
  expect(begun()).toBe(0)
  await vi.advanceTimersByTimeAsync(100)
  expect(begun()).toBe(1)
  await end()
  expect(ages).toEqual([0, undefined])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(begun()).toBe(1)
})

test('only one sync runs at a time; values written meanwhile get another one when it is due', async () => {
  const { sync, ages, end, begun } = start(1000)
  sync.written()
  await vi.advanceTimersByTimeAsync(1000)
  sync.written()
  await vi.advanceTimersByTimeAsync(5000)
  expect(begun()).toBe(1)
  await end()
  expect(ages).toEqual([0, 5000])
  expect(begun()).toBe(2)
  await end()
  expect(ages.at(-1)).toBeUndefined()
})

test('a requested sync first waits for the one in progress', async () => {
  const { sync, end, begun } = start(0)
  sync.written()
  let isDone = false
  const first = sync.now()
  sync.written()
  const second = sync.now().then(() => {
    isDone = true
  })
  await end()
  await first
  expect([begun(), isDone]).toEqual([2, false])
  await end()
  await second
})

test('a failure is reported, the values stay at risk, and the sync is retried after the interval', async () => {
  const { sync, ages, failures, end, begun } = start(1000)
  sync.written()
  await vi.advanceTimersByTimeAsync(1000)
  await end('no disk')
  expect([failures, ages]).toEqual([['no disk'], [0, 1000]])
  await vi.advanceTimersByTimeAsync(999)
  expect(begun()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await end()
  expect(ages.at(-1)).toBeUndefined()
})

test('without an interval values are synced only on request, and never after the end', async () => {
  const { sync, begun } = start(0)
  sync.written()
  await vi.advanceTimersByTimeAsync(100_000)
  expect(begun()).toBe(0)
  sync.stop()
  await sync.now()
  expect(begun()).toBe(0)
})
