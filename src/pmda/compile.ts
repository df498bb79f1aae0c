/** The tables of an agent indexed by PMID and instance domain, with everything precomputed. */
import type { MetricDesc } from '../model/desc.ts'
import { type Indom, indom, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import type { AgentTables, IndomSpec, MetricSpec } from './define.ts'
import { AgentInstanceDomain } from './indom.ts'
import { SEMANTICS, TYPES, unitsWord } from './type-tables.ts'

/** A metric of an open agent. */
export interface AgentMetric {
  readonly name: string
  /** From the table; `descOf` returns the current one. */
  readonly desc: MetricDesc
  readonly spec: MetricSpec
  /** Undefined for a metric with one value. */
  readonly indom: AgentInstanceDomain | undefined
  /** Copied from `spec` for fetches: looking up a property in table rows, objects of many shapes, takes ten times as long. */
  readonly reading: MetricSpec['reading']
  readonly isVisibleTo: MetricSpec['isVisibleTo']
  readonly prefetch: MetricSpec['prefetch']
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
  readonly indoms: ReadonlyMap<Indom, AgentInstanceDomain>
  /** True if any instance domain labels its instances. */
  readonly hasInstanceLabels: boolean
}

/** Returns the current descriptor of a metric. Throws what its `describe` throws. */
export function descOf(metric: AgentMetric): MetricDesc {
  const { describe } = metric
  return describe === undefined ? metric.desc : describe(metric.desc)
}

/** Computes identifiers, descriptors and look-up tables of tables that `checkTables` accepted. */
export function compile(domain: number, tables: AgentTables): CompiledAgent {
  const metrics = new Map<Pmid, AgentMetric>()
  const indoms = new Map<Indom, AgentInstanceDomain>()
  const indomOf = (spec: IndomSpec): AgentInstanceDomain => {
    const id = indom(domain, spec.serial)
    const known = indoms.get(id) ?? new AgentInstanceDomain(id, spec)
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
    const { reading, isVisibleTo, prefetch, begin, describe, reportedAs, value } = spec
    metrics.set(id, {
      name,
      desc,
      spec,
      indom: instances,
      reading,
      isVisibleTo,
      prefetch: prefetch,
      begin,
      describe,
      reportedAs,
      value,
    })
  }
  for (const spec of tables.indoms ?? []) indomOf(spec)
  const hasInstanceLabels = [...indoms.values()].some(
    ({ spec }) => spec.instanceLabels !== undefined || spec.optionalInstanceLabels !== undefined,
  )
  return { domain, tables, metrics, indoms, hasInstanceLabels }
}
