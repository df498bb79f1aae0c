/** A source and the contexts on it. pmDupContext(3) */
import type { MetricSource } from '../model/source.ts'

/** Counts the contexts that have a source open: the last one closes it. */
export class SharedSource {
  readonly source: MetricSource
  #contexts = 0
  /**
   * Collectors limit the numbers of a connection (-C of pmcd), so each source has its own: a process may have any number of
   * contexts.
   */
  #next: number

  /** `next` is the number of the first context. */
  constructor(source: MetricSource, next = 0) {
    this.source = source
    this.#next = next
  }

  /** Another context has it open. */
  share(): this {
    this.#contexts++
    return this
  }

  /** A number for another context. */
  nextContext(): number {
    return this.#next++
  }

  /** A context lets go of it. True for the last one. */
  release(): boolean {
    return --this.#contexts === 0
  }
}
