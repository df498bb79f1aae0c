/** An interval: values at its end, and the growth of counters. */
import { toSeconds } from '../../base/timestamp.ts'
import { counterDelta } from '../../model/rate.ts'
import type { Sample } from '../lib/sampled/metrics.ts'

/** Two samples and the time between them. Without the first, counters are totals since boot. */
export class Step {
  readonly before: Sample | undefined
  readonly now: Sample
  /** Seconds; since boot for the first live sample. */
  readonly elapsedSec: number
  readonly isSinceBoot: boolean
  readonly #base: Sample

  /** `base` is the first sample of the report, which has the constant values. */
  constructor(
    before: Sample | undefined,
    now: Sample,
    elapsedSec: number,
    { isSinceBoot = false, base = now }: { readonly isSinceBoot?: boolean; readonly base?: Sample } = {},
  ) {
    this.#base = base
    this.before = before
    this.now = now
    this.elapsedSec = elapsedSec > 0 ? elapsedSec : 1
    this.isSinceBoot = isSinceBoot
  }

  /** Time of the values, in seconds since the epoch. */
  get time(): number {
    return toSeconds(this.now.time)
  }

  has(name: string): boolean {
    return this.now.has(name)
  }

  /** Returns a value; 0 if it is missing. */
  value(name: string, inst?: number): number {
    return this.now.number(name, inst) ?? 0
  }

  /** Returns a constant value, from the first sample. */
  constant(name: string, inst?: number): number {
    return this.#base.number(name, inst) ?? 0
  }

  /** Returns the growth of a counter, or its value if it restarted. */
  delta(name: string, inst?: number): number {
    const end = this.now.number(name, inst)
    if (end === undefined) return 0
    return counterDelta(this.before?.number(name, inst) ?? 0, end) ?? end
  }

  /** Returns the growth of several counters together. */
  sum(...names: readonly string[]): number {
    return names.reduce((total, name) => total + this.delta(name), 0)
  }

  /** Returns the growth of a counter, summed over all instances. */
  deltaOfAll(name: string): number {
    let total = 0
    for (const inst of this.now.numbers(name).keys()) total += this.delta(name, inst)
    return total
  }

  /** Returns the names of the instances of any of these metrics. */
  instances(...names: readonly string[]): ReadonlyMap<number, string> {
    for (const name of names) {
      const instances = this.now.instances(name)
      if (instances.size > 0) return instances
    }
    return new Map()
  }
}
