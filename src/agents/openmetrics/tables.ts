/** Builds the tables of the agent from the sources. docs/reference/agents/openmetrics.md */
import { hostname } from 'node:os'
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import type { AgentTables, IndomSpec, Labels, MetricSpec } from '../../pmda/define.ts'
import { FreeNames } from '../lib/foreign-names.ts'
import type { NameTable } from './name-table.ts'
import type { SourceMetric } from './source.ts'
import { safeUrl, type WatchedSource } from './watch.ts'

/** The source has no values now, or not this one. */
const AGAIN = new PcpError('PM_ERR_AGAIN')
const GONE = new PcpError('PM_ERR_INST')

/** Returns the metrics of all sources. Names that conflict with earlier ones are left out and logged. */
export function sourceTables(
  root: string,
  sources: readonly WatchedSource[],
  controls: AgentTables['metrics'],
  log: (text: string) => void,
): Pick<AgentTables, 'metrics' | 'clusterLabels' | 'indoms'> {
  const names = new FreeNames()
  const metrics: { [name: string]: AgentTables['metrics'][string] } = {}
  const clusterLabels: { [cluster: number]: Labels } = {}
  for (const [name, spec] of Object.entries(controls)) {
    names.add(name)
    metrics[name] = spec
  }
  for (const watched of sources) {
    clusterLabels[watched.cluster] = labelsOf(watched)
    for (const metric of watched.source.metrics) {
      const name = `${root}.${watched.file.nickname}.${metric.metadata.name}`
      if (names.add(name)) metrics[name] = rowOf(watched, metric)
      else log(`${watched.file.path}: ${name} is left out: the name or a prefix of it is already a metric`)
    }
  }
  return { metrics, clusterLabels }
}

function rowOf(watched: WatchedSource, metric: SourceMetric): MetricSpec {
  const { item, metadata, values, help, instances, labels, notes } = metric
  const { cluster } = watched
  return {
    cluster,
    item,
    type: metadata.type,
    sem: metadata.sem,
    units: 'none',
    describe: (desc) => ({ ...desc, units: metadata.units }),
    help: 'A value exposed by an endpoint or a script',
    texts: help,
    labels,
    optionalLabels: notes,
    ...(instances === undefined ? {} : { indom: indomOf(watched, metric, instances) }),
    value: (inst) => {
      if (values.size === 0) return AGAIN
      return values.get(instances === undefined ? PM_IN_NULL : inst) ?? GONE
    },
  }
}

function indomOf({ cluster, file }: WatchedSource, metric: SourceMetric, table: NameTable): IndomSpec {
  return {
    serial: 4096 + cluster * 1024 + metric.item,
    instances: () => table.list(),
    help: 'Lines of one metric with different labels',
    labels: { source: file.nickname },
    instanceLabels: metric.instanceLabels,
    optionalInstanceLabels: (inst) => ({ instname: `${inst} ${table.nameOf(inst) ?? ''}` }),
  }
}

function labelsOf({ file, config }: WatchedSource): Labels {
  const source = file.nickname
  if (file.isScript) return { script: file.path, source }
  const host = /^https?:\/\/([^/?#]*)/.exec(safeUrl(config.url))?.[1] ?? 'localhost'
  return { hostname: host === 'localhost' ? hostname() : host, source, url: safeUrl(config.url) }
}
