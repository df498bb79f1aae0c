/**
 * Lines on top of each other. They have no bands from least to most: those of the parts of a stack need not have come at one moment, so
 * they do not add up, and each would lie over the part above it.
 */
import { held } from '../data/line.ts'
import type { ChartStyle } from '../view/view.ts'

type Column = readonly (number | null | undefined)[]

/** Do the lines of this style stand on each other? */
export function isStacked(style: ChartStyle): boolean {
  return style === 'stacking' || style === 'utilization' || style === 'bar'
}

/**
 * Each column on top of those before it, in a chart of shares as a share of all of them; one that is not known adds nothing, and where none is
 * known there is a gap. Other styles: the columns as they are.
 */
export function drawnColumns(columns: readonly Column[], style: ChartStyle): Column[] {
  if (!isStacked(style)) return [...columns]
  const isShare = style === 'utilization'
  const full = columns.map(held)
  const length = full[0]?.length ?? 0
  const totals = new Float64Array(length)
  const isKnown = new Uint8Array(length)
  for (const column of full)
    for (let i = 0; i < length; i++) {
      const value = column[i]!
      if (value === null) continue
      totals[i]! += value
      isKnown[i] = 1
    }
  const sums = new Float64Array(length)
  return full.map((column) =>
    column.map((value, i) => {
      if (isKnown[i] === 0) return null
      sums[i]! += value ?? 0
      if (!isShare) return sums[i]!
      return totals[i]! > 0 ? sums[i]! / totals[i]! : null
    }),
  )
}
