/** A source shared by contexts. pmDupContext(3) */
import type { MetricSource } from '../model/source.ts'

/** Counts the contexts on an open source; the last one closes it. */
export class SharedSource {
  readonly source: MetricSource
  #contexts = 0
  /**
   * Next context number. Numbers are per source because collectors limit them per connection (pmcd -C), while a process may
   * have any number of contexts.
   */
  #next: number

  /** `next` is the number of the first context. */
  constructor(source: MetricSource, next = 0) {
    this.source = source
    this.#next = next
  }

  /** Adds a context. */
  share(): this {
    this.#contexts++
    return this
  }

  /** Returns the number of a new context. */
  nextContext(): number {
    return this.#next++
  }

  /** Removes a context; returns true for the last one. */
  release(): boolean {
    return --this.#contexts === 0
  }
}
