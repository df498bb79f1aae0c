/**
 * Writes an archive, one write per record, in an order that keeps it readable at any time. docs/formats/archive.md
 *
 *     start    labels of .index, .meta, .0
 *     record   metadata it needs → .meta;  values → .N;  an entry if due → .index
 *     close    a last entry, for the last record
 */
import type { ByteSink } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import type { Indom } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { TextQuery } from '../../model/source.ts'
import type { ValueSet } from '../../model/values.ts'
import { encodeLabel, labelSize, VOLUME_INDEX, VOLUME_META } from '../label.ts'
import { type ArchiveVersion, markSize } from '../stamp.ts'
import { DataVolumes } from './data-volumes.ts'
import { IndexEntries, type IndexedRecord } from './index-entries.ts'
import { encodeDesc, encodeHelp, encodeIndom, encodeLabels } from './metadata.ts'
import type { OutputFiles } from './output-files.ts'
import { attemptQuietly } from './quietly.ts'
import { RecordBuffer } from './record-buffer.ts'
import { WrittenIndoms } from './written-indoms.ts'
import { WrittenLabels } from './written-labels.ts'

/** Label and options of an archive. */
export interface WriterOptions {
  /** Version of the format. Default 3. */
  readonly version?: ArchiveVersion
  /** Host whose values are recorded. */
  readonly hostname: string
  /** Its time zone as a rule: `AEST-10`. */
  readonly timezone: string
  /** Its time zone by name: `:Australia/Melbourne`. Not stored in version 2. */
  readonly zoneinfo?: string
  /** Id of the writing process. */
  readonly pid: number
  /** Number of the first volume. Default 0. */
  readonly firstVolume?: number
  /** Writes index entries every 100,000 bytes of a volume regardless of additional entries; by default that far after the previous entry. */
  readonly hasEvenIndex?: boolean
  /** Writes index entries at marks and the records after them, so that readers of parts of the archive find them. */
  readonly indexesMarks?: boolean
  /** A volume ends before the record that would exceed this size, in bytes. Default and maximum: the range of offsets. */
  readonly maxVolumeBytes?: number
  /** Called with the number of each volume that was started because the previous one was full. */
  readonly onVolume?: (volume: number) => void
  /** Buffer for encoding. Writers that are not used concurrently may share one. */
  readonly buffer?: RecordBuffer
}

/** Offsets of version 2 have 31 bits, which limits the size of files. */
const MAX_V2 = 2 ** 31 - 2
/** Beyond any file size, but exact as a number. */
const MAX_V3 = Number.MAX_SAFE_INTEGER

/**
 * An archive being written. Times should not decrease; equal ones are allowed. Every method throws a PcpError: an error of the file
 * system, EOVERFLOW for a time beyond version 2, E2BIG for metadata beyond its offsets. After an error the record is missing,
 * all earlier ones are intact, and any method may be called again.
 */
export class ArchiveWriter {
  readonly version: ArchiveVersion
  readonly #files: OutputFiles
  readonly #options: WriterOptions
  readonly #buffer: RecordBuffer
  readonly #indoms: WrittenIndoms
  readonly #labels: WrittenLabels
  readonly #maxVolume: number
  readonly #index: ByteSink
  readonly #entries: IndexEntries
  readonly #meta: ByteSink
  readonly #volumes: DataVolumes
  #start: Timestamp | undefined
  /** Whether all labels, and the metadata from before the start, are written. */
  #isStarted = false
  readonly #early: Uint8Array[] = []
  /** Size of the metadata after the last record of values, before any for the next one. */
  #metaBefore: number
  #indomWritten = false
  #last: IndexedRecord | undefined
  #isLastMark = false
  /** An error of a volume after it was written, for `close` to throw. */
  #problem: PcpError | undefined
  #isClosed = false

  /** Creates the empty files. EEXIST if one of them exists; no new file then remains. */
  static create(files: OutputFiles, options: WriterOptions): ArchiveWriter {
    const volume = options.firstVolume ?? 0
    const sinks: ByteSink[] = []
    const parts = ['index', 'meta', String(volume)]
    try {
      for (const part of parts) sinks.push(files.create(part))
    } catch (error) {
      for (const [i, sink] of sinks.entries()) {
        attemptQuietly(() => sink.close())
        attemptQuietly(() => files.remove(parts[i]!))
      }
      throw PcpError.from(error, files.name)
    }
    return new ArchiveWriter(files, options, sinks)
  }

  private constructor(files: OutputFiles, options: WriterOptions, sinks: readonly ByteSink[]) {
    this.#files = files
    this.#options = options
    this.#buffer = options.buffer ?? new RecordBuffer()
    this.version = options.version ?? 3
    this.#indoms = new WrittenIndoms(this.version)
    this.#labels = new WrittenLabels(this.version)
    this.#maxVolume = Math.min(options.maxVolumeBytes ?? MAX_V3, this.version === 2 ? MAX_V2 : MAX_V3)
    this.#index = sinks[0]!
    this.#entries = new IndexEntries(this.#index, this.version, options.hasEvenIndex ?? false)
    this.#meta = sinks[1]!
    this.#volumes = new DataVolumes(files, options.firstVolume ?? 0, sinks[2]!)
    this.#metaBefore = labelSize(this.version)
  }

  /** Start of the archive: its first record, or the argument of `start`. */
  get startTime(): Timestamp | undefined {
    return this.#start
  }

  /** Time of the last record, marks included. */
  get lastTime(): Timestamp | undefined {
    return this.#last?.at
  }

  /** Whether the last record is a mark. */
  get endsInMark(): boolean {
    return this.#isLastMark
  }

  /** Number of the volume being written. */
  get volume(): number {
    return this.#volumes.number
  }

  get #data(): ByteSink {
    return this.#volumes.sink
  }

  /** Bytes of the volume being written. */
  get volumeBytes(): number {
    return this.#data.size
  }

  /** Bytes of all volumes. */
  get dataBytes(): number {
    return this.#volumes.bytes
  }

  /** Bytes of the metadata. */
  get metaBytes(): number {
    return this.#meta.size
  }

  /**
   * Writes the labels; later calls have no effect. Any record starts an archive, so this is only needed for an archive
   * that must be visible before it has values.
   */
  start(at: Timestamp): void {
    if (!this.#isStarted) this.#begin(at)
  }

  /** Writes labels and early metadata; after a failure the next call writes the rest. */
  #begin(at: Timestamp): void {
    this.#start ??= this.#checked(at)
    if (this.#index.size === 0) this.#write(this.#index, this.#label(VOLUME_INDEX))
    if (this.#meta.size === 0) this.#write(this.#meta, this.#label(VOLUME_META))
    if (this.#data.size === 0) this.#write(this.#data, this.#label(this.volume))
    let written = 0
    try {
      for (const record of this.#early) {
        this.#write(this.#meta, record)
        written++
      }
    } finally {
      this.#early.splice(0, written)
    }
    this.#isStarted = true
  }

  /** Writes a descriptor with all names of its metric, on each call. Before the start it is queued. */
  desc(desc: MetricDesc, names: readonly string[]): void {
    this.metadata(encodeDesc(desc, names))
  }

  /** Writes a help text. Before the start it is queued. */
  text(query: TextQuery, text: string): void {
    this.metadata(encodeHelp(query, text))
  }

  /**
   * Writes the present instances of a domain, given in any order, if they differ from those written last: in full, or in version 3 the
   * changes if those are shorter. An empty domain cannot be written. Returns whether a record was written. The lists are kept.
   * `always` writes all instances even without a change, except at the time of written changes. A record is never earlier than the previous
   * one of its domain, and 1 ns later than a previous one with changes, if it is not later anyway.
   */
  instances(
    at: Timestamp,
    indom: Indom,
    ids: readonly number[],
    names: readonly string[],
    always = false,
  ): boolean {
    this.start(at)
    const change = this.#indoms.change(at, indom, ids, names, always)
    if (change === undefined) return false
    const { instances, isDelta } = change
    this.metadata(encodeIndom(this.version, this.#checked(change.at), indom, instances, isDelta))
    this.#indoms.commit(indom, change)
    this.#indomWritten = true
    return true
  }

  /** Returns whether an instance is in the last written state of its domain; without `inst`, whether the domain was written at all. */
  knowsInstance(indom: Indom, inst?: number): boolean {
    return inst === undefined ? this.#indoms.has(indom) : this.#indoms.hasInstance(indom, inst)
  }

  /**
   * Writes the labels of an object at one level (LABEL_CONTEXT to LABEL_INSTANCES) if they differ from those written last.
   * Returns whether a record was written. It is later than the previous one, as of equal times the first would apply. E2BIG for a set beyond
   * 255 labels or 65,535 bytes.
   */
  labels(at: Timestamp, level: number, id: number, sets: readonly LabelSet[]): boolean {
    const key = `${level} ${id}`
    const change = this.#labels.change(at, key, sets)
    if (change === undefined) return false
    const record = encodeLabels(this.version, this.#checked(change.at), level, id, sets)
    this.start(at)
    this.metadata(record)
    this.#labels.commit(key, change)
    return true
  }

  /** Writes values, including empty `sets`. PM_ERR_ARG without any sets, as that would be a mark. */
  result(at: Timestamp, sets: readonly ValueSet[]): void {
    if (sets.length === 0) throw new PcpError('PM_ERR_ARG', 'A record without metrics is a mark')
    this.#append(at, this.#buffer.result(this.version, this.#checked(at), sets), false)
  }

  /** Writes a mark, which breaks continuity. Default: 1 ms after the last record. No effect before the first record. */
  mark(at: Timestamp | undefined = afterLast(this.lastTime)): void {
    if (at === undefined) return
    this.#append(at, this.#buffer.mark(this.version, this.#checked(at)), true)
  }

  /** Writes an encoded record of values or a mark, including its lengths, from an archive of this version. */
  record(at: Timestamp, bytes: Uint8Array): void {
    this.#append(at, bytes, bytes.length === markSize(this.version))
  }

  /** Writes an encoded record of a descriptor, text or labels, including its lengths. Before the start it is queued. */
  metadata(record: Uint8Array): void {
    if (this.version === 2 && this.#meta.size + record.length > MAX_V2)
      throw new PcpError(
        'E2BIG',
        `${this.#files.name}.meta: metadata of version 2 is limited to 2 GB: use version 3`,
      )
    if (!this.#isStarted) this.#early.push(record)
    else this.#write(this.#meta, record)
  }

  /**
   * Starts a new volume and returns its number. If that fails, the previous one continues; so does a first one without any record,
   * whose start becomes `at`.
   */
  switchVolume(at: Timestamp): number {
    this.start(at)
    // An archive whose first volume is empty would be treated as one without records.
    if (this.#volumes.isFirst && this.#data.size === labelSize(this.version)) return this.volume
    this.#attempt(() => this.#data.flush())
    const full = this.#attempt(() =>
      this.#volumes.next((sink, volume) => this.#write(sink, this.#label(volume))),
    )
    // It was flushed already: a failure here must not lose the next record.
    this.#collect(() => full.close())
    return this.volume
  }

  /** Makes everything written so far visible to other processes. */
  flush(): void {
    for (const sink of [this.#meta, this.#data, this.#index]) this.#attempt(() => sink.flush())
  }

  /**
   * Resolves when everything written so far survives a power cut: names, then metadata, then values. Callers must wait
   * before they call it again.
   */
  async sync(): Promise<void> {
    const sinks = [this.#meta, this.#data, this.#index]
    try {
      await this.#files.syncNames?.()
      for (const sink of sinks) await sink.sync?.()
    } catch (error) {
      throw PcpError.from(error, this.#files.name)
    }
  }

  /**
   * Writes the last index entry and closes all files, even if closing one fails, which is thrown at the end;
   * without a start the files are removed. Idempotent.
   */
  close(): void {
    if (this.#isClosed) return
    if (!this.#isStarted) {
      this.discard()
      return
    }
    this.#collect(() => {
      if (this.#last !== undefined) this.#entries.write({ ...this.#last, metaOffset: this.#meta.size })
    })
    this.#closeFiles()
    if (this.#problem !== undefined) throw this.#problem
  }

  /** Closes and removes the files, for an archive whose beginning could not be written. No effect after `close`. */
  discard(): void {
    if (this.#isClosed) return
    this.#closeFiles()
    for (const part of ['index', 'meta']) attemptQuietly(() => this.#files.remove(part))
    this.#volumes.removeAll()
  }

  #closeFiles(): void {
    this.#isClosed = true
    for (const sink of [this.#meta, this.#data, this.#index]) this.#collect(() => sink.close())
    this.#volumes.removeSpoilt()
    this.#collect(() => this.#files.close?.())
  }

  #append(at: Timestamp, bytes: Uint8Array, isMark: boolean): void {
    this.start(at)
    const empty = labelSize(this.version)
    if (this.#data.size + bytes.length > this.#maxVolume && this.#data.size > empty) {
      const volume = this.switchVolume(at)
      this.#options.onVolume?.(volume)
    }
    const offset = this.#data.size
    this.#write(this.#data, bytes)
    this.#last = { at, volume: this.volume, offset, metaOffset: this.#metaBefore }
    const isAtMark = this.#options.indexesMarks === true && (isMark || this.#isLastMark)
    this.#isLastMark = isMark
    this.#entries.onRecord(this.#last, this.#data.size, offset === empty || this.#indomWritten || isAtMark)
    this.#indomWritten = false
    this.#metaBefore = this.#meta.size
  }

  #label(volume: number): Uint8Array {
    const { hostname, timezone, zoneinfo = '', pid } = this.#options
    const { version } = this
    return encodeLabel({
      version,
      pid,
      start: this.#start!,
      volume,
      features: 0,
      hostname,
      timezone,
      zoneinfo,
    })
  }

  #checked(at: Timestamp): Timestamp {
    if (this.version === 2 && at.sec !== (at.sec | 0))
      throw new PcpError('EOVERFLOW', `Version 2 cannot represent a time of ${at.sec} seconds: use version 3`)
    return at
  }

  #write(sink: ByteSink, bytes: Uint8Array): void {
    this.#attempt(() => sink.write(bytes))
  }

  #attempt<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw PcpError.from(error, this.#files.name)
    }
  }

  /** Runs an action; `close` throws the first of such failures. */
  #collect(action: () => void): void {
    try {
      action()
    } catch (error) {
      this.#problem ??= PcpError.from(error, this.#files.name)
    }
  }
}

function afterLast(last: Timestamp | undefined): Timestamp | undefined {
  if (last === undefined) return undefined
  const nsec = last.nsec + 1_000_000
  return nsec < 1_000_000_000 ? { sec: last.sec, nsec } : { sec: last.sec + 1, nsec: nsec - 1_000_000_000 }
}
