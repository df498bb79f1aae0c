/** The hosts that rules are about: collectors and archives. docs/pmie.md */
import type { MetricDesc } from '../model/desc.ts'
import type { PcpError } from '../model/errors.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'

/** What is known of a metric on a host. */
export interface KnownMetric {
  readonly desc: MetricDesc
  /** Number of instances when it was looked up; 1 without an instance domain. */
  readonly size: number
  /** Names of instances, as they become known. */
  readonly names: Map<number, string>
}

/** A host. */
export interface RuleHost {
  /** As written in rules, and as it names itself. */
  readonly name: string
  /** What values come from: the archive, or how to connect; what %c stands for. */
  readonly connection: string
  readonly isArchive: boolean
  /** Undefined while the collector cannot be reached. */
  context: Context | undefined
}

/** A metric of a host within a task: its values of the last fetch. */
export interface Feed {
  readonly host: RuleHost
  readonly metric: string
  /** Undefined while nobody knows the metric. */
  known: KnownMetric | undefined
  /** Undefined: no values this time. */
  set: ValueSet | undefined
  /** Seconds of the fetch that `set` is from. */
  sec: number
}

/** Why a metric cannot be used, and whether it may be there later. */
export interface LookupProblem {
  readonly what: 'name' | 'desc' | 'type' | 'singular' | 'instance'
  readonly error: PcpError | undefined
  readonly instance?: string
}

/** Puts the result of a fetch into the feeds that asked for it. */
export function deliver(feeds: readonly Feed[], result: FetchResult | undefined): void {
  const sec = result === undefined ? Number.NaN : result.timestamp.sec + result.timestamp.nsec / 1e9
  for (let i = 0; i < feeds.length; i++) {
    const feed = feeds[i]!
    feed.set = result?.sets[i]
    if (result !== undefined) feed.sec = sec
  }
}
