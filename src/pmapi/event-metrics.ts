/** The two metrics every context has besides those of its source: they name the fields of event records. pmUnpackEventRecords(3) */
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import { LABEL_CLUSTER, LABEL_DOMAIN, LABEL_ITEM } from '../model/labels.ts'
import { layer } from '../model/layer.ts'
import type { Ask, Child, LabelQuery, MetricSource, TextQuery } from '../model/source.ts'
import { PM_SEM_DISCRETE, PM_TYPE_U32 } from '../model/types.ts'
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'

interface EventMetric {
  readonly pmid: Pmid
  readonly oneline: string
  readonly help: string
}

const PARENT = 'event'

const EVENT_METRICS: ReadonlyMap<string, EventMetric> = new Map([
  [
    'event.flags',
    {
      pmid: pmid(DOMAIN_RESERVED, 0, 1),
      oneline: 'Flags of an event record',
      help: 'Stands for the flags of an event record when the record is unpacked into values: point,\nstart, end, id, parent and missed. It has no value of its own.',
    },
  ],
  [
    'event.missed',
    {
      pmid: pmid(DOMAIN_RESERVED, 0, 2),
      oneline: 'Number of event records that were lost',
      help: 'Stands for the number of event records that could not be kept until they were asked for,\nwhere a record says that others are missing. It has no value of its own.',
    },
  ],
])

const byPmid = new Map<Pmid, string>([...EVENT_METRICS].map(([name, metric]) => [metric.pmid, name]))

function descOf(id: Pmid): MetricDesc {
  return { pmid: id, type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: PM_SEM_DISCRETE, units: 0 }
}

/** Adds `event.flags` and `event.missed` to what a source knows. Their names come after the source's own. */
export function withEventMetrics(source: MetricSource): MetricSource {
  return layer(source, {
    children: (name, ask) => children(source, name, ask),
    traverse: (name, ask) => traverse(source, name, ask),
    lookupNames: (names, ask) => lookupNames(source, names, ask),
    lookupId: async (id, ask) => {
      const name = byPmid.get(id)
      return name === undefined ? source.lookupId(id, ask) : [name]
    },
    descs: (ids, ask) => descs(source, ids, ask),
    text: async (query, ask) => ownText(query) ?? source.text(query, ask),
    labels: async (query, ask) => (isOwnLabel(query) ? [] : source.labels(query, ask)),
    fetch: (ids, ask) => fetch(source, ids, ask),
  })
}

function ownText(query: TextQuery): string | undefined {
  const name = query.kind === 'metric' ? byPmid.get(query.id) : undefined
  return name === undefined ? undefined : EVENT_METRICS.get(name)![query.level]
}

/** Is this about the domain of the event metrics, which no agent has? */
function isOwnLabel({ level, id }: LabelQuery): boolean {
  if (level === LABEL_DOMAIN) return id === DOMAIN_RESERVED
  return (level === LABEL_CLUSTER || level === LABEL_ITEM) && domainOf(id) === DOMAIN_RESERVED
}

async function children(source: MetricSource, name: string, ask: Ask): Promise<readonly Child[]> {
  if (EVENT_METRICS.has(name)) return []
  if (name === PARENT) {
    const own = [...EVENT_METRICS.keys()].map((full) => ({
      name: full.slice(PARENT.length + 1),
      isLeaf: true,
    }))
    return [...(await unlessUnknown(source.children(name, ask))), ...own]
  }
  const found = await source.children(name, ask)
  if (name !== '' || found.some((child) => child.name === PARENT)) return found
  return [...found, { name: PARENT, isLeaf: false }]
}

async function traverse(source: MetricSource, name: string, ask: Ask): Promise<readonly string[]> {
  if (EVENT_METRICS.has(name)) return [name]
  if (name === PARENT) return [...(await unlessUnknown(source.traverse(name, ask))), ...EVENT_METRICS.keys()]
  const found = await source.traverse(name, ask)
  return name === '' ? [...found, ...EVENT_METRICS.keys()] : found
}

async function unlessUnknown<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_NAME') return []
    throw error
  }
}

async function lookupNames(
  source: MetricSource,
  names: readonly string[],
  ask: Ask,
): Promise<readonly Outcome<Pmid>[]> {
  if (!names.some((name) => name === PARENT || EVENT_METRICS.has(name))) return source.lookupNames(names, ask)
  const theirs = names.filter((name) => !EVENT_METRICS.has(name))
  const found = theirs.length === 0 ? [] : await source.lookupNames(theirs, ask)
  let next = 0
  return names.map((name) => {
    const own = EVENT_METRICS.get(name)?.pmid
    if (own !== undefined) return own
    const outcome = found[next++]!
    return name === PARENT && outcome instanceof PcpError ? new PcpError('PM_ERR_NONLEAF') : outcome
  })
}

async function descs(
  source: MetricSource,
  ids: readonly Pmid[],
  ask: Ask,
): Promise<readonly Outcome<MetricDesc>[]> {
  if (!ids.some((id) => byPmid.has(id))) return source.descs(ids, ask)
  const theirs = ids.filter((id) => !byPmid.has(id))
  const found = theirs.length === 0 ? [] : await source.descs(theirs, ask)
  let next = 0
  return ids.map((id) => (byPmid.has(id) ? descOf(id) : found[next++]!))
}

async function fetch(source: MetricSource, ids: readonly Pmid[], ask: Ask): Promise<FetchResult> {
  if (!ids.some((id) => byPmid.has(id))) return source.fetch(ids, ask)
  const theirs = ids.filter((id) => !byPmid.has(id))
  // A fetch needs a metric: one of ours then stands for 'nothing' and its answer is dropped.
  const result = await source.fetch(theirs.length === 0 ? [ids[0]!] : theirs, ask)
  let next = 0
  const sets = ids.map((id): ValueSet => (byPmid.has(id) ? emptySet(id) : result.sets[next++]!))
  return { ...result, sets }
}
