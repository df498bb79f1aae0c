/** Answers about a fleet, as the page receives them. docs/reference/pmproxy.md */

/** State of a figure, or of a host. */
export type FleetState = 'ok' | 'partial' | 'unknown' | 'warn' | 'bad' | 'stale'

/** States by number: figures have 0 (`ok`), 2, 3 and 4. */
export const FLEET_STATES: readonly FleetState[] = ['ok', 'partial', 'unknown', 'warn', 'bad', 'stale']

/** A rule with its thresholds. */
export interface FleetFigure {
  readonly id: string
  readonly title: string
  /** How the value is computed. */
  readonly rule: string
  /** `share`: of 1. */
  readonly unit: 'share' | 'number'
  readonly warn: number
  readonly bad: number
}

/** When a host counts as late or stale: after so many of its intervals, but not before so many seconds. */
export interface SeenRule {
  readonly rule: string
  readonly lateIntervals: number
  readonly lateSec: number
  readonly staleIntervals: number
  readonly staleSec: number
}

/** An archive to open: its id, start and end in seconds since the epoch. */
export type FleetArchive = readonly [id: string, start: number, end: number]

/** A label: its values, and for each host the index of its value; -1 without this label. */
export interface FleetLabel {
  readonly name: string
  readonly values: readonly string[]
  readonly of: readonly number[]
}

/** Hosts in columns: the same index is the same host. */
export interface FleetHosts {
  readonly key: readonly string[]
  readonly name: readonly string[]
  /** Newest sample up to the time of the answer, in seconds since the epoch; null without one. */
  readonly last: readonly (number | null)[]
  /** Seconds between samples; null if unknown. */
  readonly every: readonly (number | null)[]
  /** Index in FLEET_STATES. */
  readonly state: readonly number[]
  /** Archives of the window. */
  readonly archives: readonly (readonly FleetArchive[])[]
  /** By figure; null is unknown. */
  readonly values: Readonly<Record<string, readonly (number | null)[]>>
  /** By figure, as indices in FLEET_STATES. */
  readonly states: Readonly<Record<string, readonly number[]>>
}

/** All hosts and their health at a time. */
export interface FleetAnswer {
  /** Time that the answer is about. */
  readonly at: number
  /** From the first to the newest sample of all hosts; null without any. */
  readonly span: { readonly start: number; readonly end: number } | null
  /** Figures are means over so many seconds before the host's newest sample, or three of its intervals if they are longer. */
  readonly meanSec: number
  readonly seen: SeenRule
  readonly figures: readonly FleetFigure[]
  readonly labels: readonly FleetLabel[]
  readonly hosts: FleetHosts
  /** Hosts that were not read within the time of a request; the next one reads them. */
  readonly unread: number
  /** Hosts left out because there are too many. */
  readonly leftOut: number
  /** Archives that cannot be read. */
  readonly unreadable: number
}

/** Health of a collector from its live values, with the same rules. */
export interface LiveHost {
  /** As requested. */
  readonly host: string
  /** Time of its newest answer, in seconds since the epoch; null without one. */
  readonly last: number | null
  /** Index in FLEET_STATES. */
  readonly state: number
  /** By figure; null is unknown. */
  readonly values: Readonly<Record<string, number | null>>
  /** By figure, as indices in FLEET_STATES. */
  readonly states: Readonly<Record<string, number>>
}

/** Present health of the requested collectors. */
export interface FleetLiveAnswer {
  readonly hosts: readonly LiveHost[]
  /** Hosts of which another sample is worth a request soon. */
  readonly unread: number
  /** Hosts left out because there are too many. */
  readonly leftOut: number
}

/** Head of the values of one metric over all hosts. */
export interface FleetRangeHead {
  readonly start: number
  readonly step: number
  readonly buckets: number
  /** Name of the metric or figure. */
  readonly name: string
  readonly title: string
  readonly help: string
  readonly units: string
  /** `rate` for counters. */
  readonly sem: string
  /** A figure's unit. */
  readonly unit: 'share' | 'number' | null
  /** How instances were combined; null for a metric without instances. */
  readonly aggregate: string | null
  /** Keys of hosts, in the order of rows. */
  readonly hosts: readonly string[]
  /** Hosts that do not record it, or with other units. */
  readonly without: number
  readonly unread: number
  readonly quantiles: {
    readonly p50: readonly (number | null)[]
    readonly p90: readonly (number | null)[]
    readonly p99: readonly (number | null)[]
    readonly max: readonly (number | null)[]
    readonly count: readonly number[]
  }
  /** Keys of the hosts with the highest means over the window, and those means. */
  readonly top: readonly (readonly [key: string, mean: number])[]
}

/** Values of one metric over all hosts. */
export interface FleetRange extends FleetRangeHead {
  /** Row by row; NaN means no value. */
  readonly cells: Float32Array
}
