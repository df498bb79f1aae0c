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

/** Modes of CPU time of Linux, which together are all of it. */
const CPU_MODES = ['user', 'nice', 'sys', 'intr', 'wait.total', 'steal', 'idle']

/**
 * Returns the expression for the share of all CPU time in a mode. It is divided by the sum of all modes, since hinv.ncpu is recorded only once:
 * its interpolated value needs all records since, and archives on web servers would be read whole.
 */
export function cpuShare(mode: string): string {
  const rates = CPU_MODES.map((each) => `rate(kernel.all.cpu.${each})`)
  return `rate(kernel.all.cpu.${mode}) / (${rates.join(' + ')})`
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
