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

/** Returns the distances at which a window of this width does not overlap. */
export function distancesFor({ from, to }: Frame): typeof DISTANCES {
  return DISTANCES.filter(([seconds]) => seconds === 0 || seconds >= to - from)
}

/** Returns the query for a window and the distance to the one to compare with. */
export function queryFor({ from, to }: Frame, distance: number): ChangeQuery {
  const span = { start: from, finish: to }
  if (distance === 0) return { span, limit: LIMIT }
  return { span, before: { start: from - distance, finish: to - distance }, limit: LIMIT }
}
