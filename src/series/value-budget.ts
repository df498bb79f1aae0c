/** Limits the values that one query reads. */
import { PcpError } from '../model/errors.ts'

/** The most values of a query, unless it is given another limit. */
const MOST_VALUES = 5_000_000

/** A number of values that may still be read. */
export class ValueBudget {
  readonly #most: number
  #left: number

  constructor(most: number = MOST_VALUES) {
    this.#most = most
    this.#left = most
  }

  /** Calls `read`; if it fails, the values that it counted are given back, so that it may be repeated in another way. */
  attempt<T>(read: () => T): T {
    const left = this.#left
    try {
      return read()
    } catch (error) {
      this.#left = left
      throw error
    }
  }

  /** Counts values. E2BIG if there are too many. */
  take(count: number): void {
    this.#left -= count
    if (this.#left < 0)
      throw new PcpError(
        'E2BIG',
        `A query reads at most ${this.#most} values: select fewer series, a shorter time, or an interval`,
      )
  }
}
