/** Lines of samples: which cell of which metric stands in which column. */
import { CellRow } from '../lib/report/cell-row.ts'
import { type Cell, indexOf, NO_READINGS, type Readings } from '../lib/report/values.ts'
import type { Column } from './columns.ts'

/** Where a column's cell was the last time is tried first. */
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
