/** Rates computed by an agent itself, for metrics whose values are no longer counters. docs/reference/agent-toolkit.md */
import { counterRate } from '../model/rate.ts'
import { TYPES } from './type-tables.ts'

/** Options of `Rates`. */
export interface RatesOptions {
  /** Counters of this type wrap. By default a decreasing counter was reset and has no rate. */
  readonly wrapsAs?: '32' | 'u32' | '64' | 'u64'
}

/**
 * Rates per second of counters between the last two updates. A counter has a rate only if it was in two successive
 * updates, so that clients never get an invented value.
 */
export class Rates<K = number> {
  readonly #wrapsAs: RatesOptions['wrapsAs']
  #before = new Map<K, number | bigint>()
  #beforeMs = Number.NaN
  #rates = new Map<K, number>()

  constructor(options: RatesOptions = {}) {
    this.#wrapsAs = options.wrapsAs
  }

  /** Sets the counters at a time in milliseconds. If time did not advance there are no rates. */
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

  /** Returns the rate of a counter, or undefined. */
  get(key: K): number | undefined {
    return this.#rates.get(key)
  }
}
