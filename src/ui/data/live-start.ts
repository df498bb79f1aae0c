/** Where the live values of a chart begin, and recorded ones end: metrics are added to a page while it is open. */
import type { Frame } from '../time/control.ts'
import type { Plot } from '../view/view.ts'
import { isFailure } from './answers.ts'
import type { Line } from './line.ts'
import type { LiveStore } from './live-store.ts'

/** Recorded values are requested immediately when live ones are back, and again so many seconds later: recorders are behind. */
export const RECORDED_SEC: readonly number[] = [120, 30, 0]

/**
 * Returns until when recorded values are wanted: until all metrics have live ones, which metrics that are added to a page have later. They
 * are requested again some time after that, as recorders are behind.
 */
export function recordedEnd(
  live: LiveStore | undefined,
  plots: readonly Plot[],
  { to }: Frame,
): { readonly to: number; readonly isFixed: boolean } {
  if (live === undefined) return { to, isFixed: false }
  let start = Number.NEGATIVE_INFINITY
  for (const { metric } of plots) {
    const outcome = live.outcome(metric)
    if (outcome === undefined || !isFailure(outcome))
      start = Math.max(start, live.startOf(metric) ?? Infinity)
  }
  const wait = RECORDED_SEC.find((seconds) => start + seconds <= to)
  return wait === undefined ? { to, isFixed: false } : { to: start + wait, isFixed: true }
}

/**
 * Returns from when on live values of a stack are drawn. Before all of its metrics have some, recorded values of other moments would be
 * stacked on live ones, and not add up.
 */
export function togetherFrom(
  live: LiveStore,
  plots: readonly Plot[],
  recorded: (metric: string) => readonly Line[],
): number {
  const starts = plots.flatMap(({ metric }) => live.startOf(metric) ?? [])
  const [first, last] = [Math.min(...starts), Math.max(...starts)]
  const isMixed = plots.some(({ metric }) => {
    const start = live.startOf(metric) ?? Infinity
    const has = ({ times, values }: Line): boolean =>
      times.some((time, i) => time < start && values[i] !== null)
    return start > first && recorded(metric).some(has)
  })
  return isMixed ? last : Number.NEGATIVE_INFINITY
}
