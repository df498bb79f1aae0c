/** The metrics that one call of the interpolator returns, their order, and the requests that recur. */
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
function hasSameMetrics(ids: readonly Pmid[], others: readonly Pmid[]): boolean {
  if (ids.length !== others.length) return false
  for (let i = 0; i < ids.length; i++) if (ids[i] !== others[i]) return false
  return true
}

/** Returns sets of the subjects in the order of the request. */
export function inPlaces({ places }: InterpolationRequest, sets: ValueSet[]): ValueSet[] {
  return places?.map((place) => (typeof place === 'number' ? sets[place]! : place)) ?? sets
}

/** Most requests that are remembered, and most calls after which one still counts as recurring. */
const MOST_REQUESTS = 8
const MOST_CALLS = 64

interface RecentRequest {
  readonly ids: readonly Pmid[]
  /** Missing while its metrics are not followed. */
  request: InterpolationRequest | undefined
  /** Whether it was requested again after another one. */
  recurs: boolean
  /** Number of the last call with it. */
  call: number
}

/**
 * The requests whose metrics an interpolator follows: the latest one and the recurring ones. Charts request metrics of two log groups in
 * turn. A request without repetition costs nothing after the next one.
 */
export class RecentRequests {
  /** Latest first. */
  #recent: RecentRequest[] = []
  #call = 0
  #tracks: readonly Track[] = []

  get latest(): InterpolationRequest | undefined {
    return this.#recent[0]?.request
  }

  /** Tracks of all followed requests. */
  get tracks(): readonly Track[] {
    return this.#tracks
  }

  /** Returns the metrics of all followed requests. */
  subjects(): ReadonlyMap<Pmid, InterpolatedMetric> {
    return new Map(
      this.#recent.flatMap(({ request }) =>
        (request?.subjects ?? []).map((subject) => [subject.track.desc.pmid, subject] as const),
      ),
    )
  }

  /** Returns the request for these metrics, now the latest; undefined if it is not followed. */
  find(ids: readonly Pmid[]): InterpolationRequest | undefined {
    const call = ++this.#call
    const latest = this.#recent[0]
    const isLatest = latest !== undefined && hasSameMetrics(ids, latest.ids)
    if (isLatest) latest.call = call
    if (this.#recent.length > 1 && this.#recent.at(-1)!.call < call - MOST_CALLS) {
      this.#recent = this.#recent.filter((one) => one.call >= call - MOST_CALLS)
      this.#follow()
    }
    if (isLatest) return latest.request
    const found = this.#recent.find((one) => hasSameMetrics(ids, one.ids))
    if (found?.request === undefined) return undefined
    this.#begin(found)
    return found.request
  }

  /** Adds the request that `find` did not return. */
  add(request: InterpolationRequest): void {
    const { ids } = request
    const recurs = this.#recent.some((one) => hasSameMetrics(ids, one.ids))
    this.#begin({ ids, request, recurs, call: this.#call })
  }

  clear(): void {
    this.#recent = []
    this.#tracks = []
  }

  #begin(next: RecentRequest): void {
    next.call = this.#call
    const [before] = this.#recent
    if (before?.recurs === false) before.request = undefined
    const others = this.#recent.filter(({ ids }) => !hasSameMetrics(ids, next.ids))
    this.#recent = [next, ...others.slice(0, MOST_REQUESTS - 1)]
    this.#follow()
  }

  #follow(): void {
    this.#tracks = [...new Set(this.#recent.flatMap(({ request }) => request?.tracks ?? []))]
  }
}
