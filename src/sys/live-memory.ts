/** Memory use of this process without garbage. */
import type { PerformanceEntry } from 'node:perf_hooks'

/** Kind of a full collection in performance entries of type 'gc'. */
const MAJOR = 4
/** Usual time to free unused buffers, which another thread does after a collection. */
const SWEEP_MS = 2

/**
 * Tracks the memory still in use after the last full garbage collection: between collections the heap is mostly garbage and does not
 * reveal growth. Before the first one, the heap without its young generation is used.
 */
export class LiveMemory {
  /** The heap after the last full collection. */
  #heap: number | undefined
  /** Smallest size of buffers since then, so that buffers freed late never count. */
  #buffers = 0
  readonly #atFirst: number = inUse()
  #timer: NodeJS.Timeout | undefined
  readonly #observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) this.#collected()
  })

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** Bytes of the heap and of buffers outside it. */
  get bytes(): number {
    return this.#heap === undefined ? grown() : this.#kept(this.#heap)
  }

  /** Growth in bytes since this object was made; 0 before the first full collection, and when memory shrank. */
  get growthBytes(): number {
    return this.#heap === undefined ? 0 : Math.max(0, this.#kept(this.#heap) - this.#atFirst)
  }

  /** Stops observing. */
  close(): void {
    this.#observer.disconnect()
    clearTimeout(this.#timer)
  }

  #collected(): void {
    const { heapUsed, arrayBuffers } = memoryUsage()
    this.#heap = heapUsed
    this.#buffers = arrayBuffers
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#kept(heapUsed), SWEEP_MS).unref()
  }

  #kept(heap: number): number {
    this.#buffers = Math.min(this.#buffers, memoryUsage().arrayBuffers)
    return heap + this.#buffers
  }
}

function inUse(): number {
  const { heapUsed, arrayBuffers } = memoryUsage()
  return heapUsed + arrayBuffers
}

/** Measures memory without the young generation, most of which is garbage soon. */
function grown(): number {
  let bytes = memoryUsage().arrayBuffers
  for (const { space_name, space_used_size } of process.getBuiltinModule('node:v8').getHeapSpaceStatistics())
    if (!space_name.startsWith('new_')) bytes += space_used_size
  return bytes
}

function isMajor(entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean {
  return entry.detail?.kind === MAJOR
}

let last: NodeJS.MemoryUsage | undefined

/**
 * Returns `process.memoryUsage()`. Without a free file descriptor that throws EMFILE, as Node reads the resident size from /proc;
 * then the heap is current and the rest is the last known.
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
