/** Reads the part of an archive's metadata that catalogues keep. */
import type { Archive } from '../../archive/archive.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL } from '../../model/ids.ts'
import { labelSetOf } from '../../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../../model/labels.ts'
import { metricId } from '../ids.ts'
import type { InstancesPart, LabelsPart, MetricsPart, PartPool } from './parts.ts'

/** Instances of a domain that are kept; those of domains with more, such as processes, are read from the archive. */
const MOST_INSTANCES = 2000

/** Returns the digest of an archive's catalogue, which is added to the pool. */
export function catalogueOf(archive: Archive, base: string, pool: PartPool): string {
  const { metadata, label } = archive
  const recorded = metadata.labels({ level: LABEL_CONTEXT, id: 0 }, undefined)
  // Archives recorded before labels existed have that of their host.
  const own = { name: 'hostname', value: JSON.stringify(label.hostname), flags: LABEL_CONTEXT }
  const context = recorded.length > 0 ? recorded : [labelSetOf([own])]
  const labels = new Map<string, readonly [number, number, readonly LabelsPart[]]>()
  const sets = (level: number, id: number): readonly LabelSet[] => {
    const found = metadata.labels({ level, id }, undefined)
    if (found.length > 0) labels.set(`${level} ${id}`, [level, id, found.map(stored)])
    return found
  }
  const metrics: MetricsPart[number][] = []
  const ids: Buffer[] = []
  const seen = new Set<string>()
  for (const name of metadata.traverse('')) {
    const pmid = metadata.lookup(name)
    const desc = typeof pmid === 'number' ? metadata.descs.get(pmid) : undefined
    if (desc === undefined) continue
    const { indom } = desc
    const all = [
      ...context,
      ...sets(LABEL_DOMAIN, domainOf(desc.pmid)),
      ...(indom === PM_INDOM_NULL ? [] : sets(LABEL_INDOM, indom)),
      ...sets(LABEL_CLUSTER, clusterId(desc.pmid)),
      ...sets(LABEL_ITEM, desc.pmid),
    ]
    const id = metricId(name, desc, all)
    if (seen.has(id)) continue
    seen.add(id)
    metrics.push([name, desc.pmid, desc.type, indom, desc.sem, desc.units])
    ids.push(Buffer.from(id, 'hex'))
  }
  let isWhole = true
  const indoms = [...metadata.indoms]
    .sort((a, b) => a - b)
    .map((indom): readonly [number, string | null] => {
      const instances = instancesOf(archive, indom)
      isWhole &&= instances.ids.length <= MOST_INSTANCES
      return [indom, instances.ids.length <= MOST_INSTANCES ? pool.add(instances) : null]
    })
  return pool.add({
    host: label.hostname,
    context: context.map(stored),
    metrics: pool.add(metrics),
    ids: Buffer.concat(ids).toString('base64'),
    labels: [...labels.values()],
    indoms,
    ...(isWhole ? {} : { archive: base }),
  })
}

/** Returns the instances that a domain ever had. */
export function instancesOf(archive: Archive, indom: Indom): InstancesPart {
  const { ids, names } = archive.metadata.instances(indom, undefined, undefined)
  const sets = archive.metadata.labels({ level: LABEL_INSTANCES, id: indom }, undefined)
  return { ids: [...ids], names: [...names], labels: sets.map(stored) }
}

function stored({ inst, labels }: LabelSet): LabelsPart {
  return [inst, labels.map(({ name, value, flags }) => [name, value, flags] as const)]
}
