/** Hosts of rules: collectors and archives. docs/reference/pmie.md */
import type { MetricDesc } from '../model/desc.ts'
import type { PcpError } from '../model/errors.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'

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
  context: Context | undefined
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
