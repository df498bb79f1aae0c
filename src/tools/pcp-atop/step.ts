/** What an interval brought: values at its end, and how much counters grew in it. */
import { toSeconds } from '../../base/timestamp.ts'
import { counterGrowth } from '../../model/rate.ts'
import type { Sample } from '../lib/sampled/metrics.ts'

/** Two samples and the time between them. Without a first one counters count from the start of the host. */
export class Step {
  readonly before: Sample | undefined
  readonly now: Sample
  /** Seconds; since the start of the host for the first sample of a live host. */
  readonly elapsedSec: number
  readonly isSinceBoot: boolean
  readonly #base: Sample

  /** `base` is what the report began with: what never changes is taken from there. */
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

  /** When the values are of, in seconds since the epoch. */
  get time(): number {
    return toSeconds(this.now.time)
  }

  has(name: string): boolean {
    return this.now.has(name)
  }

  /** The value of a metric, 0 where there is none: what such a line shows then. */
  value(name: string, inst?: number): number {
    return this.now.number(name, inst) ?? 0
  }

  /** The value of what does not change, as it was when the report began. */
  constant(name: string, inst?: number): number {
    return this.#base.number(name, inst) ?? 0
  }

  /** The growth of a counter; what began anew counts from nothing. */
  delta(name: string, inst?: number): number {
    const end = this.now.number(name, inst)
    if (end === undefined) return 0
    return counterGrowth(this.before?.number(name, inst) ?? 0, end) ?? end
  }

  /** The growth of several counters together. */
  sum(...names: readonly string[]): number {
    return names.reduce((total, name) => total + this.delta(name), 0)
  }

  /** The growth of a counter, all instances together. */
  deltaOfAll(name: string): number {
    let total = 0
    for (const inst of this.now.numbers(name).keys()) total += this.delta(name, inst)
    return total
  }

  /** Names of the instances of any of these metrics. */
  instances(...names: readonly string[]): ReadonlyMap<number, string> {
    for (const name of names) {
      const instances = this.now.instances(name)
      if (instances.size > 0) return instances
    }
    return new Map()
  }
}
