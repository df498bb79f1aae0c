/** The label sets that identify sources, metrics and instances of an archive. */
import type { Metadata } from '../archive/metadata.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { labelSetOf } from '../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'

/** What series need of an archive's metadata. */
export type SeriesMetadata = Pick<Metadata, 'descs' | 'labels' | 'lookup' | 'snapshotAt' | 'traverse'>

/** Returns the labels of the context. Archives recorded before labels existed have that of their host. */
export function contextLabels(metadata: SeriesMetadata, host: string): readonly LabelSet[] {
  const recorded = metadata.labels({ level: LABEL_CONTEXT, id: 0 }, undefined)
  if (recorded.length > 0) return recorded
  return [labelSetOf([{ name: 'hostname', value: JSON.stringify(host), flags: LABEL_CONTEXT }])]
}

/** Returns the sets of a metric in order of increasing precedence. */
export function metricLabels(
  metadata: SeriesMetadata,
  context: readonly LabelSet[],
  id: Pmid,
  indom: Indom,
): readonly LabelSet[] {
  const at = (level: number, of: number): readonly LabelSet[] => metadata.labels({ level, id: of }, undefined)
  return [
    ...context,
    ...at(LABEL_DOMAIN, domainOf(id)),
    ...(indom === PM_INDOM_NULL ? [] : at(LABEL_INDOM, indom)),
    ...at(LABEL_CLUSTER, clusterId(id)),
    ...at(LABEL_ITEM, id),
  ]
}

/** Returns the own sets of the instances of a domain, by number. */
export function instanceLabels(metadata: SeriesMetadata, indom: Indom): ReadonlyMap<number, LabelSet> {
  const sets = metadata.labels({ level: LABEL_INSTANCES, id: indom }, undefined)
  return new Map(sets.map((set) => [set.inst, set]))
}
