/** Memory of this process, also where no descriptor is left to read it. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { LiveMemory } from '../../src/sys/live-memory.ts'
import { memoryUsage } from '../../src/sys/memory-usage.ts'

test('without a descriptor the heap is known all the same, and the rest as it was', () => {
  const before = memoryUsage()
  const spy = vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  })
  onTestFinished(() => spy.mockRestore())
  const { rss, arrayBuffers, heapUsed } = memoryUsage()
  expect({ rss, arrayBuffers }).toEqual({ rss: before.rss, arrayBuffers: before.arrayBuffers })
  expect(heapUsed).toBeGreaterThan(1e6)
  const live = new LiveMemory()
  expect(live.bytes).toBeGreaterThan(1e6)
  live.close()
})
