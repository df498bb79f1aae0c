/**
 * Series from the archives below directories, without a server. docs/reference/series-queries.md
 *
 *     directories ── findArchives ──► places ── catalogue on disk, or metadata ──► catalogues ──► names → series
 *                                                              └─ samples: columns files, or records of the archives of a series
 */
import type { MetadataFilter } from '../../archive/metadata.ts'
import type { PcpError } from '../../model/errors.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
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
import type { ArchiveCatalogue, CataloguedSeries } from './catalogue.ts'
import { DamagedColumns } from './column-samples.ts'
import { type KnownArchive, KnownArchives } from './known.ts'
import { readSamples, type SampledArchive } from './samples.ts'

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
  /** Keeps catalogues of the archives on disk, in the directories or, if they cannot be written to, in `cacheDir`; default false. */
  readonly keepsCatalogue?: boolean
  readonly cacheDir?: string | undefined
  /** Reads values from columns files where there are any; default true. */
  readonly usesColumns?: boolean
  /** Milliseconds on any clock that does not go back. */
  readonly clock?: () => number
  /** Wall clock in milliseconds. */
  readonly nowMs?: () => number
}

/** Archives by what they have. */
interface Index {
  /** In order of start time. */
  readonly archives: readonly KnownArchive[]
  /** Archives of each catalogue, in order of start time; catalogues in that of their last archive. */
  readonly byCatalogue: ReadonlyMap<ArchiveCatalogue, readonly KnownArchive[]>
  /** Catalogues with a series that queries requested. */
  readonly bySeries: Map<string, readonly ArchiveCatalogue[]>
  /** Series by instance, built by the first query that needs it; and by label and value. */
  byInstance: ReadonlyMap<string, ReadonlySet<string>> | undefined
  readonly labels: Map<string, ReadonlyMap<string, ReadonlySet<string>>>
  texts: readonly SearchText[] | undefined
}

/** Finds and reads series in archives. */
export class ArchiveSeries implements SeriesStore {
  readonly #known: KnownArchives
  readonly #onWarning: (warning: PcpError) => void
  readonly #freshMs: number
  readonly #clock: () => number
  #index: Index | undefined
  #lastSearch = Number.NEGATIVE_INFINITY

  constructor(directories: readonly string[], options: ArchiveSeriesOptions = {}) {
    this.#freshMs = options.freshMs ?? 1000
    this.#clock = options.clock ?? (() => performance.now())
    this.#onWarning = options.onWarning ?? (() => {})
    this.#known = new KnownArchives(directories, {
      onWarning: this.#onWarning,
      isLeftOut: options.ignores,
      ignoresLinks: options.ignoresLinks ?? false,
      keepsCatalogue: options.keepsCatalogue ?? false,
      cacheDir: options.cacheDir,
      usesColumns: options.usesColumns ?? true,
      nowMs: options.nowMs ?? Date.now,
    })
  }

  async names(kind: NameKind): Promise<readonly string[]> {
    const { archives, byCatalogue } = this.#current()
    const catalogues = [...byCatalogue.keys()]
    switch (kind) {
      case 'metric':
        return [...new Set(catalogues.flatMap((each) => each.names()))]
      case 'context':
        return [...new Set(archives.flatMap(({ place, catalogue }) => [place.base, catalogue.host]))]
      case 'instance':
        return [...this.#byInstance().keys()]
      case 'label':
        return [...new Set(catalogues.flatMap((each) => [...each.labelNames()]))]
    }
  }

  async labelValues(label: string): Promise<readonly string[]> {
    return [...this.#byLabel(label).keys()]
  }

  async withName(kind: 'metric' | 'instance' | 'context', name: string): Promise<readonly string[]> {
    const { archives, byCatalogue } = this.#current()
    if (kind === 'instance') return [...(this.#byInstance().get(name) ?? [])]
    const ids = new Set<string>()
    if (kind === 'metric')
      for (const each of byCatalogue.keys()) for (const id of each.withName(name)) ids.add(id)
    else
      for (const { place, catalogue } of archives)
        if (place.base === name) for (const { id } of catalogue.all()) ids.add(id)
    return [...ids]
  }

  async withLabel(label: string, value: string): Promise<readonly string[]> {
    return [...(this.#byLabel(label).get(value) ?? [])]
  }

  async desc(series: string): Promise<SeriesDesc | undefined> {
    return this.#find(series)?.desc
  }

  async metricNames(series: string): Promise<readonly string[]> {
    const found = this.#find(series)
    return found === undefined ? [] : [found.name]
  }

  async instances(series: string): Promise<readonly SeriesInstance[]> {
    const all = new Map<string, SeriesInstance>()
    for (const catalogue of this.#having(series))
      for (const instance of catalogue.instances(catalogue.find(series)!)) all.set(instance.id, instance)
    return [...all.values()]
  }

  async labels(id: string): Promise<ReadonlyMap<string, string> | undefined> {
    const having = this.#having(id)
    const catalogues = having.length > 0 ? having : [...this.#current().byCatalogue.keys()]
    // The newest archive wins.
    for (const catalogue of [...catalogues].reverse()) {
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
    const { byCatalogue } = this.#current()
    const all = this.#having(series)
      .flatMap((catalogue) => byCatalogue.get(catalogue)!)
      .sort((a, b) => compareTimes(a.start, b.start))
    const within = all.filter(({ start }, i) => {
      // An archive ends where the next one of the same source starts, at the latest.
      const next = all[i + 1]?.start
      return (
        (window.start === undefined || next === undefined || compareTimes(next, window.start) >= 0) &&
        (window.finish === undefined || compareTimes(start, window.finish) <= 0)
      )
    })
    const archives = within.map((known) => sampled(known, series))
    try {
      return budget.attempt(() => readSamples(archives, window, budget))
    } catch (error) {
      if (!(error instanceof DamagedColumns)) throw error
      this.#onWarning(error)
      const withoutColumns = archives.map((each) => ({ ...each, columns: () => undefined }))
      return readSamples(withoutColumns, window, budget)
    }
  }

  async texts(): Promise<readonly SearchText[]> {
    const index = this.#current()
    if (index.texts !== undefined) return index.texts
    const texts = new Map<string, SearchText>()
    const keyOf = (type: string, name: string, indom: string | undefined): string =>
      `${type} ${indom} ${name}`
    // The newest archive wins.
    for (const catalogue of [...index.byCatalogue.keys()].reverse())
      for (const text of catalogue.texts((...each) => texts.has(keyOf(...each))))
        texts.set(keyOf(text.type, text.name, text.indom), text)
    index.texts = [...texts.values()]
    return index.texts
  }

  async close(): Promise<void> {
    this.#known.close()
    this.#index = undefined
    this.#lastSearch = Number.NEGATIVE_INFINITY
  }

  #find(id: string): CataloguedSeries | undefined {
    return this.#having(id).at(-1)?.find(id)
  }

  /** Returns the catalogues with a series, the newest last. */
  #having(id: string): readonly ArchiveCatalogue[] {
    const { bySeries, byCatalogue } = this.#current()
    let found = bySeries.get(id)
    if (found === undefined) {
      found = [...byCatalogue.keys()].filter((each) => each.find(id) !== undefined)
      if (found.length > 0) bySeries.set(id, found)
    }
    return found
  }

  #byInstance(): ReadonlyMap<string, ReadonlySet<string>> {
    const index = this.#current()
    if (index.byInstance !== undefined) return index.byInstance
    const byInstance = new Map<string, Set<string>>()
    for (const catalogue of index.byCatalogue.keys())
      for (const series of catalogue.all())
        for (const name of catalogue.instanceNames(series)) addTo(byInstance, name, series.id)
    index.byInstance = byInstance
    return byInstance
  }

  #byLabel(label: string): ReadonlyMap<string, ReadonlySet<string>> {
    const { labels, byCatalogue } = this.#current()
    const known = labels.get(label)
    if (known !== undefined) return known
    const byValue = new Map<string, Set<string>>()
    for (const catalogue of byCatalogue.keys())
      for (const [value, ids] of catalogue.withLabel(label)) for (const id of ids) addTo(byValue, value, id)
    // Only existing names are kept: clients may send any others.
    if (byValue.size > 0) labels.set(label, byValue)
    return byValue
  }

  /** Returns the index, renewed if files have changed. */
  #current(): Index {
    const now = this.#clock()
    if (this.#index !== undefined && now - this.#lastSearch < this.#freshMs) return this.#index
    const archives = this.#known.current()
    if (this.#index?.archives !== archives) {
      const byCatalogue = new Map<ArchiveCatalogue, KnownArchive[]>()
      for (const each of archives) {
        const of = byCatalogue.get(each.catalogue) ?? []
        of.push(each)
        byCatalogue.delete(each.catalogue)
        byCatalogue.set(each.catalogue, of)
      }
      this.#index = {
        archives,
        byCatalogue,
        bySeries: new Map(),
        byInstance: undefined,
        labels: new Map(),
        texts: undefined,
      }
    }
    this.#lastSearch = this.#clock()
    return this.#index
  }
}

function sampled(known: KnownArchive, id: string): SampledArchive {
  const { catalogue } = known
  const series = catalogue.find(id)!
  let ids: ReadonlyMap<number, string> | undefined
  return {
    open: () => known.open(),
    columns: (wanted) => known.columns(series.pmid, series.desc.type, wanted),
    desc: series.desc,
    idOf(inst) {
      ids ??= new Map(catalogue.instances(series).map(({ id: of, inst: each }) => [each, of]))
      return ids.get(inst) ?? ''
    },
  }
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key)
  if (set === undefined) map.set(key, new Set([value]))
  else set.add(value)
}
