/** Stochastic averages, extremes and counts by slot: what is only kept when it is asked for. */

/** Columns: eight to an instance. */
const COLUMNS = 8
const SUM = 0
const COUNT = 1
const MIN = 2
const MIN_TIME = 3
const MAX = 4
const MAX_TIME = 5
/** Sum and number of values that count for the average only. */
const REPEATED_SUM = 6
const REPEATED = 7

/** What is known of one instance. */
export interface Extreme {
  readonly average: number
  readonly sum: number
  readonly count: number
  readonly minimum: number
  readonly minimumTime: number
  readonly maximum: number
  readonly maximumTime: number
}

/** Sums and extremes of values, or of the rates of counters. */
export class Extremes {
  #cells = new Float64Array(8 * COLUMNS)

  /** One value. */
  add(slot: number, value: number, time: number): void {
    const c = slot * COLUMNS
    if (c >= this.#cells.length) this.#grow(c)
    const cells = this.#cells
    const isFirst = cells[c + COUNT] === 0
    cells[c + SUM] = cells[c + SUM]! + value
    cells[c + COUNT] = cells[c + COUNT]! + 1
    if (isFirst || value < cells[c + MIN]!) {
      cells[c + MIN] = value
      cells[c + MIN_TIME] = time
    }
    if (isFirst || value > cells[c + MAX]!) {
      cells[c + MAX] = value
      cells[c + MAX_TIME] = time
    }
  }

  /** The first value of a counter: until a later rate is less or more, the extremes are noted for this time. */
  begin(slot: number, time: number): void {
    const c = slot * COLUMNS
    if (c >= this.#cells.length) this.#grow(c)
    this.#cells[c + MIN_TIME] = time
    this.#cells[c + MAX_TIME] = time
  }

  /** The rate of a counter in the interval that ends now. */
  addRate(slot: number, rate: number, time: number): void {
    const c = slot * COLUMNS
    const isFirst = this.#cells[c + COUNT] === 0
    const begun = this.#cells[c + MIN_TIME]!
    this.add(slot, rate, isFirst ? begun : time)
  }

  /** A value that lasts on: for the average it is one more. */
  repeat(slot: number, value: number): void {
    const c = slot * COLUMNS
    if (c >= this.#cells.length) this.#grow(c)
    this.#cells[c + REPEATED_SUM] = this.#cells[c + REPEATED_SUM]! + value
    this.#cells[c + REPEATED] = this.#cells[c + REPEATED]! + 1
  }

  /** What is known of the instance with this number. */
  of(slot: number): Extreme {
    const at = (column: number): number => this.#cells[slot * COLUMNS + column] ?? 0
    return {
      average: (at(SUM) + at(REPEATED_SUM)) / (at(COUNT) + at(REPEATED)),
      sum: at(SUM),
      count: at(COUNT),
      minimum: at(MIN),
      minimumTime: at(MIN_TIME),
      maximum: at(MAX),
      maximumTime: at(MAX_TIME),
    }
  }

  #grow(needed: number): void {
    const cells = new Float64Array(Math.max(2 * this.#cells.length, needed + COLUMNS))
    cells.set(this.#cells)
    this.#cells = cells
  }
}
