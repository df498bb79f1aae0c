/** The question of the Changes panel: which window, against which. */
import type { ChangeQuery } from '../../analysis/what-changed.ts'
import type { Frame } from '../time/control.ts'

/** Offered distances to an earlier window, in seconds; 0 is the one directly before. */
const DISTANCES: readonly (readonly [seconds: number, text: string])[] = [
  [0, 'the time before'],
  [3600, 'an hour earlier'],
  [86_400, 'a day earlier'],
  [7 * 86_400, 'a week earlier'],
]

/** Changes that the panel lists. */
const LIMIT = 30

/** The window to compare with: its distance in seconds, or a chosen one. */
export type Comparison = number | Frame

/** Returns the distances at which a window of this width does not overlap, and of which something is recorded. */
export function distancesFor({ from, to }: Frame, recordedFrom = Number.NEGATIVE_INFINITY): typeof DISTANCES {
  return DISTANCES.filter(
    ([seconds]) => seconds === 0 || (seconds >= to - from && to - seconds > recordedFrom),
  )
}

/** Returns the query for a window and the one to compare with; undefined if they overlap. */
export function queryFor({ from, to }: Frame, comparison: Comparison): ChangeQuery | undefined {
  const span = { start: from, finish: to }
  if (comparison === 0) return { span, limit: LIMIT }
  const before =
    typeof comparison === 'number' ? { from: from - comparison, to: to - comparison } : comparison
  if (before.from < to && before.to > from) return undefined
  return { span, before: { start: before.from, finish: before.to }, limit: LIMIT }
}
