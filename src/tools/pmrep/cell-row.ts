/** The cells of one line of pmrep, in step with its columns: numbers in a typed array, whatever else there is beside it. */
import { type Cell, indexOf, NO_READINGS, type Readings } from '../lib/report/values.ts'
import type { Column } from './columns.ts'

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

/** Lines of samples. Where a column's cell was the last time is tried first. */
export class SampleCells {
  readonly #row = new CellRow(0)
  readonly #places: number[] = []

  /** The cells of columns, good until the next ones are asked for. */
  read(columns: readonly Column[], readings: readonly Readings[]): CellRow {
    this.#row.resize(columns.length)
    for (let i = 0; i < columns.length; i++) this.#row.set(i, this.#find(i, columns[i]!, readings))
    return this.#row
  }

  #find(i: number, { at, inst, metric }: Column, readings: readonly Readings[]): Cell {
    const { insts, cells } = readings[at] ?? NO_READINGS
    if (!metric.hasInstances) return cells[0]
    const guess = this.#places[i] ?? -1
    if (insts[guess] === inst) return cells[guess]
    const found = indexOf(insts, inst)
    this.#places[i] = found
    return cells[found]
  }
}
