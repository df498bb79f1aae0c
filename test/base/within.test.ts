import { afterEach, expect, test, vi } from 'vitest'
import { within } from '../../src/base/within.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('what comes in time is what it resolves to, failures as well, and no timer stays', async () => {
  vi.useFakeTimers()
  expect(await within(10, Promise.resolve('here'))).toBe('here')
  await expect(within(10, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(vi.getTimerCount()).toBe(0)
})

test('what is late is undefined', async () => {
  vi.useFakeTimers()
  const waiting = within(10, new Promise<string>(() => {}))
  await vi.advanceTimersByTimeAsync(10)
  expect(await waiting).toBeUndefined()
})
