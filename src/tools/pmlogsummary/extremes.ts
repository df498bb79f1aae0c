/** Stochastic averages, extremes and counts by slot, if requested. */

/** Columns per instance. */
const COLUMNS = 8
const SUM = 0
const COUNT = 1
const MIN = 2
const MIN_TIME = 3
const MAX = 4
const MAX_TIME = 5
/** Sum and number of values used only for the average. */
const REPEATED_SUM = 6
const REPEATED = 7

/** Statistics of one instance. */
export interface Extreme {
  readonly average: number
  readonly sum: number
  readonly count: number
  readonly minimum: number
  readonly minimumTime: number
  readonly maximum: number
  readonly maximumTime: number
}

/** Sums and extremes of values, or of counters' rates. */
export class Extremes {
  #cells = new Float64Array(8 * COLUMNS)

  /** Adds a value. */
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

  /** Notes the time of a counter's first value as that of the extremes, until a rate exceeds them. */
  begin(slot: number, time: number): void {
    const c = slot * COLUMNS
    if (c >= this.#cells.length) this.#grow(c)
    this.#cells[c + MIN_TIME] = time
    this.#cells[c + MAX_TIME] = time
  }

  /** Adds the rate of a counter over the interval that ends at `time`. */
  addRate(slot: number, rate: number, time: number): void {
    const c = slot * COLUMNS
    const isFirst = this.#cells[c + COUNT] === 0
    const begun = this.#cells[c + MIN_TIME]!
    this.add(slot, rate, isFirst ? begun : time)
  }

  /** Counts a value that lasts on once more for the average. */
  repeat(slot: number, value: number): void {
    const c = slot * COLUMNS
    if (c >= this.#cells.length) this.#grow(c)
    this.#cells[c + REPEATED_SUM] = this.#cells[c + REPEATED_SUM]! + value
    this.#cells[c + REPEATED] = this.#cells[c + REPEATED]! + 1
  }

  /** Returns the statistics of a slot. */
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
