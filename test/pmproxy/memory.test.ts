import { expect, test } from 'vitest'
import { CONTEXT_MEMORY, Memory } from '../../src/pmproxy/memory.ts'

test('an answer is good for five seconds, or until something changes', async () => {
  let now = 0
  const memo = new Memory<string, string>(CONTEXT_MEMORY, () => now)
  expect(await memo.short('q', async () => 'first')).toBe('first')
  now = 5000
  expect(await memo.short('q', async () => 'second')).toBe('first')
  now = 5001
  expect(await memo.short('q', async () => 'second')).toBe('second')
  memo.clear()
  expect(await memo.short('q', async () => 'third')).toBe('third')
})

test('what was asked before something changed is not kept', async () => {
  const memo = new Memory<string, string>(CONTEXT_MEMORY, () => 0)
  const changing = async (): Promise<string> => {
    memo.clear()
    return 'stale'
  }
  expect(await memo.short('q', changing)).toBe('stale')
  expect(await memo.short('q', async () => 'fresh')).toBe('fresh')
})

test('long answers are not kept', async () => {
  const memo = new Memory<string, string>(CONTEXT_MEMORY, () => 0)
  const long = 'x'.repeat(65_536)
  await memo.short('q', async () => long)
  expect(await memo.short('q', async () => 'short')).toBe('short')
})
