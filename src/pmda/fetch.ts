/** Fetches the values of one metric from the agent's callbacks into the columns of a value set. */
import { PcpError, statusOf } from '../model/errors.ts'
import { type Indom, indomStr, PM_IN_NULL, PM_INDOM_NULL } from '../model/ids.ts'
import type { Ask } from '../model/source.ts'
import { PM_TYPE_NOSUPPORT } from '../model/types.ts'
import type { ValueSetWriter } from '../model/value-writer.ts'
import { emptySet, type Value, type ValueSet } from '../model/values.ts'
import { type AgentMetric, descOf } from './compile.ts'
import type { AgentInstanceDomain } from './indom.ts'
import type { MetricErrorLog } from './metric-error-log.ts'

/** Instances of a metric without instance domain. */
export const SINGULAR: Int32Array = Int32Array.of(PM_IN_NULL)
const APPVERSION: number = statusOf('PM_ERR_APPVERSION')
const CONV: number = statusOf('PM_ERR_CONV')

/** Shared by all fetches of an agent. */
export interface FetchTools {
  readonly writer: ValueSetWriter
  /** All domains, because `describe` may change a metric's domain. */
  readonly indoms: ReadonlyMap<Indom, AgentInstanceDomain>
  readonly reports: MetricErrorLog
}

/**
 * Fetches one metric. Never throws: errors become the status of the set. If some instances have a value, those without
 * are left out; if none has, the status is the result of the last callback: an error, or 0 for 'no value'.
 */
export function fetchMetric(metric: AgentMetric, ask: Ask, batch: object, tools: FetchTools): ValueSet {
  const { desc, indom, reading, isVisibleTo, begin } = metric
  try {
    const { type, indom: id } = descOf(metric)
    if (type === PM_TYPE_NOSUPPORT) return emptySet(desc.pmid, APPVERSION)
    if (isVisibleTo !== undefined && !isVisibleTo(ask)) return emptySet(desc.pmid)
    if (reading !== undefined) {
      reading.refresh(batch)
      const { error } = reading
      if (error !== undefined) {
        tools.reports.failure(metric.name, error)
        return emptySet(desc.pmid, error.status)
      }
    }
    begin?.(ask)
    const instances = id === desc.indom ? indom : otherIndom(metric, id, tools)
    const wanted = instances === undefined ? SINGULAR : instances.select(ask, batch)
    tools.writer.begin(desc.pmid, type)
    return fetchInstances(metric, wanted, ask, tools)
  } catch (thrown) {
    return emptySet(desc.pmid, tools.reports.thrown(metric.name, thrown).status)
  }
}

/** The domain returned by the metric's `describe`. */
function otherIndom(
  { name }: AgentMetric,
  id: Indom,
  { indoms }: FetchTools,
): AgentInstanceDomain | undefined {
  if (id === PM_INDOM_NULL) return undefined
  const indom = indoms.get(id)
  if (indom === undefined)
    throw new PcpError('PM_ERR_INDOM', `${name}: no instance domain ${indomStr(id)} in this agent`)
  return indom
}

function fetchInstances(metric: AgentMetric, wanted: Int32Array, ask: Ask, tools: FetchTools): ValueSet {
  const { desc, reportedAs, value } = metric
  const { writer, reports } = tools
  let count = 0
  let last = 0
  for (let i = 0; i < wanted.length; i++) {
    const inst = wanted[i]!
    const sample = value(inst, ask)
    if (sample === undefined) {
      last = 0
    } else if (sample instanceof PcpError) {
      last = sample.status
      reports.failure(metric.name, sample)
    } else {
      last = add(metric, reportedAs === undefined ? inst : reportedAs(inst), sample, tools)
      if (last === 0) count++
    }
  }
  return count === 0 ? emptySet(desc.pmid, last) : writer.end()
}

/** Adds a value to the set being written. Returns 0, or PM_ERR_CONV for a value of the wrong type. */
function add(metric: AgentMetric, inst: number, sample: Value, tools: FetchTools): number {
  try {
    tools.writer.add(inst, sample)
    return 0
  } catch (thrown) {
    const error = tools.reports.thrown(metric.name, thrown)
    return error.code === 'PM_ERR_TYPE' ? CONV : error.status
  }
}
