/** Lists of metrics without a page, which are kept for a while. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Page } from '../../../src/pmproxy/live/page.ts'
import type { RowRing } from '../../../src/pmproxy/live/row-ring.ts'
import type { Topic } from '../../../src/pmproxy/live/topic.ts'
import { LINGER_MS, type Watched, WatchedTopics } from '../../../src/pmproxy/live/watched-topics.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const page = { forget() {} } as unknown as Page

function watchedTopic(): Watched {
  const ring = { clear() {} } as unknown as RowRing
  const wish = { metrics: [], derive: {} }
  return { topic: {} as Topic, wish, pages: new Map(), ring, newest: undefined, idle: undefined }
}

/** Watches a list for a time. */
function visit(topics: WatchedTopics, id: string, ms: number): void {
  const watched = topics.get(id) ?? watchedTopic()
  topics.join(id, watched, page, 'key')
  vi.advanceTimersByTime(ms)
  topics.leave(id, watched, page, 'key')
}

const kept = (topics: WatchedTopics, ids: string): string =>
  [...ids].filter((id) => topics.get(id) !== undefined).join('')

test('the last two lists are kept for a minute', () => {
  const topics = new WatchedTopics()
  for (const id of 'abc') visit(topics, id, 5000)
  expect(kept(topics, 'abc')).toBe('bc')
  vi.advanceTimersByTime(LINGER_MS - 5000)
  expect(kept(topics, 'abc')).toBe('c')
  vi.advanceTimersByTime(5000)
  expect(topics.isLingering).toBe(false)
})

test('lists through which a page comes to its own do not replace it', () => {
  const topics = new WatchedTopics()
  visit(topics, 'a', 60_000)
  for (const id of 'xyz') visit(topics, id, 300)
  expect(kept(topics, 'axyz')).toBe('ax')
  visit(topics, 'b', 30_000)
  expect(kept(topics, 'abx')).toBe('bx')
})
