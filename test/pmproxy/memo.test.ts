import { expect, test } from 'vitest'
import { Memo } from '../../src/pmproxy/memo.ts'

test('an answer is good for five seconds, or until something changes', async () => {
  let now = 0
  const memo = new Memo(() => now)
  expect(await memo.get('q', async () => 'first')).toBe('first')
  now = 5000
  expect(await memo.get('q', async () => 'second')).toBe('first')
  now = 5001
  expect(await memo.get('q', async () => 'second')).toBe('second')
  memo.clear()
  expect(await memo.get('q', async () => 'third')).toBe('third')
})

test('what was asked before something changed is not kept', async () => {
  const memo = new Memo(() => 0)
  const changing = async (): Promise<string> => {
    memo.clear()
    return 'stale'
  }
  expect(await memo.get('q', changing)).toBe('stale')
  expect(await memo.get('q', async () => 'fresh')).toBe('fresh')
})

test('long answers are not kept', async () => {
  const memo = new Memo(() => 0)
  const long = 'x'.repeat(65_536)
  await memo.get('q', async () => long)
  expect(await memo.get('q', async () => 'short')).toBe('short')
})
