/** Where metrics come from: a host, an archive on the server, or one that was dropped into the page. */
import type { ReadonlySignal } from '@preact/signals'
import type { ChartRange } from '../../archive/chart-answer.ts'
import type {
  CheckAnswer,
  ChildrenAnswer,
  InstanceInfo,
  MetricDetails,
  NamesAnswer,
  RangeQuery,
} from './answers.ts'

/** Who waits for values over a span of time. */
export interface RangeWatcher {
  /** Is what they are for in view? What is not waits for what is. */
  readonly isSeen?: ReadonlySignal<boolean> | undefined
  /** Gets what has been read so far, where reading takes long. */
  readonly onPart?: (soFar: ChartRange) => void
}

/** Something with metrics. */
export interface Source {
  /** `host:SPEC`, `archive:ID` or `file:NAME`: unique, and part of shared addresses. */
  readonly key: string
  /** For people. */
  readonly title: string
  /** Of the metrics, for titles of charts. */
  readonly host: string
  /** What it holds, in seconds since the epoch; absent for a host, which has only the present. */
  readonly span?: { readonly start: number; readonly end: number }
  /** Metrics whose name or one-line help has every word of `match`. */
  names(match: string, offset: number, limit: number): Promise<NamesAnswer>
  /** What is below a node. */
  children(prefix: string): Promise<ChildrenAnswer>
  /** All about one metric. RequestError. */
  metric(name: string): Promise<MetricDetails>
  /** Instances of a metric; none for one without. RequestError. */
  instances(name: string): Promise<readonly InstanceInfo[]>
  /** Does the expression have a meaning here? */
  check(expr: string): Promise<CheckAnswer>
  /** Values over a span of time; only with `span`, or where the host is recorded. RequestError. */
  range?(query: RangeQuery, watcher?: RangeWatcher): Promise<ChartRange>
  /** Releases what it holds. */
  close?(): void
}
