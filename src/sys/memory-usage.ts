/** What memory this process uses, also where no descriptor is left. */

let last: NodeJS.MemoryUsage | undefined

/**
 * `process.memoryUsage()`, which throws EMFILE where the process may open no more files: Node reads the resident size from
 * /proc. Then the heap is that of now, and the rest as it was when it was last known.
 */
export function memoryUsage(): NodeJS.MemoryUsage {
  try {
    last = process.memoryUsage()
  } catch {
    const { used_heap_size, total_heap_size, external_memory } = process
      .getBuiltinModule('node:v8')
      .getHeapStatistics()
    const heap = { heapUsed: used_heap_size, heapTotal: total_heap_size, external: external_memory }
    last = { rss: last?.rss ?? 0, arrayBuffers: last?.arrayBuffers ?? 0, ...heap }
  }
  return last
}
