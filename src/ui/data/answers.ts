/** What pmproxy answers the page, as docs/pmproxy.md describes it. */
import type { MetricWords } from '../../archive/chart-answer.ts'

/** A metric; `units` is `none` where there is no dimension, `indom` null for one value without instances. */
export type MetricInfo = MetricWords

/** A metric that cannot be had, and why. */
export interface MetricFailure {
  readonly name: string
  readonly code: string
  readonly message: string
  /** Tells errors of one code apart: an `ErrorReason`. */
  readonly reason?: string
}

/** A metric, or why there is none. */
export type MetricOutcome = MetricInfo | MetricFailure

/** Is it a failure? */
export function isFailure(outcome: MetricOutcome): outcome is MetricFailure {
  return 'code' in outcome
}

/** A metric with all there is to know about it. */
export interface MetricDetails extends MetricInfo {
  readonly text: string
  readonly labels: Readonly<Record<string, unknown>>
}

/** An instance. */
export interface InstanceInfo {
  readonly id: number
  readonly name: string
}

/** Metrics that match a search: a page of them. */
export interface NamesAnswer {
  readonly total: number
  readonly metrics: readonly MetricInfo[]
}

/** Children of a node of the name space. */
export interface ChildrenAnswer {
  readonly leaf: readonly string[]
  readonly nonleaf: readonly string[]
}

/** What a derived expression means, or what is wrong with it and where, from 0. */
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

/** What the server lets the page do. */
export interface ConfigAnswer {
  readonly version: string
  readonly hostname: string
  /** Host specifications to offer. */
  readonly hosts: readonly string[]
  /** Ports that are tried of a host that is named without one. */
  readonly ports: readonly number[]
  /** May others be named? */
  readonly anyHost: boolean
  readonly archives: boolean
  /** Id of the archives of this host; null when nothing is recorded. */
  readonly history: string | null
}

/** What a range of values is asked with. */
export interface RangeQuery {
  readonly names: readonly string[]
  /** Expressions of those names that are the page's own. */
  readonly derive: Readonly<Record<string, string>>
  readonly start: number
  readonly finish: number
  readonly points: number
  /** All metrics have values at the same moments, so that they can be stacked. */
  readonly aligned?: boolean | undefined
}

/** A failed request: a sentence for the person, and PCP's code when there is one. */
export class RequestError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.name = 'RequestError'
    this.code = code
  }
}
