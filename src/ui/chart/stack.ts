/** Lines on top of each other. */
import { held } from '../data/line.ts'
import type { ChartStyle } from '../view/view.ts'

type Column = readonly (number | null | undefined)[]

/** Do the lines of this style stand on each other? */
export function isStacked(style: ChartStyle): boolean {
  return style === 'stacking' || style === 'utilization' || style === 'bar'
}

/** Each column on top of those before it; with `isShare` as a share of all of them. Other styles: the columns as they are. */
export function drawnColumns(columns: readonly Column[], style: ChartStyle): Column[] {
  if (!isStacked(style)) return [...columns]
  const isShare = style === 'utilization'
  const full = columns.map(held)
  const length = full[0]?.length ?? 0
  const totals = new Float64Array(length)
  if (isShare) for (const column of full) for (let i = 0; i < length; i++) totals[i]! += column[i] ?? 0
  const sums = new Float64Array(length)
  return full.map((column) =>
    column.map((value, i) => {
      if (value === null) return null
      sums[i]! += value
      if (!isShare) return sums[i]!
      return totals[i]! > 0 ? sums[i]! / totals[i]! : null
    }),
  )
}
