/** Fetches that wait together share one batch, however many they are. */
import { expect, test, vi } from 'vitest'
import { ANONYMOUS } from '../../src/model/source.ts'
import { FetchBatch } from '../../src/pmcd/fetch-batch.ts'

const signal = new AbortController().signal

/** Fetches that record the `moment` of each. */
class Recorder {
  readonly batch = new FetchBatch()
  readonly moments: unknown[] = []

  /** Resolves once it has run. */
  fetch(size: number, gone = signal): Promise<void> {
    return new Promise((resolve) => {
      this.batch.add(size, { requester: ANONYMOUS, signal: gone }, ({ batch }) => {
        this.moments.push(batch)
        resolve()
      })
    })
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('fetches that arrive before the first runs share its batch, later ones have their own', async () => {
  const recorder = new Recorder()
  const { moments } = recorder
  await Promise.all([recorder.fetch(1), recorder.fetch(1)])
  await recorder.fetch(1)
  expect(new Set(moments.slice(0, 2)).size).toBe(1)
  expect(moments[2]).not.toBe(moments[0])
})

test('many large fetches of one batch take several turns; later arrivals belong to the next batch', async () => {
  const recorder = new Recorder()
  const { moments } = recorder
  const first = Array.from({ length: 10 }, () => recorder.fetch(2000))
  await nextTurn()
  const asked = moments.length
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThan(10)
  const late = recorder.fetch(1)
  await Promise.all([...first, late])
  expect(new Set(moments.slice(0, 10)).size).toBe(1)
  expect(moments).toHaveLength(11)
  expect(moments[10]).not.toBe(moments[0])
})

test('a flush runs all waiting fetches, those of the current batch first', async () => {
  const recorder = new Recorder()
  const { moments } = recorder
  for (let i = 0; i < 10; i++) void recorder.fetch(2000)
  await nextTurn()
  void recorder.fetch(1)
  recorder.batch.flush()
  expect(moments).toHaveLength(11)
  expect(new Set(moments).size).toBe(2)
})

test('a fetch whose client has left is not run', async () => {
  const recorder = new Recorder()
  const { moments } = recorder
  const gone = new AbortController()
  void recorder.fetch(1, gone.signal)
  gone.abort()
  await recorder.fetch(1)
  expect(moments).toHaveLength(1)
})

test('a reply soon after the previous one keeps the process awake, a later one does not', () => {
  let now = 1000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const { batch } = new Recorder()
  batch.busyPoll.touch()
  const immediate = vi.spyOn(globalThis, 'setImmediate').mockReturnValue(undefined as never)
  now += 50
  batch.busyPoll.touch()
  expect(immediate).not.toHaveBeenCalled()
  now += 0.3
  batch.busyPoll.touch()
  expect(immediate).toHaveBeenCalledOnce()
  vi.restoreAllMocks()
})
