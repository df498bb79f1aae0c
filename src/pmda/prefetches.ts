/** Prefetches, begun before a fetch and awaited at its end. The time limit confines a slow prefetch to its metric. */
import { setLongTimeout } from '../base/after.ts'
import type { Ask } from '../model/source.ts'
import type { AgentMetric } from './compile.ts'
import { SINGULAR } from './fetch.ts'

const NONE: ReadonlySet<AgentMetric> = new Set()

/** The prefetches of one agent. */
export class Prefetches {
  readonly #timeoutMs: () => number
  /** Prefetches that exceeded the limit and are still running: their metrics start no other meanwhile. */
  readonly #late = new Map<AgentMetric, Promise<void>>()

  /** `timeoutMs` returns the current time limit; 0 for none. */
  constructor(timeoutMs: () => number) {
    this.#timeoutMs = timeoutMs
  }

  /** Starts the prefetch of a metric. The promise never rejects; undefined if there is nothing to wait for. */
  begin(metric: AgentMetric, ask: Ask): Promise<void> | undefined {
    const late = this.#late.get(metric)
    if (late !== undefined) return late
    const { prefetch, indom } = metric
    try {
      const begun = prefetch!(ask, () => indom?.select(ask, ask.batch!) ?? SINGULAR)
      return begun instanceof Promise ? begun : undefined
    } catch {
      return undefined // the fetch meets the same error and reports it
    }
  }

  /** Waits until all have ended or the time is up. Resolves to the metrics whose prefetch has not ended. */
  async wait(begun: ReadonlyMap<AgentMetric, Promise<void>>): Promise<ReadonlySet<AgentMetric>> {
    const unfinished = new Set<AgentMetric>()
    /** Given up by an earlier fetch, which removes them from `#late` when they end. */
    const isKnown = new Set<AgentMetric>()
    const waiting: Promise<void>[] = []
    for (const [metric, prefetch] of begun) {
      unfinished.add(metric)
      if (this.#late.has(metric)) {
        isKnown.add(metric)
        continue
      }
      const end = (): void => {
        unfinished.delete(metric)
        this.#late.delete(metric)
      }
      // A rejection is ignored: the fetch meets the same error.
      waiting.push(prefetch.then(end, end))
    }
    if (waiting.length > 0) await this.#inTime(Promise.all(waiting))
    if (unfinished.size === 0) return NONE
    const late = new Set(unfinished)
    for (const metric of late) if (!isKnown.has(metric)) this.#late.set(metric, begun.get(metric)!)
    return late
  }

  async #inTime(all: Promise<unknown>): Promise<void> {
    const ms = this.#timeoutMs()
    if (ms === 0) {
      await all
      return
    }
    let cancel = (): void => {}
    const late = new Promise<void>((resolve) => {
      cancel = setLongTimeout(ms, resolve)
    })
    try {
      await Promise.race([all, late])
    } finally {
      cancel()
    }
  }
}
