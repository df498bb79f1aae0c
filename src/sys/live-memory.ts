/** Memory that this process's data take, without what nobody has collected yet. */

import type { PerformanceEntry } from 'node:perf_hooks'

/** Kind of a collection that looks at everything, in entries of type 'gc'. */
const MAJOR = 4
/** How long after a collection another thread still gives back the buffers that it found unused. */
const SWEEP_MS = 2

/**
 * What was still in use when garbage was last collected everywhere: between two collections the heap is full of data that
 * nobody uses any more, and tells nothing of what grows. Until the first one it is what there is but for the newest data.
 */
export class LiveMemory {
  #bytes: number | undefined
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
    return this.#bytes ?? grown()
  }

  /** By how many bytes it is more than all there was when this was made; 0 until garbage was collected, and when it is less. */
  get growth(): number {
    return Math.max(0, (this.#bytes ?? 0) - this.#atFirst)
  }

  /** Looks no more. */
  close(): void {
    this.#observer.disconnect()
    clearTimeout(this.#timer)
  }

  #collected(): void {
    const { heapUsed } = process.memoryUsage()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#bytes = heapUsed + process.memoryUsage().arrayBuffers
    }, SWEEP_MS).unref()
  }
}

function inUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Without the spaces of new data, most of which are garbage soon. */
function grown(): number {
  let bytes = process.memoryUsage().arrayBuffers
  for (const { space_name, space_used_size } of process.getBuiltinModule('node:v8').getHeapSpaceStatistics())
    if (!space_name.startsWith('new_')) bytes += space_used_size
  return bytes
}

function isMajor(entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): boolean {
  return entry.detail?.kind === MAJOR
}
