/** One view over several sources: each chart beside itself, or the lines of all of them in one. */
import { kindOf } from '../chart/kinds/registry.ts'
import type { Chart, Layout } from './view.ts'

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
