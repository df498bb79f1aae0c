/** The archives below directories with their catalogues, renewed when files change. */
import { Archive } from '../../archive/archive.ts'
import type { MetadataFilter } from '../../archive/metadata.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import type { ViewOf } from '../../sys/file-snapshot.ts'
import { KeptListings } from '../../sys/kept-listings.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { MetricChunk, WantedSamples } from '../columns/file.ts'
import { ArchiveCatalogue } from './catalogue.ts'
import { type CatalogueEntry, cataloguePaths, readCatalogue, writeCatalogue } from './catalogue-file.ts'
import { catalogueOf } from './facts.ts'
import { type ArchivePlace, findArchives } from './files.ts'
import { OpenColumns } from './open-columns.ts'
import { type CataloguePart, type MetricsPart, PartPool, partsOf } from './parts.ts'

/** Archives that are open at a time, each with its metadata and at least two files. */
const MOST_OPEN = 200
/** Metadata that changed so recently, in milliseconds, belongs to a running logger: it is not worth a new file. */
const SETTLED_MS = 600_000

/** Metadata of fewer archives is read as fast as a catalogue. */
const FEWEST_KEPT = 16

/** Options of the archives. */
export interface KnownOptions {
  readonly onWarning: (warning: PcpError) => void
  readonly isLeftOut: MetadataFilter | undefined
  readonly ignoresLinks: boolean
  /** Keeps catalogues on disk. */
  readonly keepsCatalogue: boolean
  /** Where catalogues are kept if a tree cannot be written to. */
  readonly cacheDir: string | undefined
  readonly usesColumns: boolean
  /** Wall clock in milliseconds. */
  readonly nowMs: () => number
}

/** An archive with its catalogue. */
export class KnownArchive {
  readonly place: ArchivePlace
  readonly start: Timestamp
  readonly catalogue: ArchiveCatalogue
  readonly #archives: KnownArchives

  constructor(place: ArchivePlace, start: Timestamp, catalogue: ArchiveCatalogue, archives: KnownArchives) {
    this.place = place
    this.start = start
    this.catalogue = catalogue
    this.#archives = archives
  }

  /** Returns the archive; undefined after a warning if it cannot be read. */
  open(): Archive | undefined {
    return this.#archives.openOrWarn(this.place)
  }

  /** Returns the samples of a metric from the columns file; undefined if the file is missing, of another archive, or lacks the metric. */
  columns(pmid: number, type: number, wanted: WantedSamples): readonly MetricChunk[] | undefined {
    return this.#archives.columns(this.place, pmid, type, wanted)
  }
}

/** Finds archives, reads and keeps their catalogues, and opens them on demand. */
export class KnownArchives {
  readonly #directories: readonly string[]
  readonly #options: KnownOptions
  readonly #pool = new PartPool()
  /** By base; valid for the stamp of the metadata. */
  readonly #entries = new Map<string, CatalogueEntry>()
  readonly #catalogues = new Map<string, ArchiveCatalogue>()
  readonly #positions = new Map<string, ReadonlyMap<string, readonly number[]>>()
  /** Stamps of archives that could not be read. */
  readonly #failed = new Map<string, string>()
  /** Open archives, least recently used first. */
  readonly #open = new Map<string, { readonly archive: Archive; readonly stamp: string }>()
  readonly #columns: OpenColumns
  readonly #view: ViewOf
  #places: readonly ArchivePlace[] | undefined
  #all: readonly KnownArchive[] = []
  #isLoaded = false

  constructor(directories: readonly string[], options: KnownOptions) {
    this.#directories = directories
    this.#options = options
    this.#columns = new OpenColumns(options.onWarning)
    const listings = new KeptListings(options.nowMs)
    this.#view = (directory) => listings.view(directory)
  }

  /** Returns all archives in order of start: the same list until files have changed. */
  current(): readonly KnownArchive[] {
    const places = findArchives(this.#directories, this.#options.ignoresLinks)
    const before = this.#places
    const isSame =
      before !== undefined &&
      places.length === before.length &&
      places.every(({ base, stamp }, i) => before[i]!.base === base && before[i]!.stamp === stamp)
    if (isSame) return this.#all
    if (!this.#isLoaded) this.#load()
    const isChanged = this.#renew(places)
    if (isChanged && this.#options.keepsCatalogue) this.#save()
    this.#places = places
    return this.#all
  }

  /** As `open`; undefined for an archive that cannot be read, after one warning. */
  openOrWarn(place: ArchivePlace): Archive | undefined {
    if (this.#failed.get(place.base) === place.stamp) return undefined
    try {
      return this.open(place)
    } catch (error) {
      this.#failed.set(place.base, place.stamp)
      this.#warn(PcpError.from(error, place.base))
      return undefined
    }
  }

  /** Returns an archive, opened if necessary. Errors as `Archive.open`. */
  open({ base, stamp }: ArchivePlace): Archive {
    const known = this.#open.get(base)
    this.#open.delete(base)
    if (known !== undefined && known.stamp === stamp) {
      this.#open.set(base, known)
      return known.archive
    }
    known?.archive.close()
    const archive = Archive.open(base, archiveFiles(undefined, this.#view))
    this.#open.set(base, { archive, stamp })
    for (const [oldest, { archive: old }] of this.#open) {
      if (this.#open.size <= MOST_OPEN) break
      old.close()
      this.#open.delete(oldest)
    }
    return archive
  }

  columns(
    place: ArchivePlace,
    pmid: number,
    type: number,
    wanted: WantedSamples,
  ): readonly MetricChunk[] | undefined {
    return this.#options.usesColumns ? this.#columns.chunks(place, pmid, type, wanted) : undefined
  }

  close(): void {
    for (const { archive } of this.#open.values()) archive.close()
    this.#open.clear()
    this.#columns.clear()
    this.#places = undefined
    this.#all = []
  }

  #warn(warning: PcpError): void {
    this.#options.onWarning(warning)
  }

  #load(): void {
    this.#isLoaded = true
    const { keepsCatalogue, cacheDir } = this.#options
    if (!keepsCatalogue) return
    for (const directory of this.#directories)
      for (const path of cataloguePaths(directory, cacheDir).toReversed())
        for (const [base, entry] of readCatalogue(path, directory, this.#pool)) this.#entries.set(base, entry)
  }

  /** Returns whether anything worth keeping is new. */
  #renew(places: readonly ArchivePlace[]): boolean {
    const { nowMs } = this.#options
    let isChanged = false
    const all: KnownArchive[] = []
    const settled = nowMs() - SETTLED_MS
    for (const place of places) {
      try {
        const known = this.#entries.get(place.base)
        let entry = known?.stamp === place.meta.stamp ? known : undefined
        if (entry === undefined) {
          if (this.#failed.get(place.base) === place.stamp) continue
          const archive = this.open(place)
          const digest = catalogueOf(archive, place.base, this.#pool)
          entry = { stamp: place.meta.stamp, start: archive.start, catalogue: digest }
          this.#entries.set(place.base, entry)
          isChanged ||= place.meta.changedMs <= settled
        }
        if (this.#failed.get(place.base) !== place.stamp) this.#failed.delete(place.base)
        const catalogue = this.#catalogueOf(entry.catalogue, place)
        all.push(new KnownArchive(place, entry.start, catalogue, this))
      } catch (error) {
        this.#entries.delete(place.base)
        this.#failed.set(place.base, place.stamp)
        this.#warn(PcpError.from(error, place.base))
      }
    }
    this.#forget(new Set(places.map(({ base }) => base)))
    this.#all = all.sort((a, b) => compareTimes(a.start, b.start))
    return isChanged
  }

  /** Forgets archives that are gone. */
  #forget(present: ReadonlySet<string>): void {
    for (const base of this.#entries.keys()) if (!present.has(base)) this.#entries.delete(base)
    for (const base of this.#failed.keys()) if (!present.has(base)) this.#failed.delete(base)
    this.#columns.retain(present)
    for (const [base, { archive }] of this.#open) {
      if (present.has(base)) continue
      archive.close()
      this.#open.delete(base)
    }
    const used = new Set([...this.#entries.values()].map(({ catalogue }) => catalogue))
    const parts = new Set(used)
    for (const digest of used)
      for (const each of partsOf(this.#pool.get<CataloguePart>(digest))) parts.add(each)
    for (const digest of this.#catalogues.keys()) if (!used.has(digest)) this.#catalogues.delete(digest)
    for (const digest of this.#positions.keys()) if (!parts.has(digest)) this.#positions.delete(digest)
    this.#pool.keep(parts)
  }

  #catalogueOf(digest: string, place: ArchivePlace): ArchiveCatalogue {
    const known = this.#catalogues.get(digest)
    if (known !== undefined) return known
    const part = this.#pool.get<CataloguePart>(digest)
    let positions = this.#positions.get(part.metrics)
    if (positions === undefined) {
      positions = positionsOf(this.#pool.get<MetricsPart>(part.metrics))
      this.#positions.set(part.metrics, positions)
    }
    const catalogue = new ArchiveCatalogue(part, this.#pool, positions, {
      isLeftOut: this.#options.isLeftOut,
      open: () => this.open(place),
    })
    this.#catalogues.set(digest, catalogue)
    return catalogue
  }

  #save(): void {
    const { cacheDir } = this.#options
    for (const directory of this.#directories) {
      const prefix = directory.endsWith('/') ? directory : `${directory}/`
      const own = new Map([...this.#entries].filter(([base]) => base.startsWith(prefix)))
      if (own.size >= FEWEST_KEPT)
        writeCatalogue(cataloguePaths(directory, cacheDir), directory, own, this.#pool)
    }
  }
}

function positionsOf(metrics: MetricsPart): ReadonlyMap<string, readonly number[]> {
  const positions = new Map<string, number[]>()
  for (const [at, [name]] of metrics.entries()) {
    const known = positions.get(name)
    if (known === undefined) positions.set(name, [at])
    else known.push(at)
  }
  return positions
}
