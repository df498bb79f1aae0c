/** Which processes the table shows: live samples, kept ones, recorded ones. */
import { expect, test } from 'vitest'
import type { ProcessesAnswer, ProcessSample } from '../../src/model/process-sample.ts'
import type { Source } from '../../src/ui/data/source.ts'
import { ProcessFeed } from '../../src/ui/processes/feed.ts'

const sample = (at: number): ProcessSample => ({
  at,
  family: 'proc',
  pids: [1],
  names: ['000001 a'],
  columns: {},
})
const answer = (at: number): ProcessesAnswer => ({ sample: sample(at), before: null, newest: null })

/** A host whose present moves on with each poll, or an archive. */
function source(span?: {
  readonly start: number
  readonly end: number
}): Source & { asked: number[]; fails: boolean } {
  let now = 1000
  const made = {
    asked: [] as number[],
    fails: false,
    ...(span === undefined ? {} : { span }),
    async processes(at?: number) {
      if (made.fails) throw new Error('refused')
      if (at === undefined) {
        now += 5
        return answer(now)
      }
      made.asked.push(at)
      return at < 0 ? undefined : answer(Math.round(at / 10) * 10)
    },
  }
  return made as unknown as ReturnType<typeof source>
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

test('an answer is shown when it arrives, also if playback has moved on', async () => {
  const feed = new ProcessFeed(source({ start: 0, end: 500 }), () => {})
  feed.get(100)
  await settled()
  expect(feed.get(110)).toMatchObject({ at: 100 })
})

test('live samples are kept, and the one nearest to the crosshair is shown with the one before', async () => {
  const feed = new ProcessFeed(source(), () => {})
  for (let i = 0; i < 40; i++) await feed.poll()
  expect(feed.get(undefined)).toMatchObject({ at: 1200, answer: { before: { at: 1195 } } })
  expect(feed.get(1151)).toMatchObject({ at: 1150, answer: { before: { at: 1145 }, newest: { at: 1200 } } })
  // Only 24 samples are kept; earlier ones are read from the recording.
  const { at } = feed.get(1000)
  expect(at).toBe(1150)
  await settled()
  expect(feed.get(1000)).toMatchObject({ at: 1000, answer: { newest: { at: 1200 } } })
})

test('recorded samples are requested one at a time and kept; a crosshair that moved on sends another', async () => {
  const archive = source({ start: 0, end: 5000 })
  let changes = 0
  const feed = new ProcessFeed(archive, () => changes++)
  expect(feed.get(100)).toMatchObject({ answer: undefined, isReading: true })
  feed.get(200)
  feed.get(300)
  await settled()
  expect([archive.asked, changes]).toEqual([[100], 1])
  feed.get(300)
  await settled()
  expect(feed.get(300).at).toBe(300)
  expect(feed.get(100).at).toBe(100)
  expect(archive.asked).toEqual([100, 300])
  for (let at = 1000; at < 1040; at++) {
    feed.get(at)
    await settled()
  }
  feed.get(100)
  await settled()
  expect(archive.asked.filter((at) => at === 100)).toHaveLength(2)
  await feed.poll()
  expect(changes).toBe(43)
})

test('times without recorded processes are reported, and failures are retried after a pause', async () => {
  const archive = source({ start: 0, end: 5000 })
  let nowMs = 0
  const feed = new ProcessFeed(
    archive,
    () => {},
    () => nowMs,
  )
  feed.get(-5)
  await settled()
  expect(feed.get(-5).problem).toMatch(/^No processes were recorded/)
  archive.fails = true
  feed.get(100)
  await settled()
  expect(feed.get(100).problem).toBe('refused')
  archive.fails = false
  feed.get(100)
  await settled()
  expect(archive.asked).toEqual([-5])
  nowMs += 5001
  feed.get(100)
  await settled()
  expect(feed.get(100)).toMatchObject({ at: 100, problem: undefined })
})
