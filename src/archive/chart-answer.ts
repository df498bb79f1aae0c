/** What a chart is told of an archive: columns by metric and instance, with lists of numbers that they share. docs/pmproxy.md */
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../model/ids.ts'
import { semStr, typeStr } from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import type { ChartPoints } from './chart-column.ts'

/** Points of a whole answer. */
export const MOST_POINTS: number = 4_000_000

/** A metric as pages are told of it. */
export interface MetricWords {
  readonly name: string
  readonly pmid: string
  readonly type: string
  readonly sem: string
  readonly units: string
  readonly indom: string | null
  readonly help: string
}

/** Values of one instance; the numbers are indexes of `ChartRange.lists`. */
export interface ListedColumn {
  readonly inst: number
  readonly name: string
  readonly times: number
  readonly values: number
  readonly min?: number
  readonly max?: number
}

/** A metric with its columns, or why there are none. */
export type ListedMetric =
  | (MetricWords & { readonly rate: boolean; readonly columns: readonly ListedColumn[] })
  | { readonly name: string; readonly code: string; readonly message: string; readonly reason?: string }

/** The answer. */
export interface ChartRange {
  readonly start: number
  readonly finish: number
  /** When recording was interrupted, seconds since the epoch. */
  readonly marks: readonly number[]
  readonly metrics: readonly ListedMetric[]
  readonly lists: readonly Float64Array[]
}

/** What pages are told of a metric. */
export function metricWords(
  name: string,
  { pmid, type, sem, units, indom }: MetricDesc,
  help: string,
): MetricWords {
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

/** A metric that cannot be had, and why. */
export const failedMetric = (name: string, { code, message, reason }: PcpError): ListedMetric => ({
  name,
  code,
  message,
  ...(reason === undefined ? {} : { reason }),
})

/** The lists of an answer; most columns share their times. */
export class Lists {
  /** All of them, in the order of their indexes. */
  readonly all: Float64Array[] = []
  readonly #times: number[] = []
  #points = 0

  /** Adds those of a column; says where they are. PM_ERR_TOOBIG for more points than an answer may have. */
  put({ times, values, min, max }: ChartPoints): Omit<ListedColumn, 'inst' | 'name'> {
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

/** PM_ERR_TOOBIG: an answer would have more than MOST_POINTS points. */
export const tooManyPoints = (): PcpError =>
  new PcpError('PM_ERR_TOOBIG', `More than ${MOST_POINTS} points: ask for fewer metrics or points`)
