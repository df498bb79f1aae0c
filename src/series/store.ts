/** What answers questions about series: archives, or a server that keeps time series. docs/reference/series-queries.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import type { Value } from '../model/values.ts'
import type { Selector } from './query/syntax.ts'
import type { ValueBudget } from './value-budget.ts'

/** Kinds of names. */
export type NameKind = 'metric' | 'instance' | 'context' | 'label'

/** A descriptor, and the source of its series. */
export interface SeriesDesc extends MetricDesc {
  readonly source: string
  /** The semantics are unknown: the metric may be a counter. */
  readonly hasGuessedSemantics?: true
}

/** An instance of a series. */
export interface SeriesInstance {
  readonly id: string
  readonly inst: number
  readonly name: string
  readonly source: string
}

/** Which samples are wanted. */
export interface SampleWindow {
  /** At most so many: the most recent ones, newest first, unless there is a start, finish or interval. */
  readonly samples?: number | undefined
  /** Seconds between samples; the recorded samples nearest before each goal are taken, and none is calculated. */
  readonly interval?: number | undefined
  /** Inclusive bounds; samples are then ordered oldest first. */
  readonly start?: Timestamp | undefined
  readonly finish?: Timestamp | undefined
}

/** Values of one moment. */
export interface Sample extends Timestamp {
  /** Identifier of each value's instance; '' for a metric without instances. */
  readonly ids: readonly string[]
  readonly values: readonly Value[]
  /** Recording was interrupted since the sample before. */
  readonly isAfterGap?: boolean
}

/** A text that is searched: of a metric, an instance domain or an instance. */
export interface SearchText {
  readonly type: 'metric' | 'indom' | 'instance'
  readonly name: string
  /** `60.2`; undefined for a metric without instances. */
  readonly indom: string | undefined
  readonly oneline: string
  readonly help: string
}

/** Series and their metadata; identifiers are 40 hexadecimal digits. Methods accept unknown ones. */
export interface SeriesStore {
  /** How many series are best read at the same time; default 1. */
  readonly readsAtOnce?: number
  /** Returns all names of a kind: of contexts, archives and hosts. */
  names(kind: NameKind): Promise<readonly string[]>
  /** Returns the values of a label as JSON. */
  labelValues(label: string): Promise<readonly string[]>
  /** Returns the series of a metric, those with an instance of this name, or those of an archive. */
  withName(kind: 'metric' | 'instance' | 'context', name: string): Promise<readonly string[]>
  /** Returns the series with a label of this value, as JSON. */
  withLabel(label: string, value: string): Promise<readonly string[]>
  /** Finds the series of a selector by means of a server's own; without this method, the ones above are used. */
  select?(selector: Selector): Promise<readonly string[]>
  desc(series: string): Promise<SeriesDesc | undefined>
  metricNames(series: string): Promise<readonly string[]>
  instances(series: string): Promise<readonly SeriesInstance[]>
  /** Returns the name of an instance by its identifier; undefined for an unknown one. */
  instanceName?(id: string): Promise<string | undefined>
  /** Returns the labels of an instance, or of a metric without instances, as JSON by name. */
  labels(id: string): Promise<ReadonlyMap<string, string> | undefined>
  /** Returns the names of a source: archives or host specifications, and the host. */
  sourceNames(source: string): Promise<readonly string[]>
  /** Returns samples in order of the window. Errors of the budget, which all series of a query share. */
  samples(series: string, window: SampleWindow, budget: ValueBudget): Promise<readonly Sample[]>
  /** Returns all texts for searching: the same list until one has changed. */
  texts(): Promise<readonly SearchText[]>
  /** Returns a calculation that was kept; undefined for an unknown identifier. Stores without this method keep none. */
  expression?(id: string): Promise<string | undefined>
  /** Keeps a calculation, with the descriptor of its results, for other programs that have its identifier. */
  keepExpression?(id: string, text: string, desc: MetricDesc): Promise<void>
  /** Releases files or connections; idempotent. */
  close(): Promise<void>
}
