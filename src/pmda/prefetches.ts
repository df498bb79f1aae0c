/** What metrics begin before a fetch and wait for at its end, with a time limit: one that never ends costs its metric alone. */
import { after } from '../base/after.ts'
import type { Ask } from '../model/source.ts'
import type { AgentMetric } from './compile.ts'
import { SINGULAR } from './fetch.ts'

const NONE: ReadonlySet<AgentMetric> = new Set()

/** The prefetches of one agent. */
export class Prefetches {
  readonly #timeoutMs: () => number
  /** Prefetches that took too long and have not ended: until then their metrics begin no other. */
  readonly #late = new Map<AgentMetric, Promise<void>>()

  /** `timeoutMs` returns the time limit, which may change; 0 is none. */
  constructor(timeoutMs: () => number) {
    this.#timeoutMs = timeoutMs
  }

  /** Lets a metric that takes other threads to read begin with that. The promise never fails; undefined: nothing to wait for. */
  begin(metric: AgentMetric, ask: Ask): Promise<void> | undefined {
    const late = this.#late.get(metric)
    if (late !== undefined) return late
    const { ahead, indom } = metric
    try {
      const begun = ahead!(ask, () => indom?.select(ask, ask.moment!) ?? SINGULAR)
      return begun instanceof Promise ? begun : undefined
    } catch {
      return undefined // the fetch meets the same error, and reports it
    }
  }

  /** Waits until all have ended or the time is up. Resolves to the metrics whose prefetch has not ended. */
  async wait(begun: ReadonlyMap<AgentMetric, Promise<void>>): Promise<ReadonlySet<AgentMetric>> {
    const unfinished = new Set<AgentMetric>()
    /** Prefetches that an earlier fetch gave up: it removes them from `#late` when they end. */
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
      // What it rejects with, the fetch meets as well.
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
      cancel = after(ms, resolve)
    })
    try {
      await Promise.race([all, late])
    } finally {
      cancel()
    }
  }
}
