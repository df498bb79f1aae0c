/** What rows of recorded samples show, which depends on those before them. As measured. */

/** Values, rates since the sample before, no values, that recording was interrupted; `none`: there is no row. */
export type Shown = 'values' | 'rates' | 'nothing' | 'suspended' | 'none'

/** Goes from sample to sample. */
export class RecordedRows {
  readonly #isRate: boolean
  /** Had the sample before values? Behind one without, the columns are named again. */
  hadValues = false
  /** Does the first value of a rate get a row, which says that there is none yet? */
  #missesRate = false

  /** `isRate`: rows show the change since the sample before. */
  constructor(isRate: boolean) {
    this.#isRate = isRate
  }

  /** Time does not go on from the sample before: rates begin anew, and say so. */
  restart(): void {
    this.hadValues = false
    this.#missesRate = true
  }

  /** What there is to show for a sample with so many values; undefined for a mark, negative for an error. */
  next(status: number | undefined): Shown {
    const had = this.hadValues
    this.hadValues = status !== undefined && status > 0
    if (status === undefined) {
      this.#missesRate = !had
      return 'suspended'
    }
    if (status < 0) return 'none'
    if (status === 0) {
      if (!had) this.#missesRate = true
      return 'nothing'
    }
    const misses = this.#missesRate
    this.#missesRate = had
    if (!this.#isRate) return 'values'
    return had ? 'rates' : misses ? 'nothing' : 'none'
  }
}
