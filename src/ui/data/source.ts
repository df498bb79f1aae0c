/** Interface of sources of metrics: hosts, archives on the server, and archives from local files. */
import type { ReadonlySignal } from '@preact/signals'
import type { ChangeQuery, ChangeReport } from '../../analysis/what-changed.ts'
import type { ChartRange } from '../../archive/chart-answer.ts'
import type { ProcessesAnswer } from '../../model/process-sample.ts'
import type { FiringsAnswer, FiringsQuery } from '../../rules/firings.ts'
import type {
  CheckAnswer,
  ChildrenAnswer,
  ExcerptAnswer,
  InstanceInfo,
  MetricDetails,
  NamesAnswer,
  RangeQuery,
} from './responses.ts'

/** Callbacks of a range query. */
export interface RangeWatcher {
  /** Is the requesting chart in view? Others wait. */
  readonly isSeen?: ReadonlySignal<boolean> | undefined
  /** Receives the values read so far, if reading takes long. */
  readonly onPart?: (soFar: ChartRange) => void
}

/** A source of metrics. */
export interface Source {
  /** `host:SPEC`, `archive:ID`, `file:NAME` or `url:ADDRESS`: unique, and part of shared links. */
  readonly key: string
  /** Name shown to the user. */
  readonly title: string
  /** Host of the metrics, for titles of charts. */
  readonly host: string
  /** Start and end in seconds since the epoch; absent for a live host. */
  readonly span?: { readonly start: number; readonly end: number }
  /** Is it read over the network in parts, so that much of it should not be read without a reason? */
  readonly isRemote?: boolean
  /** Bytes of all its files, if it is. */
  readonly bytes?: number
  /** Width in seconds of the window with which it opens, if all of it would be too much. */
  readonly firstWidth?: number
  /** Finds metrics whose name or one-line help contains every word of `match`. */
  names(match: string, offset: number, limit: number): Promise<NamesAnswer>
  /** Returns the children of a name space node. */
  children(prefix: string): Promise<ChildrenAnswer>
  /** Returns the metadata of a metric. Throws RequestError. */
  metric(name: string): Promise<MetricDetails>
  /** Returns the instances of a metric, empty without an instance domain; with `values`, those of a string metric. Throws RequestError. */
  instances(name: string, values?: boolean): Promise<readonly InstanceInfo[]>
  /** Checks an expression against the metrics of this source. */
  check(expr: string): Promise<CheckAnswer>
  /** Returns values of a time range; only if there is a `span` or the host is recorded. Throws RequestError. */
  range?(query: RangeQuery, watcher?: RangeWatcher): Promise<ChartRange>
  /** Returns the records of a time range as files of a new archive; only if they are recorded. Throws RequestError. */
  excerpt?(start: number, finish: number): Promise<ExcerptAnswer>
  /** Ranks what changed in a span; only if there is a `span` or the host is recorded. Throws RequestError. */
  changes?(query: ChangeQuery, signal?: AbortSignal): Promise<ChangeReport>
  /**
   * Returns where rules of pmie would have fired; only if there is a `span` or the host is recorded. `onRead` gets the bytes read so far, and
   * all that are needed, if they are read over the network. Throws RequestError.
   */
  firings?(
    query: FiringsQuery,
    signal?: AbortSignal,
    onRead?: (done: number, total: number) => void,
  ): Promise<FiringsAnswer>
  /**
   * Returns the recorded processes at a time in seconds since the epoch; without one, those of a host now or at the end of an archive.
   * Undefined if `at` is given and the host is not recorded. Throws RequestError.
   */
  processes(at?: number): Promise<ProcessesAnswer | undefined>
  /** Releases its resources. */
  close?(): void
}
