/** The series of all metrics of one source, as its metadata changes. */
import type { FollowedMetadata, FollowedMetric, MetadataChange } from '../archive/follow/metadata.ts'
import type { RecordView } from '../archive/record-view.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { clusterId, domainOf, type Indom, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { labelSetOf, mergeLabelSets } from '../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'
import { instanceLabels, prometheusLabels } from '../model/prometheus-names.ts'
import { PM_TYPE_DOUBLE } from '../model/types.ts'
import type { FetchResult } from '../model/values.ts'
import type { Batch } from './batch.ts'
import { MetricSeries, type SeriesMaker, type Unsent } from './metric-series.ts'
import { type Family, familyOf, seriesOf } from './series.ts'

/** The present metadata of a source. */
export type SourceMetadata = Pick<FollowedMetadata, 'metrics' | 'indoms' | 'labels'>

/** Selects the series of a source. */
export interface SeriesOptions {
  /** Returns whether a metric is sent. */
  readonly isWanted: (metric: string) => boolean
  /** Labels of all series, below those of the source. */
  readonly labels: ReadonlyMap<string, string>
}

/** A metric that is sent under each of its names. */
interface SentMetric {
  readonly metric: FollowedMetric
  readonly byName: Map<string, MetricSeries>
}

/** See above. */
export class SourceSeries {
  readonly #metadata: SourceMetadata
  readonly #options: SeriesOptions
  readonly #hostname: string
  readonly #unsent: Unsent
  readonly #metrics = new Map<Pmid, SentMetric>()
  readonly #helps: Map<Pmid, string>
  /** Names of instances after the last change of each domain. */
  readonly #names = new Map<Indom, ReadonlyMap<number, string>>()

  /**
   * `helps` are texts known before; with `isContinued`, the metrics of the metadata are assumed to have had values of all present
   * instances.
   */
  constructor(
    metadata: SourceMetadata,
    hostname: string,
    options: SeriesOptions,
    unsent: Unsent,
    { helps = new Map(), isContinued = false }: { helps?: Map<Pmid, string>; isContinued?: boolean } = {},
  ) {
    this.#metadata = metadata
    this.#hostname = hostname
    this.#options = options
    this.#unsent = unsent
    this.#helps = helps
    for (const [indom, names] of metadata.indoms) this.#names.set(indom, new Map(names))
    for (const metric of metadata.metrics.values()) {
      this.#add(metric)
      if (!isContinued) continue
      const insts = metadata.indoms.get(metric.desc.indom)?.keys() ?? []
      for (const each of this.#metrics.get(metric.desc.pmid)?.byName.values() ?? []) each.assume(insts)
    }
  }

  /** Number of series that have not ended. */
  get size(): number {
    let size = 0
    for (const { byName } of this.#metrics.values()) for (const each of byName.values()) size += each.size
    return size
  }

  /** Applies a change that the metadata has already. */
  change(change: MetadataChange): void {
    if (change.kind === 'metric') this.#add(change)
    else if (change.kind === 'instances') this.#recheck(change.indom)
    else if (change.kind === 'labels') this.#remake((desc) => isOf(change.level, change.id, desc))
    else if (change.of === 'metric' && change.level === 'oneline') this.#help(change.id, change.text)
  }

  /** Adds the values of a record. */
  take(record: RecordView, batch: Batch): void {
    const ms = millis(record)
    for (let s = 0; s < record.count; s++) {
      const sent = this.#metrics.get(record.pmids[s]!)
      if (sent === undefined || sent.byName.size === 0) continue
      const set = record.toSet(s)
      for (const each of sent.byName.values()) each.take(set, ms, batch)
    }
  }

  /** Adds the values of a fetch. */
  takeResult({ timestamp, sets }: FetchResult, batch: Batch): void {
    const ms = millis(timestamp)
    for (const set of sets)
      for (const each of this.#metrics.get(set.pmid)?.byName.values() ?? []) each.take(set, ms, batch)
  }

  /** Ends all series, at a mark or the end of an archive. */
  end(at: Timestamp, batch: Batch): void {
    const ms = millis(at)
    for (const { byName } of this.#metrics.values()) for (const each of byName.values()) each.end(ms, batch)
  }

  #add(metric: FollowedMetric): void {
    const { desc, names } = metric
    if (desc.type > PM_TYPE_DOUBLE || desc.type < 0) return
    const byName = this.#metrics.get(desc.pmid)?.byName ?? new Map<string, MetricSeries>()
    for (const name of names) {
      if (byName.has(name) || !this.#options.isWanted(name)) continue
      byName.set(name, new MetricSeries(desc, this.#maker(metric, name), this.#unsent))
    }
    this.#metrics.set(desc.pmid, { metric, byName })
  }

  /** Rechecks the instances of a domain whose names have changed. */
  #recheck(changed: Indom): void {
    const now = this.#metadata.indoms.get(changed) ?? new Map<number, string>()
    const before = this.#names.get(changed)
    this.#names.set(changed, new Map(now))
    const renamed = [...(before ?? [])].filter(([id, name]) => now.get(id) !== name).map(([id]) => id)
    if (renamed.length === 0) return
    for (const { metric, byName } of this.#metrics.values())
      if (metric.desc.indom === changed) for (const each of byName.values()) each.recheck(renamed)
  }

  #help(id: Pmid, text: string): void {
    this.#helps.set(id, text)
    this.#remake(({ pmid }) => pmid === id)
  }

  #remake(isConcerned: (desc: FollowedMetric['desc']) => boolean): void {
    for (const { metric, byName } of this.#metrics.values()) {
      if (!isConcerned(metric.desc)) continue
      for (const [name, each] of byName) each.remake(this.#maker(metric, name))
    }
  }

  /** Returns what makes the series of a metric with its present names and labels, which are looked up with the first. */
  #maker({ desc }: FollowedMetric, name: string): SeriesMaker {
    let known: { readonly family: Family; readonly base: ReadonlyMap<string, string> } | undefined
    let sets: ReadonlyMap<number, LabelSet> | undefined
    return (id) => {
      known ??= {
        family: familyOf(name, desc, this.#helps.get(desc.pmid) ?? ''),
        base: new Map([...this.#options.labels, ...prometheusLabels(this.#labels(desc.pmid, desc.indom))]),
      }
      const { family, base } = known
      if (desc.indom === PM_INDOM_NULL) return seriesOf(family, base)
      sets ??= new Map(this.#metadata.labels(LABEL_INSTANCES, desc.indom).map((set) => [set.inst, set]))
      const instance = this.#metadata.indoms.get(desc.indom)?.get(id)
      return seriesOf(
        family,
        instanceLabels(base, { id, name: instance, labels: sets.get(id)?.labels ?? [] }),
      )
    }
  }

  /** Returns the merged labels of a metric. */
  #labels(id: Pmid, indom: Indom): ReturnType<typeof mergeLabelSets>['labels'] {
    const at = (level: number, of: number): readonly LabelSet[] => this.#metadata.labels(level, of)
    // Archives without labels have at least that of their host.
    const own = { name: 'hostname', value: JSON.stringify(this.#hostname), flags: LABEL_CONTEXT }
    return mergeLabelSets([
      labelSetOf([own]),
      ...at(LABEL_CONTEXT, 0),
      ...at(LABEL_DOMAIN, domainOf(id)),
      ...(indom === PM_INDOM_NULL ? [] : at(LABEL_INDOM, indom)),
      ...at(LABEL_CLUSTER, clusterId(id)),
      ...at(LABEL_ITEM, id),
    ]).labels
  }
}

/** Returns whether labels of an object apply to a metric. */
function isOf(level: number, id: number, { pmid, indom }: FollowedMetric['desc']): boolean {
  if (level === LABEL_DOMAIN) return domainOf(pmid) === id
  if (level === LABEL_CLUSTER) return clusterId(pmid) === id
  if (level === LABEL_ITEM) return pmid === id
  return level === LABEL_CONTEXT || indom === id
}

function millis({ sec, nsec }: Pick<Timestamp, 'sec' | 'nsec'>): number {
  return sec * 1000 + Math.floor(nsec / 1e6)
}
