/** Responses of pmproxy to the page. docs/reference/pmproxy.md */
import type { MetricDescription } from '../../archive/chart-answer.ts'

/** A metric; `units` is `none` without a dimension, `indom` is null without an instance domain. */
export type MetricInfo = MetricDescription

/** An unavailable metric and the reason. */
export interface MetricFailure {
  readonly name: string
  readonly code: string
  readonly message: string
  /** Distinguishes errors with the same code: an `ErrorReason`. */
  readonly reason?: string
}

/** A metric, or why it is unavailable. */
export type MetricOutcome = MetricInfo | MetricFailure

/** Checks for a failure. */
export function isFailure(outcome: MetricOutcome): outcome is MetricFailure {
  return 'code' in outcome
}

/** Does a value hold until the next one, however late that is? */
export const isDiscrete = (outcome: MetricOutcome): boolean =>
  !isFailure(outcome) && outcome.sem === 'discrete'

/** A metric with help text and labels. */
export interface MetricDetails extends MetricInfo {
  readonly text: string
  readonly labels: Readonly<Record<string, unknown>>
}

/** An instance. */
export interface InstanceInfo {
  readonly id: number
  readonly name: string
  /** Newest value of a string metric, if it was requested. */
  readonly value?: string
}

/** One page of the metrics that match a search. */
export interface NamesAnswer {
  readonly total: number
  readonly metrics: readonly MetricInfo[]
}

/** Children of a name space node. */
export interface ChildrenAnswer {
  readonly leaf: readonly string[]
  readonly nonleaf: readonly string[]
}

/** Metadata of a derived expression, or an error and its position from 0. */
export type CheckAnswer =
  | {
      readonly ok: true
      readonly type: string
      readonly sem: string
      readonly units: string
      readonly indom: string | null
    }
  | {
      readonly ok: false
      readonly message: string
      readonly at?: number
      readonly reason?: string | undefined
    }

/** An archive on the server. */
export interface ArchiveInfo {
  readonly id: string
  readonly host: string
  readonly zone: string
  /** Seconds since the epoch. */
  readonly start: number
  readonly end: number
  readonly bytes: number
}

/** Configuration of the server for the page. */
export interface ConfigAnswer {
  readonly version: string
  readonly hostname: string
  /** Host specifications to offer. */
  readonly hosts: readonly string[]
  /** Ports tried for a host specified without one. */
  readonly ports: readonly number[]
  /** May the user open other hosts? */
  readonly anyHost: boolean
  readonly archives: boolean
  /** Id of the archive of this host; null if it is not recorded. */
  readonly history: string | null
  /** Are rules evaluated that raise alerts about this host? */
  readonly alerts?: boolean
}

/** Query for a range of values. */
export interface RangeQuery {
  readonly names: readonly string[]
  /** Expressions behind those `names` that the page made up. */
  readonly derive: Readonly<Record<string, string>>
  readonly start: number
  readonly finish: number
  readonly points: number
  /** Gives all metrics values at the same times, as stacking needs. */
  readonly aligned?: boolean | undefined
}

/** A failed request: a message for the user, and PCP's error code if there is one. */
export class RequestError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.name = 'RequestError'
    this.code = code
  }
}

/** An archive as files: names and contents in base64, compressed. */
export interface ExcerptAnswer {
  readonly base: string
  readonly files: readonly (readonly [name: string, base64: string])[]
}
