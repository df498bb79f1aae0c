/** The agent's own metrics: statistics of requests, and the lifetime of series. docs/reference/agents/otel.md */
import { PcpError } from '../../model/errors.ts'
import type { AgentTables, MetricSpec } from '../../pmda/define.ts'

/** Counters and settings. */
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

/** Values provided by the other parts. */
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
    requests: counter(0, 'count', 'Requests with metrics', () => state.requests),
    refused: counter(1, 'count', 'Requests refused as a whole', () => state.refused),
    bytes: counter(2, 'byte', 'Bytes of the requests after decompression', () => state.bytes),
    points: counter(3, 'count', 'Points received', () => state.points),
    rejected: counter(4, 'count', 'Points rejected', () => state.rejected),
    series: gauge(5, 'count', 'Series with values', gauges.series),
    metrics: gauge(6, 'count', 'Metrics received since the agent started', gauges.metrics),
    port: gauge(7, 'none', 'Port on which metrics are received, 0 if listening failed', gauges.port),
    stale: staleRow(state),
    last_problem: {
      item: 9,
      type: 'string',
      sem: 'instant',
      units: 'none',
      help: 'Why the last refused request or point was refused',
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
    help: 'Time that a series keeps its values after its last point',
    text: `Applications do not announce their end: after this time without a point a series has no value and its instance is removed until the next point. Can be stored: from ${MIN_STALE} second to a week.`,
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
