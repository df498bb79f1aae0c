/**
 * Series from the archives below directories, without a server. docs/reference/series-queries.md
 *
 *     directories ── findArchives ──► places ── open, once per change ──► catalogues ──► names → series
 *                                                                            └─ samples: only the archives of a series
 */
import { Archive } from '../../archive/archive.ts'
import type { MetadataFilter } from '../../archive/metadata.ts'
import { PcpError } from '../../model/errors.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type {
  NameKind,
  Sample,
  SampleWindow,
  SearchText,
  SeriesDesc,
  SeriesInstance,
  SeriesStore,
} from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'
import { ArchiveCatalogue, type CataloguedSeries } from './catalogue.ts'
import { type ArchivePlace, findArchives } from './files.ts'
import { readSamples, type SampledArchive } from './samples.ts'

/** Archives that are open at a time; each has at least two files. */
const MOST_OPEN = 200

/** Options of a store. */
export interface ArchiveSeriesOptions {
  /** Called for archives that are left out because they cannot be read. */
  readonly onWarning?: (warning: PcpError) => void
  /** Milliseconds for which a search of the directories is trusted; default 1000. */
  readonly freshMs?: number
  /** Metrics and instance domains to treat as not recorded; default none. */
  readonly ignores?: MetadataFilter
  /** Ignores symbolic links, which may lead out of the directories. */
  readonly ignoresLinks?: boolean
  /** Milliseconds on any clock that does not go back. */
  readonly clock?: () => number
}

/** An archive with its catalogue. */
interface Known {
  readonly place: ArchivePlace
  readonly catalogue: ArchiveCatalogue
  readonly start: Archive['start']
  readonly archive: Archive
}

/** Names and labels of all archives. */
interface Index {
  /** In order of start time. */
  readonly archives: readonly Known[]
  /** Archives of each series. */
  readonly bySeries: ReadonlyMap<string, readonly Known[]>
  readonly byMetric: ReadonlyMap<string, readonly string[]>
}

/** Indexes of instances and labels, built by the first query that needs them. */
interface Details {
  readonly byInstance: ReadonlyMap<string, ReadonlySet<string>>
  readonly labels: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>
}

/** Finds and reads series in archives. */
export class ArchiveSeries implements SeriesStore {
  readonly #directories: readonly string[]
  readonly #onWarning: (warning: PcpError) => void
  readonly #freshMs: number
  readonly #clock: () => number
  readonly #ignores: MetadataFilter | undefined
  readonly #ignoresLinks: boolean
  #known = new Map<string, Known>()
  /** Archives that could not be read, with the stamp of their files. */
  readonly #failed = new Map<string, string>()
  #index: Index | undefined
  #details: Details | undefined
  #texts: readonly SearchText[] | undefined
  #lastSearch = Number.NEGATIVE_INFINITY
  readonly #open: Known[] = []

  constructor(directories: readonly string[], options: ArchiveSeriesOptions = {}) {
    this.#directories = directories
    this.#onWarning = options.onWarning ?? (() => {})
    this.#ignores = options.ignores
    this.#ignoresLinks = options.ignoresLinks ?? false
    this.#freshMs = options.freshMs ?? 1000
    this.#clock = options.clock ?? (() => performance.now())
  }

  async names(kind: NameKind): Promise<readonly string[]> {
    const { archives, byMetric } = this.#current()
    if (kind === 'metric') return [...byMetric.keys()]
    if (kind === 'context')
      return [...new Set(archives.flatMap(({ place, catalogue }) => [place.base, catalogue.host]))]
    const { byInstance, labels } = this.#detailed()
    return [...(kind === 'instance' ? byInstance : labels).keys()]
  }

  async labelValues(label: string): Promise<readonly string[]> {
    return [...(this.#detailed().labels.get(label)?.keys() ?? [])]
  }

  async withName(kind: 'metric' | 'instance' | 'context', name: string): Promise<readonly string[]> {
    const { archives, byMetric } = this.#current()
    if (kind === 'metric') return byMetric.get(name) ?? []
    if (kind === 'instance') return [...(this.#detailed().byInstance.get(name) ?? [])]
    const found = archives.filter(({ place }) => place.base === name)
    return [...new Set(found.flatMap(({ catalogue }) => [...catalogue.series.keys()]))]
  }

  async withLabel(label: string, value: string): Promise<readonly string[]> {
    return [...(this.#detailed().labels.get(label)?.get(value) ?? [])]
  }

  async desc(series: string): Promise<SeriesDesc | undefined> {
    return this.#find(series)?.series.desc
  }

  async metricNames(series: string): Promise<readonly string[]> {
    const found = this.#find(series)
    return found === undefined ? [] : [found.series.name]
  }

  async instances(series: string): Promise<readonly SeriesInstance[]> {
    const all = new Map<string, SeriesInstance>()
    for (const { catalogue } of this.#current().bySeries.get(series) ?? [])
      for (const instance of catalogue.instances(catalogue.series.get(series)!))
        all.set(instance.id, instance)
    return [...all.values()]
  }

  async labels(id: string): Promise<ReadonlyMap<string, string> | undefined> {
    const { archives, bySeries } = this.#current()
    // The newest archive wins.
    for (const { catalogue } of [...(bySeries.get(id) ?? archives)].reverse()) {
      const sets = catalogue.labelSets(id)
      if (sets !== undefined)
        return new Map(mergeLabelSets(sets).labels.map(({ name, value }) => [name, value]))
    }
    return undefined
  }

  async sourceNames(source: string): Promise<readonly string[]> {
    const its = this.#current().archives.filter(({ catalogue }) => catalogue.source === source)
    return [
      ...new Set([...its.map(({ place }) => place.base), ...its.map(({ catalogue }) => catalogue.host)]),
    ]
  }

  async samples(series: string, window: SampleWindow, budget: ValueBudget): Promise<readonly Sample[]> {
    const all = this.#current().bySeries.get(series) ?? []
    const archives = all.filter((_, i) => {
      // An archive ends where the next one of the same source starts, at the latest.
      const next = all[i + 1]?.start
      return window.start === undefined || next === undefined || compareTimes(next, window.start) >= 0
    })
    const within = archives.filter(
      ({ start }) => window.finish === undefined || compareTimes(start, window.finish) <= 0,
    )
    return readSamples(
      within.map((known) => this.#sampled(known, series)),
      window,
      budget,
    )
  }

  async texts(): Promise<readonly SearchText[]> {
    const { archives } = this.#current()
    if (this.#texts === undefined) {
      const texts = new Map<string, SearchText>()
      for (const { catalogue } of archives)
        for (const text of catalogue.texts()) texts.set(`${text.type} ${text.indom} ${text.name}`, text)
      this.#texts = [...texts.values()]
    }
    return this.#texts
  }

  async close(): Promise<void> {
    for (const known of this.#known.values()) known.archive.close()
    this.#known.clear()
    this.#open.length = 0
    this.#index = undefined
    this.#details = undefined
    this.#texts = undefined
    this.#lastSearch = Number.NEGATIVE_INFINITY
  }

  #find(id: string): { readonly known: Known; readonly series: CataloguedSeries } | undefined {
    const known = this.#current().bySeries.get(id)?.at(-1)
    return known && { known, series: known.catalogue.series.get(id)! }
  }

  #sampled(known: Known, id: string): SampledArchive {
    const { archive, catalogue } = known
    const series = catalogue.series.get(id)!
    const ids = new Map(catalogue.instances(series).map(({ id: of, inst }) => [inst, of]))
    this.#use(known)
    return { archive, desc: series.desc, idOf: (inst) => ids.get(inst) ?? '' }
  }

  /** Marks an archive as just used, and closes the files of the least recently used ones; reading opens them again. */
  #use(known: Known): void {
    const at = this.#open.indexOf(known)
    if (at >= 0) this.#open.splice(at, 1)
    this.#open.push(known)
    while (this.#open.length > MOST_OPEN) this.#open.shift()!.archive.close()
  }

  /** Returns the index, renewed if files have changed. */
  #current(): Index {
    const now = this.#clock()
    if (this.#index !== undefined && now - this.#lastSearch < this.#freshMs) return this.#index
    const places = findArchives(this.#directories, this.#ignoresLinks)
    const isSame =
      this.#index !== undefined &&
      places.length === this.#known.size + this.#failed.size &&
      places.every(
        ({ base, stamp }) => this.#known.get(base)?.place.stamp === stamp || this.#failed.get(base) === stamp,
      )
    if (!isSame) this.#read(places)
    this.#lastSearch = this.#clock()
    return this.#index!
  }

  #read(places: readonly ArchivePlace[]): void {
    const before = this.#known
    this.#known = new Map()
    const names = new Set(places.map(({ base }) => base))
    for (const base of this.#failed.keys()) if (!names.has(base)) this.#failed.delete(base)
    for (const place of places) {
      const old = before.get(place.base)
      if (old?.place.stamp === place.stamp) {
        this.#known.set(place.base, old)
        before.delete(place.base)
      } else if (this.#failed.get(place.base) !== place.stamp) this.#add(place)
    }
    for (const gone of before.values()) {
      gone.archive.close()
      const at = this.#open.indexOf(gone)
      if (at >= 0) this.#open.splice(at, 1)
    }
    const archives = [...this.#known.values()].sort((a, b) => compareTimes(a.start, b.start))
    const bySeries = new Map<string, Known[]>()
    const byMetric = new Map<string, string[]>()
    for (const known of archives)
      for (const { id, name } of known.catalogue.series.values()) {
        const of = bySeries.get(id)
        if (of !== undefined) of.push(known)
        else {
          bySeries.set(id, [known])
          const series = byMetric.get(name)
          if (series === undefined) byMetric.set(name, [id])
          else series.push(id)
        }
      }
    this.#index = { archives, bySeries, byMetric }
    this.#details = undefined
    this.#texts = undefined
  }

  #add(place: ArchivePlace): void {
    try {
      const archive = Archive.open(
        place.base,
        archiveFiles(),
        this.#ignores === undefined ? {} : { ignores: this.#ignores },
      )
      const known: Known = { place, catalogue: new ArchiveCatalogue(archive), start: archive.start, archive }
      this.#failed.delete(place.base)
      this.#known.set(place.base, known)
      this.#use(known)
    } catch (error) {
      this.#failed.set(place.base, place.stamp)
      this.#onWarning(PcpError.from(error, place.base))
    }
  }

  #detailed(): Details {
    const { archives } = this.#current()
    if (this.#details !== undefined) return this.#details
    const byInstance = new Map<string, Set<string>>()
    const labels = new Map<string, Map<string, Set<string>>>()
    for (const { catalogue } of archives)
      for (const series of catalogue.series.values()) {
        for (const { name } of catalogue.instances(series))
          entry(byInstance, name, () => new Set()).add(series.id)
        for (const set of catalogue.allLabelSets(series))
          for (const { name, value } of set.labels) {
            const values = entry(labels, name, () => new Map<string, Set<string>>())
            entry(values, value, () => new Set()).add(series.id)
          }
      }
    this.#details = { byInstance, labels }
    return this.#details
  }
}

function entry<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
