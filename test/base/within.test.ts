import { afterEach, expect, test, vi } from 'vitest'
import { withTimeout } from '../../src/base/within.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('a promise settled in time passes through, also a rejection, and no timer remains', async () => {
  vi.useFakeTimers()
  expect(await withTimeout(10, Promise.resolve('here'))).toBe('here')
  await expect(withTimeout(10, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(vi.getTimerCount()).toBe(0)
})

test('a late promise yields undefined', async () => {
  vi.useFakeTimers()
  const waiting = withTimeout(10, new Promise<string>(() => {}))
  await vi.advanceTimersByTimeAsync(10)
  expect(await waiting).toBeUndefined()
})
