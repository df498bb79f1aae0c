import { expect, test } from 'vitest'
import { RateLimitedLog } from '../../src/pmcd/rate-limited-log.ts'

test('each key is logged once, until cleared', () => {
  const once = new RateLimitedLog()
  expect(['a', 'b', 'a'].map((key) => once.isNew(key))).toEqual([true, true, false])
  once.clear()
  expect(once.isNew('a')).toBe(true)
})

test('the number of keys is limited', () => {
  const once = new RateLimitedLog()
  let told = 0
  for (let i = 0; i < 20_000; i++) if (once.isNew(`2001:db8::${i.toString(16)}`)) told++
  expect(told).toBe(10_000)
})
