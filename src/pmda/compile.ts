/** The tables of an agent as they are used: by PMID and by indom, with everything worked out once. */
import type { MetricDesc } from '../model/desc.ts'
import { type Indom, indom, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import type { AgentTables, IndomSpec, MetricSpec } from './define.ts'
import { AgentIndom } from './indom.ts'
import { SEMANTICS, TYPES, unitsWord } from './type-tables.ts'

/** A metric as it is fetched. */
export interface AgentMetric {
  readonly name: string
  /** As the table has it; `descOf` says what it is now. */
  readonly desc: MetricDesc
  readonly spec: MetricSpec
  /** Undefined for a metric with one value. */
  readonly indom: AgentIndom | undefined
  /**
   * What each fetch wants of `spec`. Rows are objects of many shapes, in which looking something up costs ten times as much.
   */
  readonly reading: MetricSpec['reading']
  readonly isShown: MetricSpec['isShown']
  readonly ahead: MetricSpec['ahead']
  readonly begin: MetricSpec['begin']
  readonly describe: MetricSpec['describe']
  readonly reportedAs: MetricSpec['reportedAs']
  readonly value: MetricSpec['value']
}

/** The tables of an open agent. */
export interface CompiledAgent {
  readonly domain: number
  readonly tables: AgentTables
  /** In table order. */
  readonly metrics: ReadonlyMap<Pmid, AgentMetric>
  readonly indoms: ReadonlyMap<Indom, AgentIndom>
  /** Does any instance domain label its instances? */
  readonly hasInstanceLabels: boolean
}

/** The descriptor of a metric now. Throws what its `describe` throws. */
export function descOf(metric: AgentMetric): MetricDesc {
  const { describe } = metric
  return describe === undefined ? metric.desc : describe(metric.desc)
}

/** Works out identifiers, descriptors and look-up tables of tables that `checkTables` accepted. */
export function compile(domain: number, tables: AgentTables): CompiledAgent {
  const metrics = new Map<Pmid, AgentMetric>()
  const indoms = new Map<Indom, AgentIndom>()
  const indomOf = (spec: IndomSpec): AgentIndom => {
    const id = indom(domain, spec.serial)
    const known = indoms.get(id) ?? new AgentIndom(id, spec)
    indoms.set(id, known)
    return known
  }
  for (const [name, spec] of Object.entries(tables.metrics)) {
    if ('alias' in spec) continue
    const id = pmid(domain, spec.cluster ?? 0, spec.item)
    const instances = spec.indom === undefined ? undefined : indomOf(spec.indom)
    const desc: MetricDesc = {
      pmid: id,
      type: TYPES[spec.type],
      indom: instances?.id ?? PM_INDOM_NULL,
      sem: SEMANTICS[spec.sem],
      units: unitsWord(name, spec.units),
    }
    const { reading, isShown, ahead, begin, describe, reportedAs, value } = spec
    metrics.set(id, {
      name,
      desc,
      spec,
      indom: instances,
      reading,
      isShown,
      ahead,
      begin,
      describe,
      reportedAs,
      value,
    })
  }
  for (const spec of tables.indoms ?? []) indomOf(spec)
  const hasInstanceLabels = [...indoms.values()].some(
    ({ spec }) => spec.instanceLabels !== undefined || spec.instanceNotes !== undefined,
  )
  return { domain, tables, metrics, indoms, hasInstanceLabels }
}
