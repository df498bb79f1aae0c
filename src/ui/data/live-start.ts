/** Where recorded values end and live values begin, as metrics may be added to an open page. */
import type { Frame } from '../time/control.ts'
import type { Plot } from '../view/view.ts'
import type { RequestedRange } from './history.ts'
import type { Line } from './line.ts'
import type { LiveStore } from './live-store.ts'
import { isFailure } from './responses.ts'

/** Recorded values are requested when live ones have returned, and again after these many seconds, because recorders lag. */
export const RECORDED_SEC: readonly number[] = [120, 30, 0]

/**
 * Returns the time up to which recorded values are needed: until all metrics have live values, which added metrics get later. They are
 * requested again after a while, because recorders lag.
 */
export function recordedEnd(
  live: LiveStore | undefined,
  plots: readonly Plot[],
  { to }: Frame,
): Pick<RequestedRange, 'to' | 'isFixed' | 'liveEvery'> {
  if (live === undefined) return { to, isFixed: false }
  let start = Number.NEGATIVE_INFINITY
  for (const { metric } of plots) {
    const outcome = live.outcome(metric)
    if (outcome === undefined || !isFailure(outcome))
      start = Math.max(start, live.startOf(metric) ?? Infinity)
  }
  const wait = RECORDED_SEC.find((seconds) => start + seconds <= to)
  if (wait === undefined) return { to, isFixed: false }
  return { to: start + wait, isFixed: true, liveEvery: wait === 0 ? live.every : undefined }
}

/**
 * Returns the time from which live values of a stack are drawn. Before all its metrics have live values, it would mix recorded and live
 * values of different times, which do not add up.
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
