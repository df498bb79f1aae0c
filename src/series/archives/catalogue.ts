/** The series of an archive, and of others with the same metadata: identifiers, names and labels. */
import type { Archive } from '../../archive/archive.ts'
import type { MetadataFilter } from '../../archive/metadata.ts'
import { clusterId, domainOf, type Indom, indomStr, PM_INDOM_NULL, type Pmid } from '../../model/ids.ts'
import { labelSetOf } from '../../model/label-set.ts'
import { LABEL_CLUSTER, LABEL_DOMAIN, LABEL_INDOM, LABEL_ITEM, type LabelSet } from '../../model/labels.ts'
import { instanceId, sourceId } from '../ids.ts'
import type { SearchText, SeriesDesc, SeriesInstance } from '../store.ts'
import { instancesOf } from './facts.ts'
import type { CataloguePart, InstancesPart, LabelsPart, MetricsPart, PartPool } from './parts.ts'

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

/** Instances of a domain with their own label sets. */
interface DomainInstances {
  readonly ids: readonly number[]
  readonly names: readonly string[]
  readonly sets: ReadonlyMap<number, LabelSet>
}

const ID_BYTES = 20

/** What one archive has. */
export class ArchiveCatalogue {
  readonly host: string
  readonly source: string
  readonly #part: CataloguePart
  readonly #pool: PartPool
  readonly #open: () => Archive
  readonly #metrics: MetricsPart
  readonly #ids: Buffer
  readonly #context: readonly LabelSet[]
  readonly #isLeftOut: MetadataFilter
  readonly #byName: ReadonlyMap<string, readonly number[]>
  #byId: Map<string, number> | undefined
  readonly #series = new Map<number, CataloguedSeries>()
  readonly #instances = new Map<string, readonly SeriesInstance[]>()
  readonly #domains = new Map<Indom, DomainInstances>()
  readonly #sets = new Map<string, readonly LabelSet[]>()
  #byInstance: ReadonlyMap<string, InstanceOf> | undefined

  /**
   * `open` returns the archive, for instances that the part does not have; `byName` the positions of metrics by name, shared by catalogues
   * with the same metrics.
   */
  constructor(
    part: CataloguePart,
    pool: PartPool,
    byName: ReadonlyMap<string, readonly number[]>,
    { isLeftOut = () => false, open }: { isLeftOut?: MetadataFilter | undefined; open: () => Archive },
  ) {
    this.#part = part
    this.#pool = pool
    this.#open = open
    this.#isLeftOut = isLeftOut
    this.host = part.host
    this.#context = part.context.map(labelSet)
    this.source = sourceId(this.#context, part.host)
    this.#metrics = pool.get<MetricsPart>(part.metrics)
    this.#ids = Buffer.from(part.ids, 'base64')
    this.#byName = byName
    for (const [level, id, sets] of part.labels)
      if (level <= LABEL_DOMAIN || !isLeftOut(id)) this.#sets.set(`${level} ${id}`, sets.map(labelSet))
  }

  /** Names of its metrics. */
  names(): readonly string[] {
    return this.#metrics.filter(([, pmid]) => !this.#isLeftOut(pmid)).map(([name]) => name)
  }

  /** Identifiers of the series of a metric. */
  withName(name: string): readonly string[] {
    return (this.#byName.get(name) ?? [])
      .filter((at) => !this.#isLeftOut(this.#metrics[at]![1]))
      .map((at) => this.#idAt(at))
  }

  /** All series. */
  all(): readonly CataloguedSeries[] {
    const found: CataloguedSeries[] = []
    for (const [at, [, pmid]] of this.#metrics.entries())
      if (!this.#isLeftOut(pmid)) found.push(this.#seriesAt(at))
    return found
  }

  /** Returns a series by its identifier. */
  find(id: string): CataloguedSeries | undefined {
    if (this.#byId === undefined) {
      this.#byId = new Map()
      for (let at = 0; at < this.#metrics.length; at++)
        if (!this.#isLeftOut(this.#metrics[at]![1])) this.#byId.set(this.#idAt(at), at)
    }
    const at = this.#byId.get(id)
    return at === undefined ? undefined : this.#seriesAt(at)
  }

  /** Returns the instances that a series ever had; none for a metric without instance domain. */
  instances({ id, desc }: CataloguedSeries): readonly SeriesInstance[] {
    const known = this.#instances.get(id)
    if (known !== undefined) return known
    const domain = this.#domain(desc.indom)
    // A domain without values was never recorded.
    if (domain === undefined) return []
    const sets = this.#setsOf(desc.pmid, desc.indom)
    const instances = domain.ids.map((inst, i) => {
      const set = domain.sets.get(inst)
      const name = domain.names[i]!
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

  /** Returns the names of the instances of a series. */
  instanceNames({ desc }: CataloguedSeries): readonly string[] {
    return this.#domain(desc.indom)?.names ?? []
  }

  /** Returns the label sets of a series without instances, or of an instance; undefined if the identifier is of neither. */
  labelSets(id: string): readonly LabelSet[] | undefined {
    const series = this.find(id)
    if (series !== undefined) {
      const { pmid, indom } = series.desc
      return indom === PM_INDOM_NULL ? this.#setsOf(pmid, indom) : undefined
    }
    const instance = this.#instanceOf(id)
    if (instance === undefined) return undefined
    const { pmid, indom } = instance.series.desc
    const own = this.#domain(indom)?.sets.get(instance.inst)
    const sets = this.#setsOf(pmid, indom)
    return own === undefined ? sets : [...sets, own]
  }

  /** Returns the names of all labels. */
  labelNames(): ReadonlySet<string> {
    const names = new Set<string>()
    for (const { desc } of this.all())
      for (const { labels } of this.#allSets(desc)) for (const { name } of labels) names.add(name)
    return names
  }

  /** Returns the series by the values of a label, theirs or one of their instances'. */
  withLabel(label: string): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>()
    const add = (value: string, id: string): void => {
      const ids = found.get(value)
      if (ids === undefined) found.set(value, [id])
      else if (ids.at(-1) !== id) ids.push(id)
    }
    for (const { id, desc } of this.all())
      for (const { labels } of this.#allSets(desc))
        for (const { name, value } of labels) if (name === label) add(value, id)
    return found
  }

  /** Returns a metric's and its domain's names, with help texts from the archive; `isKnown` selects names to skip. */
  texts(
    isKnown: (type: SearchText['type'], name: string, indom: string | undefined) => boolean,
  ): SearchText[] {
    const textsOf = (kind: 'metric' | 'indom', id: number): Pick<SearchText, 'oneline' | 'help'> => {
      const { metadata } = this.#open()
      return {
        oneline: metadata.text({ kind, id, level: 'oneline' }) ?? '',
        help: metadata.text({ kind, id, level: 'help' }) ?? '',
      }
    }
    const texts: SearchText[] = []
    const seen = new Set<Indom>()
    for (const series of this.all()) {
      const { indom, pmid } = series.desc
      const domain = indom === PM_INDOM_NULL ? undefined : indomStr(indom)
      if (!isKnown('metric', series.name, domain))
        texts.push({ type: 'metric', name: series.name, indom: domain, ...textsOf('metric', pmid) })
      if (domain === undefined || seen.has(indom)) continue
      seen.add(indom)
      const missing = this.instanceNames(series).filter((name) => !isKnown('instance', name, domain))
      const isDomainKnown = isKnown('indom', domain, domain)
      if (isDomainKnown && missing.length === 0) continue
      const about = textsOf('indom', indom)
      if (!isDomainKnown) texts.push({ type: 'indom', name: domain, indom: domain, ...about })
      for (const name of missing) texts.push({ type: 'instance', name, indom: domain, ...about })
    }
    return texts
  }

  #idAt(at: number): string {
    return this.#ids.toString('hex', at * ID_BYTES, (at + 1) * ID_BYTES)
  }

  #seriesAt(at: number): CataloguedSeries {
    let series = this.#series.get(at)
    if (series === undefined) {
      const [name, pmid, type, indom, sem, units] = this.#metrics[at]!
      series = {
        id: this.#idAt(at),
        name,
        pmid,
        desc: { pmid, type, indom, sem, units, source: this.source },
      }
      this.#series.set(at, series)
    }
    return series
  }

  #domain(indom: Indom): DomainInstances | undefined {
    const known = this.#domains.get(indom)
    if (known !== undefined) return known
    const found = this.#part.indoms.find(([each]) => each === indom)
    if (found === undefined || this.#isLeftOut(indom)) return undefined
    const { ids, names, labels } =
      found[1] === null ? instancesOf(this.#open(), indom) : this.#pool.get<InstancesPart>(found[1])
    const domain = { ids, names, sets: new Map(labels.map((each) => [each[0], labelSet(each)])) }
    this.#domains.set(indom, domain)
    return domain
  }

  #instanceOf(id: string): InstanceOf | undefined {
    if (this.#byInstance === undefined) {
      const map = new Map<string, InstanceOf>()
      for (const series of this.all())
        for (const { id: of, inst } of this.instances(series)) map.set(of, { series, inst })
      this.#byInstance = map
    }
    return this.#byInstance.get(id)
  }

  /** Returns the sets of a metric in order of increasing precedence. */
  #setsOf(id: Pmid, indom: Indom): readonly LabelSet[] {
    const at = (level: number, of: number): readonly LabelSet[] => this.#sets.get(`${level} ${of}`) ?? []
    return [
      ...this.#context,
      ...at(LABEL_DOMAIN, domainOf(id)),
      ...(indom === PM_INDOM_NULL ? [] : at(LABEL_INDOM, indom)),
      ...at(LABEL_CLUSTER, clusterId(id)),
      ...at(LABEL_ITEM, id),
    ]
  }

  #allSets({ pmid, indom }: SeriesDesc): readonly LabelSet[] {
    const sets = this.#setsOf(pmid, indom)
    return indom === PM_INDOM_NULL ? sets : [...sets, ...(this.#domain(indom)?.sets.values() ?? [])]
  }
}

function labelSet([inst, labels]: LabelsPart): LabelSet {
  return labelSetOf(
    labels.map(([name, value, flags]) => ({ name, value, flags })),
    inst,
  )
}
