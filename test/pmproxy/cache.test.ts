import { expect, test } from 'vitest'
import { AnswerCache, CONTEXT_CACHE_LIMITS } from '../../src/pmproxy/cache.ts'

test('an answer is cached for five seconds, or until something changes', async () => {
  let now = 0
  const memo = new AnswerCache<string, string>(CONTEXT_CACHE_LIMITS, () => now)
  expect(await memo.short('q', async () => 'first')).toBe('first')
  now = 5000
  expect(await memo.short('q', async () => 'second')).toBe('first')
  now = 5001
  expect(await memo.short('q', async () => 'second')).toBe('second')
  memo.clear()
  expect(await memo.short('q', async () => 'third')).toBe('third')
})

test('an answer requested before a change is not cached', async () => {
  const memo = new AnswerCache<string, string>(CONTEXT_CACHE_LIMITS, () => 0)
  const changing = async (): Promise<string> => {
    memo.clear()
    return 'stale'
  }
  expect(await memo.short('q', changing)).toBe('stale')
  expect(await memo.short('q', async () => 'fresh')).toBe('fresh')
})

test('long answers are not cached', async () => {
  const memo = new AnswerCache<string, string>(CONTEXT_CACHE_LIMITS, () => 0)
  const long = 'x'.repeat(65_536)
  await memo.short('q', async () => long)
  expect(await memo.short('q', async () => 'short')).toBe('short')
})
