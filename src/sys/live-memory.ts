/** Memory that this process's data take, without what nobody has collected yet, and what it uses in all. */
import type { PerformanceEntry } from 'node:perf_hooks'

/** Kind of a collection that looks at everything, in entries of type 'gc'. */
const MAJOR = 4
/** Buffers found unused are freed on another thread: how long that usually takes. */
const SWEEP_MS = 2

/**
 * What was still in use when garbage was last collected everywhere: between two collections the heap is full of data that
 * nobody uses any more, and tells nothing of what grows. Until the first one it is what there is but for the newest data.
 */
export class LiveMemory {
  /** The heap after the last full collection. */
  #heap: number | undefined
  /** The fewest bytes of buffers seen since: however late they were freed, later ones never count. */
  #buffers = 0
  readonly #atFirst: number = inUse()
  #timer: NodeJS.Timeout | undefined
  readonly #observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) this.#collected()
  })

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** Bytes of the engine's heap and of buffers outside it. */
  get bytes(): number {
    return this.#heap === undefined ? grown() : this.#kept(this.#heap)
  }

  /** By how many bytes it is more than all there was when this was made; 0 until garbage was collected, and when it is less. */
  get growth(): number {
    return this.#heap === undefined ? 0 : Math.max(0, this.#kept(this.#heap) - this.#atFirst)
  }

  /** Looks no more. */
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

/** Without the spaces of new data, most of which are garbage soon. */
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
