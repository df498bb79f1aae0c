/** Lists of metrics without a page, which are kept for a while. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Page } from '../../../src/pmproxy/live/page.ts'
import type { RowRing } from '../../../src/pmproxy/live/row-ring.ts'
import type { Topic } from '../../../src/pmproxy/live/topic.ts'
import { LINGER_MS, type Watched, WatchedTopics } from '../../../src/pmproxy/live/watched-topics.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const page = (isGone: boolean): Page => ({ isGone, forget() {} }) as unknown as Page

function watchedTopic(): Watched {
  const ring = { clear() {} } as unknown as RowRing
  const wish = { metrics: [], derive: {} }
  return { topic: {} as Topic, wish, pages: new Map(), ring, newest: undefined, idle: undefined }
}

/** Watches a list, and leaves it for another one, or for good. */
function visit(topics: WatchedTopics, id: string, isGone: boolean): void {
  const watched = topics.get(id) ?? watchedTopic()
  const visitor = page(isGone)
  topics.join(id, watched, visitor, 'key')
  topics.leave(id, watched, visitor, 'key')
}

const kept = (topics: WatchedTopics, ids: string): string =>
  [...ids].filter((id) => topics.get(id) !== undefined).join('')

test.each([true, false])('the last two lists are kept for a minute (pages gone: %s)', (isGone) => {
  const topics = new WatchedTopics()
  for (const id of 'abc') {
    vi.advanceTimersByTime(5000)
    visit(topics, id, isGone)
  }
  expect(kept(topics, 'abc')).toBe('bc')
  vi.advanceTimersByTime(LINGER_MS - 5000)
  expect(kept(topics, 'abc')).toBe('c')
  vi.advanceTimersByTime(5000)
  expect(topics.isLingering).toBe(false)
})

test('lists through which a reloaded page comes to its own do not replace it', () => {
  const topics = new WatchedTopics()
  visit(topics, 'a', true)
  for (const id of 'xyz') visit(topics, id, false)
  expect(kept(topics, 'axyz')).toBe('ayz')
  for (const id of 'bc') visit(topics, id, true)
  expect(kept(topics, 'abcyz')).toBe('bcyz')
})
