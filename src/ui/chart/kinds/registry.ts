/** All chart kinds, in the order of the style list. */
import type { ChartKind } from '../kind.ts'
import { area } from './area.tsx'
import { bar } from './bar.tsx'
import { grid } from './grid.tsx'
import { heat } from './heat.tsx'
import { lines } from './lines.tsx'
import { processes } from './processes.tsx'
import { stacking } from './stacking.tsx'
import { table } from './table.tsx'
import { utilization } from './utilization.tsx'

export const CHART_KINDS: readonly ChartKind[] = [
  lines,
  area,
  stacking,
  utilization,
  bar,
  heat,
  grid,
  table,
  processes,
]

const byId = new Map(CHART_KINDS.map((kind) => [kind.id, kind]))

/** Checks whether there is a kind with this id. */
export function isChartKind(id: string): boolean {
  return byId.has(id)
}

/** Returns the kind with an id. Throws for unknown ids, which readers of views must filter with `isChartKind`. */
export function kindOf(id: string): ChartKind {
  const kind = byId.get(id)
  if (kind === undefined) throw new Error(`Unknown kind of chart: ${id}`)
  return kind
}
