/** The agent's own metrics: what it received, and for how long a series counts. docs/otel.md */
import { PcpError } from '../../model/errors.ts'
import type { AgentTables, MetricSpec } from '../../pmda/define.ts'

/** What is counted, and what can be set. */
export interface OtelState {
  requests: number
  /** Requests that were refused. */
  refused: number
  bytes: number
  points: number
  rejected: number
  staleMs: number
  /** Why the last request or point was refused. */
  lastProblem: string
}

/** What is asked of the other parts. */
export interface OtelGauges {
  readonly port: () => number
  readonly series: () => number
  readonly metrics: () => number
}

const MIN_STALE = 1
const MAX_STALE = 7 * 86_400

/** The metrics of cluster 0. */
export function controlMetrics(root: string, state: OtelState, gauges: OtelGauges): AgentTables['metrics'] {
  const counter = (item: number, units: string, help: string, value: () => number): MetricSpec => ({
    item,
    type: 'u64',
    sem: 'counter',
    units,
    help,
    value,
  })
  const gauge = (item: number, units: string, help: string, value: () => number): MetricSpec => ({
    item,
    type: 'u32',
    sem: 'instant',
    units,
    help,
    value,
  })
  const rows: AgentTables['metrics'] = {
    requests: counter(0, 'count', 'Requests that brought metrics', () => state.requests),
    refused: counter(1, 'count', 'Requests that were refused as a whole', () => state.refused),
    bytes: counter(2, 'byte', 'Bytes of the requests after decompression', () => state.bytes),
    points: counter(3, 'count', 'Points that were received', () => state.points),
    rejected: counter(4, 'count', 'Points that could not be taken over', () => state.rejected),
    series: gauge(5, 'count', 'Series that have values now', gauges.series),
    metrics: gauge(6, 'count', 'Metrics that were ever received since the agent started', gauges.metrics),
    port: gauge(7, 'none', 'Port on which metrics are received, 0 when none can be had', gauges.port),
    stale: staleRow(state),
    last_problem: {
      item: 9,
      type: 'string',
      sem: 'instant',
      units: 'none',
      help: 'Why a request or a point was refused last',
      value: () => state.lastProblem,
    },
  }
  return Object.fromEntries(Object.entries(rows).map(([name, spec]) => [`${root}.control.${name}`, spec]))
}

function staleRow(state: OtelState): MetricSpec {
  return {
    item: 8,
    type: 'double',
    sem: 'discrete',
    units: 'sec',
    help: 'How long a series has values after its last point',
    text: `Applications do not say when they end: a series for which nothing was sent for so long has no value and is no instance any more, until something is sent again. Can be stored: from ${MIN_STALE} second to a week.`,
    value: () => state.staleMs / 1000,
    isControl: true,
    store: (value) => {
      const seconds = Number(value)
      if (!(seconds >= MIN_STALE && seconds <= MAX_STALE))
        throw new PcpError(
          'PM_ERR_BADSTORE',
          `The time must be between ${MIN_STALE} and ${MAX_STALE} seconds, not ${seconds}`,
        )
      state.staleMs = seconds * 1000
    },
  }
}
