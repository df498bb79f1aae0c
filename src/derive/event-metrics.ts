/** The two metrics of every context that name the fields of event records. pmUnpackEventRecords(3) */
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError } from '../model/errors.ts'
import { DOMAIN_RESERVED, domainOf, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import { LABEL_CLUSTER, LABEL_DOMAIN, LABEL_ITEM } from '../model/labels.ts'
import { overrideSource } from '../model/layer.ts'
import type { LabelQuery, MetricSource, TextQuery } from '../model/source.ts'
import { PM_SEM_DISCRETE, PM_TYPE_U32 } from '../model/types.ts'
import { emptySet } from '../model/values.ts'
import { mergedChildren, mergedTraverse } from './names.ts'

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
      help: 'Names the flags of an event record when the record is unpacked into values: point,\nstart, end, id, parent and missed. It never has values itself.',
    },
  ],
  [
    'event.missed',
    {
      pmid: pmid(DOMAIN_RESERVED, 0, 2),
      oneline: 'Number of event records that were lost',
      help: 'Names the number of lost event records, which were discarded before a client\nfetched them, when a record of them is unpacked. It never has values itself.',
    },
  ],
])

const NAMES = [...EVENT_METRICS.keys()]
const nameOf = new Map<Pmid, string>([...EVENT_METRICS].map(([name, metric]) => [metric.pmid, name]))

function descOf(id: Pmid): MetricDesc | undefined {
  if (!nameOf.has(id)) return undefined
  return { pmid: id, type: PM_TYPE_U32, indom: PM_INDOM_NULL, sem: PM_SEM_DISCRETE, units: 0 }
}

/** Adds `event.flags` and `event.missed` to a source. Their names follow the source's own. */
export function withEventMetrics(source: MetricSource): MetricSource {
  return overrideSource(source, {
    children: async (name, ask) =>
      EVENT_METRICS.has(name) ? [] : mergedChildren(name, NAMES, () => source.children(name, ask)),
    traverse: async (name, ask) =>
      EVENT_METRICS.has(name) ? [name] : mergedTraverse(name, NAMES, () => source.traverse(name, ask)),
    lookupNames: async (names, ask) => {
      const idOf = (name: string): Pmid | undefined => EVENT_METRICS.get(name)?.pmid
      const found = await besides(names, idOf, (others) => source.lookupNames(others, ask))
      return found.map((outcome, i) =>
        names[i] === PARENT && isError(outcome) ? new PcpError('PM_ERR_NONLEAF') : outcome,
      )
    },
    lookupId: async (id, ask) => {
      const name = nameOf.get(id)
      return name === undefined ? source.lookupId(id, ask) : [name]
    },
    descs: (ids, ask) => besides(ids, descOf, (others) => source.descs(others, ask)),
    text: async (query, ask) => ownText(query) ?? source.text(query, ask),
    labels: async (query, ask) => (isOwnLabel(query) ? [] : source.labels(query, ask)),
    fetch: async (ids, ask) => {
      const others = ids.filter((id) => !nameOf.has(id))
      // Sources reject an empty fetch, so one of these metrics is fetched and its answer dropped.
      const result = await source.fetch(others.length === 0 ? ids.slice(0, 1) : others, ask)
      let next = 0
      return { ...result, sets: ids.map((id) => (nameOf.has(id) ? emptySet(id) : result.sets[next++]!)) }
    },
  })
}

/** Returns `own` of each item or, if that is undefined, the answer of `ask`, which is called once with all such items. */
async function besides<I, O>(
  items: readonly I[],
  own: (item: I) => O | undefined,
  ask: (others: readonly I[]) => Promise<readonly O[]>,
): Promise<readonly O[]> {
  const answers = items.map(own)
  const others = items.filter((_, i) => answers[i] === undefined)
  const found = others.length === 0 ? [] : await ask(others)
  let next = 0
  return answers.map((answer) => answer ?? found[next++]!)
}

function ownText(query: TextQuery): string | undefined {
  const name = query.kind === 'metric' ? nameOf.get(query.id) : undefined
  return name === undefined ? undefined : EVENT_METRICS.get(name)![query.level]
}

/** Returns whether a query concerns the domain of the event metrics, which no agent has. */
function isOwnLabel({ level, id }: LabelQuery): boolean {
  if (level === LABEL_DOMAIN) return id === DOMAIN_RESERVED
  return (level === LABEL_CLUSTER || level === LABEL_ITEM) && domainOf(id) === DOMAIN_RESERVED
}
