/** The sampling loop: sample times, lateness, ends and yielding to the event loop. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { type SamplingPlan, sampleLoop } from '../../src/pmapi/samples.ts'
import { ManualClock } from '../lib/fake-host.ts'

const LIVE = { archive: undefined }
/** An archive that is already at its position. */
const RECORDED = { archive: { setMode: () => {} } }

/** A clock that advances during sleeps; its `take` lasts as long as given and returns its start time. */
function timed(lastMs: readonly number[] = []) {
  let now = 1000
  let n = 0
  const sleeps: number[] = []
  return {
    sleeps,
    clock: {
      now: () => now,
      sleep: async (ms: number, signal: AbortSignal | undefined) => {
        if (signal?.aborted === true) throw new PcpError('ECANCELED')
        sleeps.push(ms)
        now += ms
      },
    },
    take: () => {
      const at = now
      now += lastMs[n++] ?? 0
      return at - 1000
    },
  }
}

async function allOf<R extends {}>(
  plan: SamplingPlan<R>,
  context: Parameters<typeof sampleLoop>[0] = LIVE,
): Promise<R[]> {
  const all: R[] = []
  for await (const sample of sampleLoop(context, plan)) all.push(sample)
  return all
}

test.each([
  ['in time', undefined, [100, 100, 100], [0, 1000, 2000, 3000]],
  ['catch-up: all missed times are sampled', 'catch-up', [2500], [0, 2500, 2500, 3000, 4000]],
  ['latest: only one of the missed times is sampled', 'latest', [2500], [0, 2500, 3000, 4000]],
  ['latest: a slightly late sample keeps its time', 'latest', [1500], [0, 1500, 2000]],
  ['skip: waits for the next time', 'skip', [2500], [0, 3000, 4000]],
  [
    'skip: a sample that ends exactly at a sample time waits for the next one',
    'skip',
    [2000],
    [0, 3000, 4000],
  ],
] as const)('sample times do not drift; %s', async (_what, late, lastMs, moments) => {
  const { clock, take } = timed(lastMs)
  const plan = { intervalSec: 1, clock, take, count: moments.length, ...(late && { late }) }
  expect(await allOf(plan)).toEqual(moments)
})

test('sample times are skipped several at a time, and counted', async () => {
  const { clock, take } = timed([7500])
  const sampled = sampleLoop(LIVE, { intervalSec: 1, late: 'latest', skipsBy: 3, clock, take })
  const missed: number[][] = []
  for (let n = 0; n < 5; n++) missed.push([(await sampled.next())!, sampled.missed])
  expect(missed).toEqual([
    [0, 0],
    [7500, 6],
    [8000, 0],
    [9000, 0],
    [10000, 0],
  ])
})

test('an aligned start is awaited, and sample times count from there', async () => {
  const { clock, take } = timed()
  expect(await allOf({ intervalSec: 10, startInMs: 700, count: 3, clock, take })).toEqual([700, 10700, 20700])
})

test('samples that are not paced never sleep', async () => {
  const { clock, take, sleeps } = timed()
  expect(await allOf({ intervalSec: 10, count: 3, clock, take }, RECORDED)).toEqual([0, 0, 0])
  expect(await allOf({ intervalSec: 10, count: 3, clock, take, isPaced: false })).toEqual([0, 0, 0])
  expect(sleeps).toEqual([])
  expect(await allOf({ intervalSec: 10, count: 3, clock, take, isPaced: true }, RECORDED)).toEqual([
    0, 10000, 20000,
  ])
})

test('archives are positioned before the first sample', () => {
  const calls: unknown[][] = []
  const contexts = [1, 2].map((n) => ({
    archive: { setMode: (...args: unknown[]) => void calls.push([n, ...args]) },
  }))
  const origin = { sec: 7, nsec: 0 }
  sampleLoop(contexts, { origin, intervalSec: 5, take: () => 1 })
  sampleLoop(contexts[0]!, { origin, intervalSec: 5, mode: 'forward', take: () => 1 })
  sampleLoop(contexts[0]!, { intervalSec: 5, take: () => 1 })
  expect(calls).toEqual([
    [1, 'interpolate', origin, 5],
    [2, 'interpolate', origin, 5],
    [1, 'forward', origin],
  ])
})

test('samples of an archive need no promise', () => {
  let n = 0
  const sampled = sampleLoop(RECORDED, { intervalSec: 1, count: 2, take: () => ++n })
  expect([sampled.next(), sampled.next(), sampled.next()]).toEqual([1, 2, undefined])
})

test('the end of an archive ends the samples and is kept', async () => {
  for (const isLater of [false, true]) {
    let n = 0
    const error = new PcpError('PM_ERR_EOL', 'End of the archive')
    const take = (): number | Promise<number> => {
      if (++n < 3) return n
      if (isLater) return Promise.reject(error)
      throw error
    }
    const sampled = sampleLoop(RECORDED, { intervalSec: 1, take })
    const all: number[] = []
    for await (const sample of sampled) all.push(sample)
    expect(all).toEqual([1, 2])
    expect(sampled.end).toBe(error)
    expect(await sampled.next()).toBeUndefined()
    expect(n).toBe(3)
  }
})

test('other errors are thrown', async () => {
  const error = new PcpError('PM_ERR_LOGREC')
  const take = (): number => {
    throw error
  }
  await expect(allOf({ intervalSec: 1, take }, RECORDED)).rejects.toBe(error)
  await expect(allOf({ intervalSec: 1, take: () => Promise.reject(error) }, RECORDED)).rejects.toBe(error)
})

test('a sample beyond the window ends the samples', async () => {
  let n = 0
  const plan = { intervalSec: 1, take: () => ++n, isBeyond: (sample: number) => sample > 3 }
  const sampled = sampleLoop(RECORDED, plan)
  const all: number[] = []
  for await (const sample of sampled) all.push(sample)
  expect(all).toEqual([1, 2, 3])
  expect([await sampled.next(), n, sampled.end]).toEqual([undefined, 4, undefined])
})

test('waits for the source before choosing the next sample time', async () => {
  const { clock, take } = timed()
  const answers = [true, true, false]
  const ready = async (): Promise<boolean> => {
    await clock.sleep(2500, undefined)
    return answers.shift()!
  }
  expect(await allOf({ intervalSec: 1, late: 'skip', clock, take, ready })).toEqual([0, 3000, 6000])
})

test('hurry() takes a sample immediately; later ones keep their times', async () => {
  const clock = new ManualClock()
  const sampled = sampleLoop(LIVE, { intervalSec: 1, clock, take: () => clock.now() + 1 })
  expect(await sampled.next()).toBe(1)
  const next = sampled.next()
  expect(await clock.nextMs()).toBe(1000)
  await clock.advance(300)
  sampled.sampleNow()
  expect(await next).toBe(301)
  const third = sampled.next()
  expect(await clock.nextMs()).toBe(1700)
  await clock.advance(1700)
  expect(await third).toBe(2001)
})

test('an infinite interval waits for hurry()', async () => {
  const clock = new ManualClock()
  const sampled = sampleLoop(LIVE, {
    intervalSec: Number.POSITIVE_INFINITY,
    clock,
    take: () => clock.now() + 1,
  })
  expect(await sampled.next()).toBe(1)
  for (const at of [11, 21]) {
    const next = sampled.next()
    expect(await clock.nextMs()).toBe(Number.POSITIVE_INFINITY)
    await clock.advance(10)
    sampled.sampleNow()
    expect(await next).toBe(at)
  }
})

test('an abort ends waiting, and also samples that never wait', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  const { signal } = controller
  const clock = new ManualClock()
  const live = sampleLoop(LIVE, { intervalSec: 1, clock, call: { signal }, take: () => 1 })
  await live.next()
  const next = live.next()
  await clock.nextMs()
  controller.abort(reason)
  await expect(next).rejects.toMatchObject({ code: 'ECANCELED' })
  const canceled = { code: 'ECANCELED', cause: reason }
  await expect(
    sampleLoop(LIVE, { intervalSec: 1, call: { signal }, take: () => 1 }).next(),
  ).rejects.toMatchObject(canceled)
})

test('a long archive yields to signals, with all output written', async () => {
  const controller = new AbortController()
  setImmediate(() => controller.abort())
  let flushes = 0
  const plan: SamplingPlan<number> = {
    intervalSec: 1,
    call: controller,
    take: () => 1,
    flush: async () => {
      flushes++
    },
  }
  await expect(allOf(plan, RECORDED)).rejects.toMatchObject({ code: 'ECANCELED' })
  expect(flushes).toBeGreaterThan(0)
})

test('output is written before each wait', async () => {
  const { clock, take, sleeps } = timed()
  const events: unknown[] = []
  const flush = async (): Promise<void> => void events.push(`flush ${sleeps.length}`)
  for await (const sample of sampleLoop(LIVE, { intervalSec: 1, count: 3, clock, take, flush }))
    events.push(sample)
  expect(events).toEqual(['flush 0', 0, 'flush 0', 1000, 'flush 1', 2000])
})
