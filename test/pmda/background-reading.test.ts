import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { statusOf } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { BackgroundReading } from '../../src/pmda/background-reading.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('reads at each interval, and keeps the last result', async () => {
  let count = 0
  const reading = new BackgroundReading(() => ++count, { intervalMs: 1000 })
  expect(() => reading.value).toThrow('Not read yet')
  await reading.start()
  expect(reading.value).toBe(1)
  await vi.advanceTimersByTimeAsync(2500)
  expect(reading.value).toBe(3)
  expect(reading.ageMs).toBe(500)
  reading.close()
  await vi.advanceTimersByTimeAsync(5000)
  expect([count, reading.refreshes, reading.failures]).toEqual([3, 3, 0])
})

test('one refresh at a time: a slow one delays the next', async () => {
  let running = 0
  let most = 0
  const reading = new BackgroundReading(
    async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 2500))
      running--
      return 'slow'
    },
    { intervalMs: 1000 },
  )
  const first = reading.start()
  void reading.refreshNow()
  await vi.advanceTimersByTimeAsync(2500)
  await first
  expect(reading.durationMs).toBe(2500)
  await vi.advanceTimersByTimeAsync(6000)
  expect([most, reading.refreshes]).toEqual([1, 3])
  reading.close()
})

test('a failed refresh is reported, and retried at the next interval', async () => {
  let isDown = true
  const reading = new BackgroundReading(
    () => {
      if (isDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
      return 'up'
    },
    { intervalMs: 1000 },
  )
  await reading.start()
  expect(reading.error?.code).toBe('ECONNREFUSED')
  expect(() => reading.value).toThrow('down')
  isDown = false
  await vi.advanceTimersByTimeAsync(1000)
  expect([reading.value, reading.failures, reading.refreshes]).toEqual(['up', 1, 2])
  reading.close()
})

test('a refresh that hangs times out', async () => {
  const aborted: boolean[] = []
  const reading = new BackgroundReading(
    (signal) => {
      signal.addEventListener('abort', () => aborted.push(true))
      return new Promise<string>(() => {})
    },
    { intervalMs: 1000, timeoutMs: 3000 },
  )
  void reading.start()
  await vi.advanceTimersByTimeAsync(3000)
  expect(reading.error).toMatchObject({ code: 'ETIMEDOUT', message: 'No answer within 3000 ms' })
  expect(aborted).toEqual([true])
  await vi.advanceTimersByTimeAsync(1)
  reading.close()
  expect(aborted).toEqual([true, true])
})

test('an old value expires', async () => {
  let mayAnswer = true
  const reading = new BackgroundReading(
    () => (mayAnswer ? Promise.resolve(1) : new Promise<number>(() => {})),
    { intervalMs: 1000, maxAgeMs: 1500 },
  )
  await reading.start()
  mayAnswer = false
  await vi.advanceTimersByTimeAsync(1500)
  expect(reading.value).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(reading.error).toMatchObject({
    code: 'PM_ERR_AGAIN',
    message: 'Read 1501 ms ago, longer than 1500 ms',
  })
  reading.close()
})

test('the interval can be stored, and applies immediately', async () => {
  let count = 0
  const reading = new BackgroundReading(() => ++count, { intervalMs: 60_000 })
  await reading.start()
  await vi.advanceTimersByTimeAsync(5000)
  reading.intervalMs = 1000
  await vi.advanceTimersByTimeAsync(0)
  expect(count).toBe(2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(count).toBe(3)
  for (const wrong of [0, -1, Number.NaN, 2 ** 31])
    expect(() => {
      reading.intervalMs = wrong
    }).toThrow(expect.objectContaining({ code: 'PM_ERR_BADSTORE' }))
  reading.close()
})

test('onRefresh may throw', async () => {
  const reading = new BackgroundReading(() => 1, {
    intervalMs: 1000,
    onRefresh: () => {
      throw new Error('a mistake')
    },
  })
  await reading.start()
  expect(reading.error?.message).toContain('a mistake')
  reading.close()
})

test('metrics of an agent never wait', async () => {
  let answer: (value: number) => void = () => {}
  const reading = new BackgroundReading(
    () =>
      new Promise<number>((resolve) => {
        answer = resolve
      }),
    { intervalMs: 1000 },
  )
  const agent = defineAgent({
    name: 'slow',
    domain: 481,
    open: () => {
      void reading.start()
      return {
        close: () => reading.close(),
        metrics: {
          'slow.value': {
            item: 0,
            type: 'u32',
            sem: 'instant',
            units: 'none',
            help: 'Last answer of the service',
            reading,
            value: () => reading.value,
          },
        },
      }
    },
  })
  const source = openAgent(agent)
  const fetch = async (): Promise<number[]> => {
    const { sets } = await source.fetch([pmid(481, 0, 0)], { requester: ANONYMOUS })
    return [sets[0]!.status, ...sets[0]!.word]
  }
  expect(await fetch()).toEqual([statusOf('PM_ERR_AGAIN')])
  answer(7)
  await vi.advanceTimersByTimeAsync(0)
  expect(await fetch()).toEqual([1, 7])
  await source.close()
  expect(vi.getTimerCount()).toBe(0)
})
