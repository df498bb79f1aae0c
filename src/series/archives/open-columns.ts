/** Columns files in memory, opened by queries. */
import type { ScanResult } from '../../archive/scan.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { NUMERIC } from '../columns/encode.ts'
import { ColumnsFile, type MetricChunk, type WantedSamples } from '../columns/file.ts'
import { columnsPath, contentStamp } from '../columns/places.ts'
import { valuesOf } from '../columns/values.ts'
import type { ArchivePlace } from './files.ts'

/** Directories and times of files that are kept: those of a year of a host, or of a day of 300 hosts. */
const MOST_BYTES = 64 << 20

/** A file of an archive with this content. */
interface OpenFile {
  readonly file: ColumnsFile
  readonly content: string
}

/** Opens columns files on demand, and keeps those used last. */
export class OpenColumns {
  readonly #onWarning: (warning: PcpError) => void
  readonly #mostBytes: number
  /** By base of the archive, least recently used first. */
  readonly #files = new Map<string, OpenFile>()
  #bytes = 0

  constructor(onWarning: (warning: PcpError) => void, mostBytes: number = MOST_BYTES) {
    this.#onWarning = onWarning
    this.#mostBytes = mostBytes
  }

  /** Number of files in memory. */
  get count(): number {
    return this.#files.size
  }

  /** Returns samples of a metric; undefined if they have to be read from records, after a warning if the file is damaged. */
  chunks(
    place: ArchivePlace,
    pmid: number,
    type: number,
    wanted: WantedSamples,
  ): readonly MetricChunk[] | undefined {
    if (!NUMERIC.has(type)) return undefined
    return this.#read(place, (file) =>
      file.isUnreadable(pmid) ? undefined : file.chunks(pmid, type, wanted),
    )
  }

  /** Returns all values of metrics between two times, as `scan` does from records; undefined as `chunks`. */
  values(
    place: ArchivePlace,
    descs: readonly MetricDesc[],
    from: Timestamp,
    to: Timestamp,
  ): Pick<ScanResult, 'columns' | 'marks'> | undefined {
    if (!descs.every(({ type }) => NUMERIC.has(type))) return undefined
    return this.#read(place, (file) =>
      descs.some(({ pmid }) => file.isUnreadable(pmid)) ? undefined : valuesOf(file, descs, from, to),
    )
  }

  #read<T>({ base, content }: ArchivePlace, read: (file: ColumnsFile) => T): T | undefined {
    const known = this.#take(base)
    try {
      const file =
        known?.content === content ? known.file : ColumnsFile.open(columnsPath(base), contentStamp(content))
      const found = read(file)
      this.#keep(base, { file, content })
      return found
    } catch (error) {
      const problem = PcpError.from(error)
      // A file that is missing, of an older state of the archive or just replaced: records are the truth.
      if (problem.code !== 'ENOENT' && problem.code !== 'ESTALE') this.#onWarning(problem)
      return undefined
    }
  }

  /** Forgets files of archives that are gone. */
  retain(present: ReadonlySet<string>): void {
    for (const base of this.#files.keys()) if (!present.has(base)) this.#take(base)
  }

  clear(): void {
    this.#files.clear()
    this.#bytes = 0
  }

  #take(base: string): OpenFile | undefined {
    const known = this.#files.get(base)
    if (known === undefined) return undefined
    this.#files.delete(base)
    this.#bytes -= known.file.bytes
    return known
  }

  #keep(base: string, open: OpenFile): void {
    this.#files.set(base, open)
    this.#bytes += open.file.bytes
    for (const oldest of this.#files.keys()) {
      if (this.#bytes <= this.#mostBytes) break
      this.#take(oldest)
    }
  }
}
