/** Live memory: released memory no longer counts once it is collected. */
import { constants, type PerformanceEntry } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LiveMemory, memoryUsage } from '../../src/sys/live-memory.ts'
import { eventually } from '../lib/eventually.ts'

const MIB = 2 ** 20

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** Collects all garbage; resolves once observers that were there before have been notified. */
async function collect(): Promise<void> {
  const began = performance.now()
  let isSeen = false
  const observer = new PerformanceObserver((list) => {
    isSeen ||= list.getEntries().some((entry) => isMajor(entry) && entry.startTime >= began)
  })
  observer.observe({ entryTypes: ['gc'] })
  gc()
  // Entries alone do not wake an event loop that waits.
  while (!isSeen) await new Promise((resolve) => setImmediate(resolve))
  observer.disconnect()
}

const isMajor = ({ detail }: PerformanceEntry & { readonly detail?: unknown }): boolean =>
  (detail as { readonly kind: number }).kind === constants.NODE_PERFORMANCE_GC_MAJOR

/** Memory that collections no longer make smaller: earlier tests of this thread leave garbage. */
async function settled(memory: LiveMemory): Promise<number> {
  return eventually(async () => {
    await collect()
    const { bytes } = memory
    await collect()
    expect(Math.abs(memory.bytes - bytes)).toBeLessThan(4 * MIB)
    return memory.bytes
  })
}

test('live memory counts, released memory does not, and uncollected garbage makes no difference', async () => {
  // Growth counts from all there is at first, garbage included.
  const earlier = new LiveMemory()
  await settled(earlier)
  earlier.close()
  const memory = new LiveMemory()
  const before = await settled(memory)
  const middle = before + 16 * MIB
  let kept: Uint8Array | undefined = new Uint8Array(32 * MIB)
  expect(memory.bytes).toBeLessThanOrEqual(before)
  await collect()
  expect(memory.bytes).toBeGreaterThan(middle)
  expect(kept.length).toBe(32 * MIB)
  expect(memory.growthBytes).toBeGreaterThan(16 * MIB)
  kept = undefined
  // Another thread frees it.
  await eventually(async () => {
    await collect()
    expect(memory.bytes).toBeLessThan(middle)
  })
  memory.close()
})

test('buffers freed late no longer count, without another collection', async () => {
  const memory = new LiveMemory()
  await settled(memory)
  const usage = process.memoryUsage
  const seen = usage()
  let arrayBuffers = seen.arrayBuffers + 32 * MIB
  process.memoryUsage = Object.assign(() => ({ ...seen, arrayBuffers }), { rss: usage.rss })
  try {
    await collect()
    const swept = memory.bytes - 32 * MIB
    arrayBuffers -= 32 * MIB
    expect(memory.bytes).toBe(swept)
    arrayBuffers += 64 * MIB
    expect(memory.bytes).toBe(swept)
  } finally {
    process.memoryUsage = usage
    memory.close()
  }
})

test('without a free file descriptor the heap is current, and the rest is the last known', () => {
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
