/** One series: its last values, and sums of deltas. docs/reference/agents/otel.md */
import { PcpError } from '../../model/errors.ts'
import { addBucketCounts, type BucketCounts, bucketCountsOf, cumulated } from './exponential.ts'
import type { SeriesName } from './labels.ts'
import type { OtlpKind, OtlpPoint, Temporality } from './otlp.ts'

/** One of several values of a series: `le:0.5` of a histogram, `quantile:0.9` of a summary. */
export interface SeriesPart {
  readonly label: 'le' | 'quantile'
  readonly at: string
  readonly value: number
}

/** The values of a series. */
export class Series {
  readonly name: SeriesName
  /** Time of the last point, in milliseconds since the epoch. */
  seenMs = 0
  value: number | undefined
  count: number | undefined
  sum: number | undefined
  min: number | undefined
  max: number | undefined
  parts: readonly SeriesPart[] = []
  #time = 0n
  #bounds: readonly number[] = []
  #buckets: readonly number[] = []
  #grid: BucketCounts | undefined

  constructor(name: SeriesName) {
    this.name = name
  }

  /** Takes a point. PM_ERR_VALUE if it is not newer than the last one. */
  take(point: OtlpPoint, kind: OtlpKind, temporality: Temporality, nowMs: number): void {
    const isDelta = temporality === 'delta'
    const isKnown = point.time !== 0n && (isDelta ? point.time <= this.#time : point.time < this.#time)
    if (isKnown) throw new PcpError('PM_ERR_VALUE', 'The point is not newer than the one before')
    this.seenMs = nowMs
    this.#time = point.time
    if (kind === 'gauge' || kind === 'sum') {
      if (point.value === undefined) this.value = isDelta ? this.value : undefined
      else this.value = isDelta ? (this.value ?? 0) + point.value : point.value
      return
    }
    this.count = point.count + (isDelta ? (this.count ?? 0) : 0)
    this.sum = point.sum === undefined ? undefined : point.sum + (isDelta ? (this.sum ?? 0) : 0)
    this.min = point.min
    this.max = point.max
    if (kind === 'summary') this.parts = quantilesOf(point)
    else if (kind === 'histogram') this.#takeBuckets(point, isDelta)
    else this.#takeGrid(point, isDelta)
  }

  #takeBuckets({ bounds, buckets }: OtlpPoint, isDelta: boolean): void {
    const isSame =
      bounds.length === this.#bounds.length && bounds.every((bound, i) => bound === this.#bounds[i])
    // With other bounds the histogram starts again: old counts cannot be assigned to new buckets.
    this.#buckets = isDelta && isSame ? buckets.map((count, i) => count + (this.#buckets[i] ?? 0)) : buckets
    this.#bounds = bounds
    let total = 0
    this.parts = this.#buckets.map((count, i) => {
      total += count
      return { label: 'le', at: i < bounds.length ? String(bounds[i]) : '+Inf', value: total }
    })
  }

  #takeGrid(point: OtlpPoint, isDelta: boolean): void {
    const grid = bucketCountsOf(point)
    this.#grid = isDelta && this.#grid !== undefined ? addBucketCounts(this.#grid, grid) : grid
    const ends = cumulated(this.#grid).map(
      ([end, value]): SeriesPart => ({ label: 'le', at: String(Number(end.toPrecision(6))), value }),
    )
    this.parts = [...ends, { label: 'le', at: '+Inf', value: this.count ?? 0 }]
  }
}

function quantilesOf({ quantiles }: OtlpPoint): readonly SeriesPart[] {
  return quantiles.map(([quantile, value]) => ({ label: 'quantile', at: String(quantile), value }))
}
