/** What one chart draws: lines on one axis of time, and what is known about them. */
import type { Frame } from '../time/control.ts'
import type { Measure } from '../view/measure.ts'
import type { Plot } from '../view/view.ts'
import type { MetricInfo } from './answers.ts'

/** Up to when a source may have values. */
export interface SourceEnd {
  /** Newest sample of a host, or the end of an archive, in seconds since the epoch. */
  readonly at: number
  /** Seconds since that sample arrived; always 0 for an archive. */
  readonly quietSec: () => number
  /** Seconds between samples; 0 where only the samples show it. */
  readonly every: number
}

/** A line of a chart. */
export interface ChartLine {
  /** The same from one moment to the next. */
  readonly key: string
  readonly label: string
  readonly plot: Plot
  readonly info: MetricInfo
  /** Null for a metric without instances. */
  readonly instance: string | null
  /** In base units of the chart's measure; `undefined` where another line has a sample and this one none. */
  readonly values: readonly (number | null | undefined)[]
  /** What was least and most about each moment, where values are means of many. */
  readonly low?: readonly (number | null | undefined)[]
  readonly high?: readonly (number | null | undefined)[]
}

/** What a chart draws. */
export interface ChartData {
  /** What is shown. Of each line there may be a value before that and one after it. */
  readonly frame: Frame
  readonly times: readonly number[]
  readonly lines: readonly ChartLine[]
  /** Lines beyond those that are drawn: parts of the whole all the same. */
  readonly rest?: readonly Pick<ChartLine, 'plot' | 'values'>[]
  /** Titles of the plots, where each is a column. */
  readonly heads: ReadonlyMap<Plot, string>
  readonly measure: Measure
  /** Its lines are of several sources, which labels, titles and problems begin with. */
  readonly isMixed: boolean
  /** Fixed limits of the axis, in base units. */
  readonly limits: readonly [low: number, high: number] | undefined
  /** Up to when the sources of its plots may have values, by the key that plots name. */
  readonly ends: ReadonlyMap<string | undefined, SourceEnd>
  /** Missing lines and the reasons, a sentence each. `Feeds.stateOf` has those of a whole host. */
  readonly problems: readonly string[]
  /** There is nothing to draw, but values are on their way. */
  readonly isWaiting: boolean
  /** More values are on their way. */
  readonly isReading: boolean
}
