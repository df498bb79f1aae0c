/** Applies one view to several sources: charts side by side, or all lines in one chart. */
import { kindOf } from '../chart/kinds/registry.ts'
import type { Chart, Layout } from './view.ts'

/** A chart as shown on the page. */
export interface ShownChart {
  readonly chart: Chart
  /** The chart of the view from which it is made. */
  readonly origin: Chart
  /** Key of its source, if it shows a single one. */
  readonly source: string | undefined
}

/** Returns the charts for one chart of the view. Plots that name their source are unchanged; with a single source, ids are too. */
export function chartsFor(origin: Chart, sources: readonly string[], layout: Layout): readonly ShownChart[] {
  const [first] = sources
  const isFree =
    kindOf(origin.style).own !== undefined || origin.plots.some(({ source }) => source === undefined)
  if (sources.length < 2 || !isFree) return [{ chart: origin, origin, source: first }]
  if (layout === 'over' && kindOf(origin.style).isOverlaid === true) {
    const plots = sources.flatMap((source) =>
      origin.plots
        .filter((plot) => source === first || plot.source === undefined)
        .map((plot) => ({ source, ...plot })),
    )
    return [{ chart: { ...origin, plots }, origin, source: undefined }]
  }
  const { wide, ...narrow } = origin
  return sources.map((source) => ({
    chart: {
      ...narrow,
      ...(wide === true && layout === 'over' ? { wide } : {}),
      id: `${origin.id} ${source}`,
      plots: origin.plots.map((plot) => ({ source, ...plot })),
    },
    origin,
    source,
  }))
}
