/** The metrics that one call of the interpolator returns, and their order. */
import type { Pmid } from '../model/ids.ts'
import type { ValueSet } from '../model/values.ts'
import type { InterpolatedMetric } from './interp-metric.ts'
import type { Track } from './interp-track.ts'

/** A request, mostly the same as the previous one. */
export interface InterpolationRequest {
  readonly ids: readonly Pmid[]
  /** Distinct metrics with values. */
  readonly subjects: readonly InterpolatedMetric[]
  readonly tracks: readonly Track[]
  /** For each requested metric its index in `subjects`, or its answer; undefined if the order is the same. */
  readonly places: readonly (number | ValueSet)[] | undefined
}

/** Compares the metrics of two requests. */
export function hasSameMetrics(ids: readonly Pmid[], others: readonly Pmid[]): boolean {
  if (ids.length !== others.length) return false
  for (let i = 0; i < ids.length; i++) if (ids[i] !== others[i]) return false
  return true
}

/** Returns sets of the subjects in the order of the request. */
export function inPlaces({ places }: InterpolationRequest, sets: ValueSet[]): ValueSet[] {
  return places?.map((place) => (typeof place === 'number' ? sets[place]! : place)) ?? sets
}
