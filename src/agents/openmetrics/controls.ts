/** The agent's own metrics: state and interval of each source. docs/reference/agents/openmetrics.md */
import { PcpError } from '../../model/errors.ts'
import type { AgentTables, IndomSpec, MetricSpec } from '../../pmda/define.ts'
import type { SourceStats, SourceWatcher } from './watch.ts'

const MIN_INTERVAL = 0.1
const MAX_INTERVAL = 86_400
const NO_STATS = new PcpError('PM_ERR_INST')

/** The metrics of cluster 0. */
export function controlMetrics(
  root: string,
  watch: SourceWatcher,
  clock: () => number,
): AgentTables['metrics'] {
  const indom: IndomSpec = {
    serial: 0,
    instances: () => watch.clusters.list(),
    help: 'Sources: files of the configuration directory',
    text: 'Instances are named after the files, preceded by their directories and separated by dots. A source keeps its identifier when its file is removed and returns. Instance "control" is the total of all sources.',
  }
  const statsOf = (inst: number): SourceStats | undefined =>
    inst === 0 ? watch.totals : watch.sources.find(({ cluster }) => cluster === inst)?.stats
  const perSource = (
    item: number,
    row: Pick<MetricSpec, 'type' | 'sem' | 'units' | 'help' | 'text'>,
    read: (stats: SourceStats) => number | string | undefined,
  ): MetricSpec => ({
    item,
    indom,
    ...row,
    value: (inst) => {
      const stats = statsOf(inst)
      return stats === undefined ? NO_STATS : read(stats)
    },
  })
  return Object.fromEntries(
    Object.entries({ ...countRows(perSource), ...stateRows(perSource, clock), ...switchRows(watch) }).map(
      ([name, spec]) => [`${root}.control.${name}`, spec],
    ),
  )
}

type PerSource = (
  item: number,
  row: Pick<MetricSpec, 'type' | 'sem' | 'units' | 'help' | 'text'>,
  read: (stats: SourceStats) => number | string | undefined,
) => MetricSpec

function countRows(perSource: PerSource): AgentTables['metrics'] {
  return {
    calls: perSource(
      1,
      { type: 'u64', sem: 'counter', units: 'count', help: 'How often a source was probed' },
      ({ calls }) => calls,
    ),
    fetch_time: perSource(
      2,
      { type: 'u64', sem: 'counter', units: 'millisec', help: 'Time until documents were there' },
      ({ fetchMs }) => Math.floor(fetchMs),
    ),
    parse_time: perSource(
      3,
      { type: 'u64', sem: 'counter', units: 'millisec', help: 'Time spent on taking documents apart' },
      ({ parseMs }) => Math.floor(parseMs),
    ),
    errors: perSource(
      8,
      { type: 'u64', sem: 'counter', units: 'count', help: 'How many probes of a source failed' },
      ({ errors }) => errors,
    ),
  }
}

function stateRows(perSource: PerSource, clock: () => number): AgentTables['metrics'] {
  return {
    status: perSource(
      5,
      {
        type: 'string',
        sem: 'instant',
        units: 'none',
        help: 'Result of the last probe of a source',
        text: '"success" or the error; "unknown" before the first probe has ended.',
      },
      ({ status }) => status,
    ),
    status_code: perSource(
      6,
      {
        type: '32',
        sem: 'discrete',
        units: 'none',
        help: 'HTTP status of the last probe of a source',
        text: '0 for files and scripts, and if no server answered.',
      },
      ({ statusCode }) => statusCode,
    ),
    age: perSource(
      9,
      {
        type: 'double',
        sem: 'instant',
        units: 'sec',
        help: 'Age of the values of a source',
        text: 'Time since the last document. There is no value before the first one.',
      },
      ({ readMs }) => (readMs === undefined ? undefined : Math.max(0, clock() - readMs) / 1000),
    ),
    samples: perSource(
      10,
      { type: 'u32', sem: 'instant', units: 'count', help: 'Values in the last document of a source' },
      ({ samples }) => samples,
    ),
    bad_lines: perSource(
      11,
      {
        type: 'u32',
        sem: 'instant',
        units: 'count',
        help: 'Invalid lines in the last document of a source',
        text: "The first of them are explained in the agent's log. Other lines are not affected.",
      },
      ({ badLines }) => badLines,
    ),
  }
}

function switchRows(watch: SourceWatcher): AgentTables['metrics'] {
  return {
    debug: {
      item: 4,
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'Store 1 to log every probe, 0 to stop logging',
      value: () => (watch.isVerbose ? 1 : 0),
      isControl: true,
      store: (value) => {
        watch.isVerbose = Number(value) !== 0
      },
    },
    interval: {
      item: 7,
      type: 'double',
      sem: 'discrete',
      units: 'sec',
      help: 'Time between two probes of a source',
      text: `Sources are probed in the background, even if no client fetches their metrics, and a fetch returns the values of the last probe. Can be stored: from ${MIN_INTERVAL} seconds to a day.`,
      value: () => watch.intervalMs / 1000,
      isControl: true,
      store: (value) => {
        const seconds = Number(value)
        if (!(seconds >= MIN_INTERVAL && seconds <= MAX_INTERVAL))
          throw new PcpError(
            'PM_ERR_BADSTORE',
            `The interval must be between ${MIN_INTERVAL} and ${MAX_INTERVAL} seconds, not ${seconds}`,
          )
        watch.intervalMs = seconds * 1000
      },
    },
  }
}
