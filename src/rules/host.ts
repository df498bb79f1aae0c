/** Hosts of rules: collectors and archives. docs/reference/pmie.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import type { Outcome, PcpError } from '../model/errors.ts'
import type { Indom, Pmid } from '../model/ids.ts'
import type { Instances } from '../model/source.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'

/** Options of a request to a host. */
interface RequestOptions {
  readonly signal?: AbortSignal
}

/** The operations of an archive that rules need. Errors as of `ArchiveControl`. */
export interface RuleArchive {
  readonly label: { readonly hostname: string }
  readonly start: Timestamp
  end(): Timestamp
  /** Returns all instances that a domain had during the archive's life. PM_ERR_INDOM_LOG. */
  instances(indom: Indom): Instances
  setMode(mode: 'interpolate', when: Timestamp, stepSec: number): void
  /** Iterates over values interpolated at every `stepSec`; with `reusesMemory` each is valid until the next one. */
  samples(
    ids: readonly Pmid[],
    stepSec: number,
    range: { readonly from: Timestamp; readonly reusesMemory: boolean },
  ): Iterator<FetchResult>
}

/** The operations of a context that rules need: a subset of `Context`, so that rules can be evaluated in browsers. */
export interface RuleContext {
  /** Undefined for a collector. */
  readonly archive?: RuleArchive | undefined
  lookupNames(names: readonly string[], options?: RequestOptions): Promise<readonly Outcome<Pmid>[]>
  descs(ids: readonly Pmid[], options?: RequestOptions): Promise<readonly Outcome<MetricDesc>[]>
  instances(indom: Indom, options?: RequestOptions): Promise<Instances>
  traverse(prefix?: string, options?: RequestOptions): Promise<readonly string[]>
  fetch(ids: readonly Pmid[], options?: RequestOptions): Promise<FetchResult>
  /** Returns another context on the same source, at the same position. */
  dup(): Promise<RuleContext>
  close(): Promise<void>
}

/** Description of a metric on a host. */
export interface KnownMetric {
  readonly desc: MetricDesc
  /** Number of instances at the time of the lookup; 1 without an instance domain. */
  readonly size: number
  /** Known instance names by id. */
  readonly names: Map<number, string>
}

/** A collector or archive. */
export interface RuleHost {
  /** Name as written in rules, and as reported by the host. */
  readonly name: string
  /** Source of values, shown by %c: the archive, or the connection's host specification. */
  readonly connection: string
  readonly isArchive: boolean
  /** Undefined while the collector is unreachable. */
  context: RuleContext | undefined
}

/** A metric of a host within a task, with the values of the last fetch. */
export interface MetricFeed {
  readonly host: RuleHost
  readonly metric: string
  /** Undefined until the metric is known. */
  known: KnownMetric | undefined
  /** Undefined if the last fetch had no values. */
  set: ValueSet | undefined
  /** Time of `set` in seconds. */
  sec: number
}

/** Why a metric cannot be used; `what` determines whether it may become available. */
export interface LookupProblem {
  readonly what: 'name' | 'desc' | 'type' | 'singular' | 'instance'
  readonly error: PcpError | undefined
  readonly instance?: string
}

/** Distributes the result of a fetch to its feeds. */
export function deliver(feeds: readonly MetricFeed[], result: FetchResult | undefined): void {
  const sec = result === undefined ? Number.NaN : result.timestamp.sec + result.timestamp.nsec / 1e9
  for (let i = 0; i < feeds.length; i++) {
    const feed = feeds[i]!
    feed.set = result?.sets[i]
    if (result !== undefined) feed.sec = sec
  }
}
