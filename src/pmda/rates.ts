/** Rates that an agent works out itself, for metrics that are no counters any more. docs/agents.md */
import { counterRate } from '../model/rate.ts'
import { TYPES } from './type-tables.ts'

/** How rates are worked out. */
export interface RatesOptions {
  /** The counters have this type and wrap; without it a counter that went back was restarted, and has no rate. */
  readonly wrapsAs?: '32' | 'u32' | '64' | 'u64'
}

/**
 * Changes of counters a second, between the last two updates. A counter has none before it was seen in two updates in
 * succession: clients get no value, never a made-up one.
 */
export class Rates<K = number> {
  readonly #wrapsAs: RatesOptions['wrapsAs']
  #before = new Map<K, number | bigint>()
  #beforeMs = Number.NaN
  #rates = new Map<K, number>()

  constructor(options: RatesOptions = {}) {
    this.#wrapsAs = options.wrapsAs
  }

  /** Takes the counters as they were at a time, in milliseconds. A time that did not go on leaves no rates. */
  update(counters: Iterable<readonly [K, number | bigint]>, atMs: number): void {
    const seconds = (atMs - this.#beforeMs) / 1000
    const type = TYPES[this.#wrapsAs ?? 'double']
    const now = new Map(counters)
    const rates = new Map<K, number>()
    for (const [key, value] of now) {
      const before = this.#before.get(key)
      if (before === undefined || !(seconds > 0)) continue
      const rate = counterRate(before, value, seconds, type, this.#wrapsAs !== undefined)
      if (rate !== undefined) rates.set(key, rate)
    }
    this.#before = now
    this.#beforeMs = atMs
    this.#rates = rates
  }

  /** The rate of a counter; undefined when there is none. */
  get(key: K): number | undefined {
    return this.#rates.get(key)
  }
}
