/** Averages of the values since the last full sample, for dstat's intermediate lines. */
import type { StyledCell } from './blocks.ts'
import type { SampleRow } from './lines.ts'

interface Sum {
  sum: number
  count: number
}

/** Averages rows, cell by cell. */
export class Smoother {
  #sums = new Map<string, Sum>()
  #isSpent = false

  /** Adds a row; returns it with averages for its numbers. Other values are unchanged. */
  add(row: SampleRow): SampleRow {
    if (this.#isSpent) this.#sums = new Map()
    this.#isSpent = false
    return row.map((each, p) => {
      if ('stamp' in each) return each
      const groups = each.groups.map((cells, g) => cells.map((cell, c) => this.#mean(`${p} ${g} ${c}`, cell)))
      return { part: each.part, groups }
    })
  }

  /** Restarts with the next row. */
  restart(): void {
    this.#isSpent = true
  }

  #mean(place: string, styled: StyledCell): StyledCell {
    const { cell, exact, style } = styled
    if (cell === undefined || typeof cell === 'string') return styled
    const known = this.#sums.get(place) ?? { sum: 0, count: 0 }
    known.sum += Number(cell)
    known.count++
    this.#sums.set(place, known)
    return { cell: known.sum / known.count, exact, style }
  }
}
