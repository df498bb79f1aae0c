/** One archive of a fleet, with the parts that are cached between requests. */
import { statSync } from 'node:fs'
import { Archive } from '../../archive/archive.ts'
import { intervalOf } from '../../archive/fleet/bucket-means.ts'
import { RecordReader } from '../../archive/reader.ts'
import { scan } from '../../archive/scan.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import { fromMillis, toSeconds } from '../../base/timestamp.ts'
import { isError } from '../../model/errors.ts'
import { mergeLabelSets } from '../../model/label-set.ts'
import { LABEL_CONTEXT } from '../../model/labels.ts'
import { PM_TYPE_32, PM_TYPE_DOUBLE } from '../../model/types.ts'
import type { ArchivePlace } from '../../series/archives/files.ts'

/** Records from which the interval is taken. */
const TAIL_RECORDS = 12
const SEEK_BYTES = 1 << 16
/** Metrics that recorders log once are in the first records. */
const HEAD_SEC = 60
/** Labels of a host, and characters of each. */
const MOST_LABELS = 50
const MOST_CHARACTERS = 200

/** The newest sample of a host up to a time, in seconds since the epoch, and the seconds between its samples. */
export interface Tail {
  readonly last: number
  readonly every: number | undefined
}

/** An archive of a host. It is opened when it is used; its owner decides when to close it again. */
export class KnownArchive {
  readonly id: string
  readonly host: string
  readonly start: number
  readonly labels: ReadonlyMap<string, string>
  /** Bytes of metadata, by which memory is counted. */
  readonly weight: number
  /** Its files; the stamp changes with any of them. */
  place: ArchivePlace
  readonly #files: () => ArchiveFiles
  readonly #structure: string
  #archive: Archive | undefined
  #tail: { readonly stamp: string; readonly tail: Tail | undefined } | undefined
  readonly #constants = new Map<string, number>()

  /** Opens an archive. Errors of `Archive.open`. */
  constructor(place: ArchivePlace, id: string, files: () => ArchiveFiles) {
    const archive = Archive.open(place.base, files())
    this.place = place
    this.#files = files
    const { metadata, label } = archive
    const labels = mergeLabelSets(metadata.labels({ level: LABEL_CONTEXT, id: 0 }, undefined)).labels
    this.id = id
    this.#archive = archive
    this.host = label.hostname
    this.start = toSeconds(archive.start)
    this.labels = new Map(
      labels.slice(0, MOST_LABELS).map(({ name, value }) => [name, plainText(value)] as const),
    )
    this.weight = archive.members[0]!.meta.bytes.length
    this.#structure = structureOf(place.base)
  }

  /** The open archive; it is opened again if it was released. */
  get archive(): Archive {
    this.#archive ??= Archive.open(this.place.base, this.#files())
    return this.#archive
  }

  /** Closes the files; reading opens them again. */
  closeFiles(): void {
    this.#archive?.close()
  }

  /** Closes the files and forgets the metadata. */
  release(): void {
    this.closeFiles()
    this.#archive = undefined
  }

  /** Takes over a change of the files; returns false if the archive must be opened again. */
  grow(place: ArchivePlace): boolean {
    const structure = structureOf(place.base)
    if (structure.startsWith(',') || structure !== this.#structure) return false
    this.place = place
    return true
  }

  get stamp(): string {
    return this.place.stamp
  }

  /** Time of the last record; the start if no record is readable. */
  get end(): number {
    return this.#newest()?.last ?? this.start
  }

  /** Returns the newest sample at or before a time. */
  tail(at: number): Tail | undefined {
    const newest = this.#newest()
    return newest === undefined || newest.last <= at ? newest : this.#readTail(at)
  }

  /** Returns the value of a metric that is recorded at the start, or NaN. */
  constant(name: string): number {
    const known = this.#constants.get(name)
    if (known !== undefined) return known
    const pmid = this.numeric(name)
    const { start } = this.archive
    const to = { sec: start.sec + HEAD_SEC, nsec: start.nsec }
    const values = pmid === undefined ? undefined : scan(this.archive, [pmid], { to }).columns[0]?.values
    const value = values?.at(-1) ?? Number.NaN
    this.#constants.set(name, value)
    return value
  }

  /** Returns the PMID of a numeric metric. */
  numeric(name: string): number | undefined {
    const { metadata } = this.archive
    const pmid = metadata.lookup(name)
    if (isError(pmid)) return undefined
    const type = metadata.descs.get(pmid)?.type
    return type !== undefined && type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE ? pmid : undefined
  }

  #newest(): Tail | undefined {
    if (this.#tail?.stamp !== this.stamp) this.#tail = { stamp: this.stamp, tail: this.#readTail(undefined) }
    return this.#tail.tail
  }

  #readTail(at: number | undefined): Tail | undefined {
    const reader = new RecordReader(this.archive, {
      checkValues: false,
      sparse: true,
      bufferBytes: SEEK_BYTES,
    })
    if (at === undefined) reader.toEnd()
    else reader.seek(fromMillis(Math.floor(at * 1000)), 'backward')
    const times: number[] = []
    for (let i = 0; i < TAIL_RECORDS; i++) {
      const record = reader.previous()
      if (record === undefined) break
      const time = record.sec + record.nsec / 1e9
      if (record.count > 0 && time !== times.at(-1)) times.push(time)
    }
    const [last] = times
    if (last === undefined) return undefined
    const every = intervalOf(times.reverse())
    return { last, every: Number.isFinite(every) ? every : undefined }
  }
}

/** Returns the identities and sizes of the files that describe the data; it begins with a comma if the metadata is compressed. */
function structureOf(base: string): string {
  const files = ['meta', 'index'].map((part) => statSync(`${base}.${part}`, { throwIfNoEntry: false }))
  return files.map((file) => (file === undefined ? '' : `${file.ino} ${file.size}`)).join()
}

/** Returns a label's JSON as text: strings without quotes. */
function plainText(value: string): string {
  let text = value
  try {
    const read: unknown = JSON.parse(value)
    if (typeof read === 'string') text = read
  } catch {} // shown as it was recorded
  return text.slice(0, MOST_CHARACTERS)
}
