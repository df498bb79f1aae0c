/** The values of one metric: from the agent's callbacks into the columns of a value set. */
import { PcpError, statusOf } from '../model/errors.ts'
import { type Indom, indomStr, PM_IN_NULL, PM_INDOM_NULL } from '../model/ids.ts'
import type { Ask } from '../model/source.ts'
import { PM_TYPE_NOSUPPORT } from '../model/types.ts'
import type { ValueSetWriter } from '../model/value-writer.ts'
import { emptySet, type Value, type ValueSet } from '../model/values.ts'
import { type AgentMetric, descOf } from './compile.ts'
import type { AgentIndom } from './indom.ts'
import type { Reports } from './reports.ts'

/** The one 'instance' of a metric without instance domain. */
export const SINGULAR: Int32Array = Int32Array.of(PM_IN_NULL)
const APPVERSION: number = statusOf('PM_ERR_APPVERSION')
const CONV: number = statusOf('PM_ERR_CONV')

/** What fetches of one agent share. */
export interface FetchTools {
  readonly writer: ValueSetWriter
  /** All domains: a metric may change which is its own. */
  readonly indoms: ReadonlyMap<Indom, AgentIndom>
  readonly reports: Reports
}

/**
 * Fetches one metric. Never throws: what fails becomes the status of the set. When some instances have a value those
 * without one are left out; when none has, the status is what the last callback said: an error, or 0 for 'no value'.
 */
export function fetchMetric(metric: AgentMetric, ask: Ask, moment: object, tools: FetchTools): ValueSet {
  const { desc, indom, reading, isShown, begin } = metric
  try {
    const { type, indom: id } = descOf(metric)
    if (type === PM_TYPE_NOSUPPORT) return emptySet(desc.pmid, APPVERSION)
    if (isShown !== undefined && !isShown(ask)) return emptySet(desc.pmid)
    if (reading !== undefined) {
      reading.refresh(moment)
      const { error } = reading
      if (error !== undefined) {
        tools.reports.failure(metric.name, error)
        return emptySet(desc.pmid, error.status)
      }
    }
    begin?.(ask)
    const instances = id === desc.indom ? indom : otherIndom(metric, id, tools)
    const wanted = instances === undefined ? SINGULAR : instances.select(ask, moment)
    tools.writer.begin(desc.pmid, type)
    return fetchInstances(metric, wanted, ask, tools)
  } catch (thrown) {
    return emptySet(desc.pmid, tools.reports.thrown(metric.name, thrown).status)
  }
}

/** The domain that `describe` gave a metric. */
function otherIndom({ name }: AgentMetric, id: Indom, { indoms }: FetchTools): AgentIndom | undefined {
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

/** Adds a value to the set being written. Status: 0, or PM_ERR_CONV when the callback gave a value of another type. */
function add(metric: AgentMetric, inst: number, sample: Value, tools: FetchTools): number {
  try {
    tools.writer.add(inst, sample)
    return 0
  } catch (thrown) {
    const error = tools.reports.thrown(metric.name, thrown)
    return error.code === 'PM_ERR_TYPE' ? CONV : error.status
  }
}
