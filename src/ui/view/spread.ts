/** One view over several sources: each chart beside itself, or the lines of all of them in one. */
import type { Chart, ChartStyle } from './view.ts'

/** How a page shows several sources. */
export type Layout = 'beside' | 'over'

/** Styles in which lines of several sources can be read: what is stacked, or one row an instance, would run together. */
const READABLE: ReadonlySet<ChartStyle> = new Set(['plot', 'area', 'heat'])

/** A chart as it is put on the page. */
export interface Spread {
  readonly chart: Chart
  /** The chart of the view that it is made from. */
  readonly origin: Chart
  /** The source that it is about, when it is about one. */
  readonly source: string | undefined
}

/** The charts for one of the view. Plots that name their source stay as they are; where there is one source so do ids. */
export function spread(origin: Chart, sources: readonly string[], layout: Layout): readonly Spread[] {
  const [first] = sources
  const isFree = origin.plots.some(({ source }) => source === undefined)
  if (sources.length < 2 || !isFree) return [{ chart: origin, origin, source: first }]
  if (layout === 'over' && READABLE.has(origin.style)) {
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
