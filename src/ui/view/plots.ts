/** Building blocks of the built-in views. */
import { type Chart, derivedName, type Plot } from './view.ts'

type Rest = Omit<Plot, 'metric' | 'expr'>

/** Returns a plot of a metric. */
export const plot = (metric: string, rest: Rest = {}): Plot => ({ metric, ...rest })

/** Returns a plot of an expression. */
export const derived = (expr: string, rest: Rest = {}): Plot => ({ metric: derivedName(expr), expr, ...rest })

/** Returns a chart with a legend; lines unless `rest` has another style. */
export const chart = (
  id: string,
  title: string,
  plots: readonly Plot[],
  rest: Partial<Chart> = {},
): Chart => ({
  ...{ id, title, style: 'plot', legend: true, plots },
  ...rest,
})

/** Returns the plot for hosts that may lack the metric, e.g. those with an older kernel. */
export const optional = (one: Plot): Plot => ({ ...one, optional: true })

/** A percentage of time within the last ten seconds, from /proc/pressure; optional because kernels may lack it. */
export function pressurePlots(parts: readonly (readonly [part: string, legend: string])[]): Plot[] {
  return parts.map(([part, legend]) =>
    plot(`kernel.all.pressure.${part}.avg`, {
      instances: { mode: 'instance', text: '10 second' },
      legend,
      optional: true,
    }),
  )
}

/** Interfaces whose traffic appears a second time as that of another one. */
export const COUNTED_TWICE = '^(lo|bond\\d+|face)$'

/** Returns the plots of both directions of a counter of network interfaces. */
export function bothWays(item: string): Plot[] {
  return (['in', 'out'] as const).map((way) =>
    plot(`network.interface.${way}.${item}`, {
      instances: { mode: 'not-matching', text: COUNTED_TWICE },
      legend: `%i ${way}`,
    }),
  )
}
