/** Fetches derived metrics: fetches their operands and evaluates them. docs/reference/derived-metrics.md */
import { isError, type Outcome, PcpError } from '../model/errors.ts'
import { type Pmid, pmidStr } from '../model/ids.ts'
import { includesInstance } from '../model/profile.ts'
import type { Ask, MetricSource, Requester } from '../model/source.ts'
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'
import type { Binding } from './bound.ts'
import type { BoundMetric, BoundMetrics } from './bound-metrics.ts'
import { setOf } from './column.ts'
import { evaluate } from './evaluate.ts'
import type { Previous } from './history.ts'
import { PatternWork } from './instance-patterns.ts'
import { traceValues } from './trace.ts'

/** State of one requester's metrics between fetches; valid only for the binding that made it. */
export type History = Map<Pmid, { readonly binding: Binding; readonly slots: (Previous | undefined)[] }>

/** State of metrics for each requester. */
export class Histories {
  readonly #byClient = new Map<number, Map<number, History>>()

  /** Returns the history of a requester, created on first use. */
  of({ client, context }: Requester): History {
    let contexts = this.#byClient.get(client)
    if (contexts === undefined) {
      contexts = new Map()
      this.#byClient.set(client, contexts)
    }
    let history = contexts.get(context)
    if (history === undefined) {
      history = new Map()
      contexts.set(context, history)
    }
    return history
  }

  /** Forgets the state of one requester, or all. */
  forget(requester?: Requester): void {
    if (requester === undefined) this.#byClient.clear()
    else this.#byClient.get(requester.client)?.delete(requester.context)
  }

  /** Forgets the state of a client. */
  endClient(client: number): void {
    this.#byClient.delete(client)
  }
}

/** Instances looked up for one result. */
interface Lookups {
  readonly names: Map<number, ReadonlyMap<number, string>>
  readonly lists: Map<number, Outcome<Int32Array>>
  readonly patterns: PatternWork
}

/** Fetches metrics, some of which are derived and bound. */
export async function fetchDerived(
  source: MetricSource,
  metrics: BoundMetrics,
  history: History,
  ids: readonly Pmid[],
  ask: Ask,
): Promise<FetchResult> {
  const derived = ids.filter((id) => metrics.definition(id) !== undefined)
  const bound = new Map(derived.map((id) => [id, metrics.bound(id)]))
  const asked = new Set(ids.filter((id) => !bound.has(id)))
  for (const metric of bound.values())
    if (!isError(metric)) for (const operand of metric.binding.operands) asked.add(operand)
  const fetched = [...asked]
  // A fetch needs a metric: without operands, a metric unknown to the source yields only the timestamp.
  const result = await source.fetch(fetched.length === 0 ? [ids[0]!] : fetched, ask)
  const sets = new Map<Pmid, ValueSet>()
  for (const [i, id] of fetched.entries()) sets.set(id, result.sets[i]!)
  if (metrics.isStale) {
    // The values are those of the new agents already. Operands that were not fetched have no values this time.
    await metrics.bindAll(derived, ask)
    for (const id of derived) bound.set(id, metrics.bound(id))
  }
  const lookups = await lookUp(source, bound, sets, ask)
  for (const [id, metric] of bound) {
    const set = valuesOf(id, metric, history, sets, result, lookups)
    sets.set(id, set)
    if (metrics.isTraced)
      traceValues(metrics.definition(id)?.name ?? pmidStr(id), set, isError(metric) ? -1 : metric.desc.type)
  }
  return { ...result, sets: ids.map((id) => sets.get(id)!) }
}

function valuesOf(
  id: Pmid,
  metric: Outcome<BoundMetric>,
  history: History,
  sets: ReadonlyMap<Pmid, ValueSet>,
  { timestamp }: FetchResult,
  { names, lists, patterns }: Lookups,
): ValueSet {
  // A metric that cannot be bound is unknown here.
  if (isError(metric)) return emptySet(id, new PcpError('PM_ERR_PMID').status)
  const { binding } = metric
  let memory = history.get(id)
  if (memory?.binding !== binding) {
    memory = { binding, slots: new Array<undefined>(binding.slots).fill(undefined) }
    history.set(id, memory)
  }
  const column = evaluate(binding.root, {
    timestamp,
    setOf: (operand) => sets.get(operand) ?? emptySet(operand),
    namesOf: (indom) => names.get(indom) ?? new Map<number, string>(),
    instancesOf: (indom) => lists.get(indom) ?? new PcpError('PM_ERR_INDOM'),
    patterns,
    slots: memory.slots,
  })
  return setOf(column, id)
}

async function lookUp(
  source: MetricSource,
  bound: ReadonlyMap<Pmid, Outcome<BoundMetric>>,
  sets: ReadonlyMap<Pmid, ValueSet>,
  ask: Ask,
): Promise<Lookups> {
  const lookups: Lookups = { names: new Map(), lists: new Map(), patterns: new PatternWork() }
  for (const metric of bound.values()) {
    if (isError(metric)) continue
    const hasValues = metric.binding.operands.some((id) => (sets.get(id)?.status ?? 0) > 0)
    for (const indom of metric.named) {
      if (!hasValues || lookups.names.has(indom)) continue
      lookups.names.set(indom, await namesIn(source, indom, ask))
    }
    for (const indom of metric.listed)
      if (!lookups.lists.has(indom)) lookups.lists.set(indom, await instancesIn(source, indom, ask))
  }
  return lookups
}

/** Errors that concern the domain only. */
const NAMELESS: ReadonlySet<string> = new Set([
  'PM_ERR_INDOM',
  'PM_ERR_INDOM_LOG',
  'PM_ERR_NOAGENT',
  'PM_ERR_AGAIN',
  'PM_ERR_PMDANOTREADY',
  'PM_ERR_PMID',
])

/** Returns the names of a domain's instances; none for an unknown domain, because instances without a name are skipped. */
async function namesIn(source: MetricSource, indom: number, ask: Ask): Promise<ReadonlyMap<number, string>> {
  try {
    const { ids, names } = await source.instances(indom, undefined, ask)
    return new Map(ids.map((id, i) => [id, names[i]!]))
  } catch (error) {
    if (!NAMELESS.has(PcpError.from(error).code)) throw error
    return new Map()
  }
}

async function instancesIn(source: MetricSource, indom: number, ask: Ask): Promise<Outcome<Int32Array>> {
  try {
    const { ids } = await source.instances(indom, undefined, ask)
    return Int32Array.from(ids.filter((id) => includesInstance(ask.requester.profile, indom, id)))
  } catch (error) {
    return PcpError.from(error)
  }
}
