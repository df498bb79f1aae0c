/** Decides from previous fetches which ones are samples of pmval, and what their rows show. */

/** Content of a row: values, rates, no values, a mark; `none` for no row. */
export type RowContent = 'values' | 'rates' | 'nothing' | 'suspended' | 'none'

/** Counts samples and decides on rows. After a fetch without values a rate needs two fetches. */
export class SampleLoop {
  readonly #isRate: boolean
  #left: number
  /** Does the current sample need a second fetch? */
  #isHalf = false
  /** Were there fetches without values since the last row, and rows since the last mark? */
  #missed = false
  #hasReported = false
  /** Did the previous fetch have values? Otherwise headings are repeated. */
  hadValues = false

  /** `isRate`: rows show the change since the previous fetch. `samples`: unlimited by default. */
  constructor(isRate: boolean, samples: number = Number.POSITIVE_INFINITY) {
    this.#isRate = isRate
    this.#left = samples
  }

  /** Begins the next fetch; returns false after the last sample. */
  begin(): boolean {
    if (this.#isHalf) return true
    if (this.#left <= 0) return false
    this.#left--
    return true
  }

  /** Restarts rates after a jump in time. */
  restart(): void {
    this.hadValues = false
    this.#isHalf = false
  }

  /** Returns the row's content for the status of a fetch: a number of values, undefined for a mark, negative for an error. */
  next(status: number | undefined): RowContent {
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
