/** The series of one archive: identifiers, names and labels, calculated from its metadata. */
import type { Archive } from '../../archive/archive.ts'
import { clusterId, domainOf, type Indom, indomStr, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
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
import { instanceId, metricId, sourceId } from '../ids.ts'
import type { SearchText, SeriesDesc, SeriesInstance } from '../store.ts'

/** A series of an archive. */
export interface CataloguedSeries {
  readonly id: string
  readonly name: string
  readonly pmid: Pmid
  readonly desc: SeriesDesc
}

/** An instance, and a series that has it. */
interface InstanceOf {
  readonly series: CataloguedSeries
  readonly inst: number
}

/** What one archive has. */
export class ArchiveCatalogue {
  readonly source: string
  readonly host: string
  /** By identifier. */
  readonly series: ReadonlyMap<string, CataloguedSeries>
  readonly #archive: Archive
  readonly #context: readonly LabelSet[]
  readonly #instances = new Map<string, readonly SeriesInstance[]>()
  #byInstance: ReadonlyMap<string, InstanceOf> | undefined

  /** The archive must stay open while the catalogue is used. */
  constructor(archive: Archive) {
    this.#archive = archive
    const { metadata, label } = archive
    this.host = label.hostname
    const recorded = metadata.labels({ level: LABEL_CONTEXT, id: 0 }, undefined)
    // Archives recorded before labels existed have that of their host.
    const own = { name: 'hostname', value: JSON.stringify(label.hostname), flags: LABEL_CONTEXT }
    this.#context = recorded.length > 0 ? recorded : [labelSetOf([own])]
    this.source = sourceId(this.#context, label.hostname)
    const series = new Map<string, CataloguedSeries>()
    for (const name of metadata.traverse('')) {
      const pmid = metadata.lookup(name)
      const desc = typeof pmid === 'number' ? metadata.descs.get(pmid) : undefined
      if (typeof pmid !== 'number' || desc === undefined) continue
      const id = metricId(name, desc, this.#setsOf(desc.pmid, desc.indom))
      series.set(id, { id, name, pmid, desc: { ...desc, source: this.source } })
    }
    this.series = series
  }

  /** Returns the instances that a series ever had; none for a metric without instance domain. */
  instances({ id, desc }: CataloguedSeries): readonly SeriesInstance[] {
    // A domain without values was never recorded.
    if (!this.#archive.metadata.indoms.includes(desc.indom)) return []
    const known = this.#instances.get(id)
    if (known !== undefined) return known
    const { ids, names } = this.#archive.metadata.instances(desc.indom, undefined, undefined)
    const sets = this.#setsOf(desc.pmid, desc.indom)
    const own = this.#instanceSets(desc.indom)
    const instances = ids.map((inst, i) => {
      const set = own.get(inst)
      const name = names[i]!
      return {
        id: instanceId(name, set === undefined ? sets : [...sets, set]),
        inst,
        name,
        source: this.source,
      }
    })
    this.#instances.set(id, instances)
    return instances
  }

  /** Returns the label sets of a series without instances, or of an instance; undefined if the identifier is of neither. */
  labelSets(id: string): readonly LabelSet[] | undefined {
    const series = this.series.get(id)
    if (series !== undefined) {
      const { pmid, indom } = series.desc
      return indom === PM_INDOM_NULL ? this.#setsOf(pmid, indom) : undefined
    }
    const instance = this.#instanceOf(id)
    if (instance === undefined) return undefined
    const { pmid, indom } = instance.series.desc
    const own = this.#instanceSets(indom).get(instance.inst)
    const sets = this.#setsOf(pmid, indom)
    return own === undefined ? sets : [...sets, own]
  }

  /** Returns the label sets of a series, with those of all of its instances. */
  allLabelSets({ desc }: CataloguedSeries): readonly LabelSet[] {
    const sets = this.#setsOf(desc.pmid, desc.indom)
    return desc.indom === PM_INDOM_NULL ? sets : [...sets, ...this.#instanceSets(desc.indom).values()]
  }

  /** Returns the help texts of metrics, instance domains and instances. */
  texts(): readonly SearchText[] {
    const { metadata } = this.#archive
    const textsOf = (kind: 'metric' | 'indom', id: number): Pick<SearchText, 'oneline' | 'help'> => ({
      oneline: metadata.text({ kind, id, level: 'oneline' }) ?? '',
      help: metadata.text({ kind, id, level: 'help' }) ?? '',
    })
    const texts: SearchText[] = []
    const seen = new Set<Indom>()
    for (const series of this.series.values()) {
      const { indom, pmid } = series.desc
      const domain = indom === PM_INDOM_NULL ? undefined : indomStr(indom)
      texts.push({ type: 'metric', name: series.name, indom: domain, ...textsOf('metric', pmid) })
      if (domain === undefined || seen.has(indom)) continue
      seen.add(indom)
      const about = textsOf('indom', indom)
      texts.push({ type: 'indom', name: domain, indom: domain, ...about })
      for (const { name } of this.instances(series))
        texts.push({ type: 'instance', name, indom: domain, ...about })
    }
    return texts
  }

  #instanceOf(id: string): InstanceOf | undefined {
    if (this.#byInstance === undefined) {
      const map = new Map<string, InstanceOf>()
      for (const series of this.series.values())
        for (const { id: of, inst } of this.instances(series)) map.set(of, { series, inst })
      this.#byInstance = map
    }
    return this.#byInstance.get(id)
  }

  /** Returns the sets of a metric in order of increasing precedence. */
  #setsOf(id: Pmid, indom: Indom): readonly LabelSet[] {
    const { metadata } = this.#archive
    const at = (level: number, of: number): readonly LabelSet[] =>
      metadata.labels({ level, id: of }, undefined)
    return [
      ...this.#context,
      ...at(LABEL_DOMAIN, domainOf(id)),
      ...(indom === PM_INDOM_NULL ? [] : at(LABEL_INDOM, indom)),
      ...at(LABEL_CLUSTER, clusterId(id)),
      ...at(LABEL_ITEM, id),
    ]
  }

  #instanceSets(indom: Indom): ReadonlyMap<number, LabelSet> {
    const sets = this.#archive.metadata.labels({ level: LABEL_INSTANCES, id: indom }, undefined)
    return new Map(sets.map((set) => [set.inst, set]))
  }
}
