/** The cells of one line of a report, in step with its columns: numbers in a typed array, whatever else there is beside it. */
import type { Cell } from './values.ts'

/** No value. */
export const NOTHING = 0
/** A number. */
export const NUMBER = 1
/** Text, or an integer that is no double. */
export const OTHER = 2

/** A line's cells. */
export class CellRow {
  /** NOTHING, NUMBER or OTHER. */
  kinds: Uint8Array = new Uint8Array(0)
  /** Of the cells that are NUMBER. */
  numbers: Float64Array = new Float64Array(0)
  /** Of the cells that are OTHER. */
  readonly others: Cell[] = []

  constructor(size: number) {
    this.resize(size)
  }

  /** Makes room for so many cells; what was in them is lost unless there are as many. */
  resize(size: number): void {
    if (this.kinds.length === size) return
    this.kinds = new Uint8Array(size)
    this.numbers = new Float64Array(size)
  }

  /** Fills in a cell. */
  set(i: number, cell: Cell): void {
    if (typeof cell === 'number') {
      this.numbers[i] = cell
      this.kinds[i] = NUMBER
    } else {
      this.kinds[i] = cell === undefined ? NOTHING : OTHER
      this.others[i] = cell
    }
  }

  /** A cell. */
  at(i: number): Cell {
    if (this.kinds[i] === NUMBER) return this.numbers[i]
    return this.kinds[i] === OTHER ? this.others[i] : undefined
  }
}
