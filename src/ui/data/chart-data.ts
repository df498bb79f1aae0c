/** What one chart draws: lines on a common time axis, and their metadata. */
import type { Frame } from '../time/control.ts'
import type { Measure } from '../view/measure.ts'
import type { Plot } from '../view/view.ts'
import type { MetricInfo } from './responses.ts'

/** End of a source's data. */
export interface SourceEnd {
  /** Newest sample of a host, or the end of an archive, in seconds since the epoch. */
  readonly at: number
  /** Returns the seconds since that sample arrived; always 0 for an archive. */
  readonly quietSec: () => number
  /** Seconds between samples; 0 if only the samples show it. */
  readonly every: number
}

/** A line of a chart. */
export interface ChartLine {
  /** Identifies the line across redraws. */
  readonly key: string
  readonly label: string
  readonly plot: Plot
  readonly info: MetricInfo
  /** Null for a metric without instances. */
  readonly instance: string | null
  /** Name of the instance for users, if it has another one: a mount point. */
  readonly name?: string
  /** In base units of the chart's measure; `undefined` at times of other lines at which this one has no sample. */
  readonly values: readonly (number | null | undefined)[]
  /** Minimum and maximum around each time, if values are means of several samples. */
  readonly low?: readonly (number | null | undefined)[]
  readonly high?: readonly (number | null | undefined)[]
}

/** What a chart draws. */
export interface ChartData {
  /** The time window. Each line may have one value before and one after it. */
  readonly frame: Frame
  readonly times: readonly number[]
  readonly lines: readonly ChartLine[]
  /** Lines that are not drawn but count for shares of the total. */
  readonly rest?: readonly Pick<ChartLine, 'plot' | 'values'>[]
  /** Titles of the plots, for kinds with a column for each. */
  readonly heads: ReadonlyMap<Plot, string>
  readonly measure: Measure
  /** Lines are of several sources; labels, titles and problems start with the source. */
  readonly isMixed: boolean
  /** Fixed limits of the axis, in base units. */
  readonly limits: readonly [low: number, high: number] | undefined
  /** Ends of the sources' data, by the `source` of the plots. */
  readonly ends: ReadonlyMap<string | undefined, SourceEnd>
  /** Reasons for missing lines, a sentence each. For whole hosts see `Feeds.stateOf`. */
  readonly problems: readonly string[]
  /** The source has none of the metrics. */
  readonly hasNone?: boolean
  /** Nothing to draw yet, but values are on their way. */
  readonly isWaiting: boolean
  /** More values are on their way. */
  readonly isReading: boolean
}
