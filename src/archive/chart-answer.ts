/** Answer to a chart query: columns by metric and instance, with shared lists of numbers. docs/reference/pmproxy.md */
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../model/ids.ts'
import { semStr, typeStr } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import type { ChartPoints } from './chart-column.ts'

/** Most points of one answer. */
export const MOST_POINTS: number = 4_000_000

/** A metric in the form that pages use. */
export interface MetricDescription {
  readonly name: string
  readonly pmid: string
  readonly type: string
  readonly sem: string
  readonly units: string
  readonly indom: string | null
  readonly help: string
}

/** Values of one instance; the numbers are indices into `ChartRange.lists`. */
export interface ChartRangeColumn {
  readonly inst: number
  readonly name: string
  readonly times: number
  readonly values: number
  readonly min?: number
  readonly max?: number
}

/** A metric with its columns, or the error. */
export type ChartRangeMetric =
  | (MetricDescription & {
      readonly rate: boolean
      /** Seconds between records; 0 if unknown. Columns that are sampled together may have more points, or fewer. */
      readonly interval?: number
      readonly columns: readonly ChartRangeColumn[]
    })
  | { readonly name: string; readonly code: string; readonly message: string; readonly reason?: string }

export interface ChartRange {
  readonly start: number
  readonly finish: number
  /** Times of interruptions, in seconds since the epoch. */
  readonly marks: readonly number[]
  readonly metrics: readonly ChartRangeMetric[]
  readonly lists: readonly Float64Array[]
}

/** Describes a metric for pages. */
export function describeMetric(
  name: string,
  { pmid, type, sem, units, indom }: MetricDesc,
  help: string,
): MetricDescription {
  return {
    name,
    pmid: pmidStr(pmid),
    type: typeStr(type).toLowerCase(),
    sem: semStr(sem),
    units: unitsStr(units) || 'none',
    indom: indom === PM_INDOM_NULL ? null : indomStr(indom),
    help,
  }
}

/** Describes an unavailable metric and its error. */
export const failedMetric = (name: string, { code, message, reason }: PcpError): ChartRangeMetric => ({
  name,
  code,
  message,
  ...(reason === undefined ? {} : { reason }),
})

/** Number lists of an answer; most columns share their times. */
export class NumberLists {
  /** All lists, by index. */
  readonly all: Float64Array[] = []
  readonly #times: number[] = []
  #points = 0

  /** Adds the lists of a column; returns their indices. PM_ERR_TOOBIG for more points than an answer may have. */
  put({ times, values, min, max }: ChartPoints): Omit<ChartRangeColumn, 'inst' | 'name'> {
    this.#points += values.length
    if (this.#points > MOST_POINTS) throw tooManyPoints()
    const place = { times: this.#timesOf(times), values: this.#add(values) }
    return min === undefined || max === undefined
      ? place
      : { ...place, min: this.#add(min), max: this.#add(max) }
  }

  #timesOf(times: Float64Array): number {
    const known = this.#times.find((index) => isSame(this.all[index]!, times))
    if (known !== undefined) return known
    const index = this.#add(times)
    this.#times.push(index)
    return index
  }

  #add(list: Float64Array): number {
    return this.all.push(list) - 1
  }
}

function isSame(one: Float64Array, other: Float64Array): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}

/** Returns PM_ERR_TOOBIG for an answer of more than MOST_POINTS points. */
export const tooManyPoints = (): PcpError =>
  new PcpError('PM_ERR_TOOBIG', `More than ${MOST_POINTS} points: request fewer metrics or points`)
