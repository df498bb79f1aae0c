/** Which fetches make up the samples of pmval, and what the row of each shows. Both depend on the fetches before. */

/** Values, rates since the fetch before, no values, a mark; `none`: there is no row. */
export type Shown = 'values' | 'rates' | 'nothing' | 'suspended' | 'none'

/** Counts samples and decides about rows. A rate takes two fetches where the fetch before had no values. */
export class SampleLoop {
  readonly #isRate: boolean
  #left: number
  /** Has the sample that began its second fetch to come? */
  #isHalf = false
  /** Have there been fetches without values since the last row, and any rows since the last mark? */
  #missed = false
  #hasReported = false
  /** Did the fetch before have values? Behind one without, the columns are named again. */
  hadValues = false

  /** `isRate`: rows show the change since the fetch before. `samples`: all there are unless given. */
  constructor(isRate: boolean, samples: number = Number.POSITIVE_INFINITY) {
    this.#isRate = isRate
    this.#left = samples
  }

  /** Begins the next fetch; returns false behind the last sample. */
  begin(): boolean {
    if (this.#isHalf) return true
    if (this.#left <= 0) return false
    this.#left--
    return true
  }

  /** Forgets the fetch before, because time jumped: rates start anew. */
  restart(): void {
    this.hadValues = false
    this.#isHalf = false
  }

  /** Returns what to show for a fetch with so many values; undefined for a mark, negative for an error. */
  next(status: number | undefined): Shown {
    const had = this.hadValues
    this.hadValues = status !== undefined && status > 0
    this.#isHalf = this.#isRate && this.hadValues && !had
    if (!this.hadValues) {
      if (!had) this.#missed = true
      if (status !== undefined) return status === 0 ? 'nothing' : 'none'
      this.#hasReported = false
      return 'suspended'
    }
    if (this.#isHalf) {
      const isNoted = this.#missed || this.#hasReported
      this.#missed = false
      return isNoted ? 'nothing' : 'none'
    }
    this.#hasReported = true
    return this.#isRate ? 'rates' : 'values'
  }
}
