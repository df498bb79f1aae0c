/**
 * Writing an archive, one write a record, in an order that leaves it readable at any moment. docs/formats/archive.md
 *
 *     start    labels of .index, .meta, .0
 *     record   metadata it needs → .meta;  values → .N;  an entry, where one is due → .index
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
import { type ArchiveVersion, writeStamp } from '../stamp.ts'
import { encodeDesc, encodeHelp, encodeIndom, encodeLabels } from './metadata.ts'
import type { OutputFiles } from './output-files.ts'
import { RecordBuffer } from './record-buffer.ts'
import { WrittenIndoms } from './written-indoms.ts'

/** What an archive says about itself, and how it is written. */
export interface WriterOptions {
  /** Version of the format. Default 3. */
  readonly version?: ArchiveVersion
  /** Host that the values come from. */
  readonly hostname: string
  /** Its zone as a rule: `AEST-10`. */
  readonly timezone: string
  /** Its zone by name: `:Australia/Melbourne`. Version 2 has no place for it. */
  readonly zoneinfo?: string
  /** Process that writes. */
  readonly pid: number
  /** Number of the first volume. Default 0. */
  readonly firstVolume?: number
  /** A volume ends before the record that would make it larger than this, in bytes. Default and limit: what offsets express. */
  readonly maxVolumeBytes?: number
  /** Hears the number of each volume that was begun because the one before was full. */
  readonly onVolume?: (volume: number) => void
  /** Where records are put together. Writers that take turns may share one. */
  readonly buffer?: RecordBuffer
}

/** Bytes of a volume after an entry of the index until the next one. */
const INDEX_EVERY = 100_000
/** Offsets of version 2 have 31 bits, and files stay below that. */
const MAX_V2 = 2 ** 31 - 2
/** Beyond any file, and a number that counts whole bytes. */
const MAX_V3 = Number.MAX_SAFE_INTEGER

/**
 * An archive being written. Times should not decrease; equal ones are fine. Every method throws a PcpError: of the file
 * system (a record that could not be written whole is not there), EOVERFLOW for a time that version 2 cannot express,
 * E2BIG for metadata that its offsets cannot reach.
 */
export class ArchiveWriter {
  readonly version: ArchiveVersion
  readonly #files: OutputFiles
  readonly #options: WriterOptions
  readonly #buffer: RecordBuffer
  readonly #indoms = new WrittenIndoms()
  readonly #labels = new Map<string, string>()
  readonly #maxVolume: number
  readonly #index: ByteSink
  readonly #meta: ByteSink
  #data: ByteSink
  #volume: number
  /** Bytes of the volumes before this one. */
  #earlier = 0
  #start: Timestamp | undefined
  /** Metadata that came before the start is known. */
  #early: Uint8Array[] = []
  /** Size of the metadata after the last record of values: before whatever is written for the next one. */
  #metaBefore: number
  #indomWritten = false
  #threshold = INDEX_EVERY
  #lastTime: Timestamp | undefined
  /** Where the last record is. */
  #lastVolume = 0
  #lastOffset = 0
  #lastIndexed: Timestamp | undefined
  #isClosed = false

  /** Makes the files, empty so far. EEXIST when one of them is there already; none of ours is then left behind. */
  static create(files: OutputFiles, options: WriterOptions): ArchiveWriter {
    const volume = options.firstVolume ?? 0
    const sinks: ByteSink[] = []
    const parts = ['index', 'meta', String(volume)]
    try {
      for (const part of parts) sinks.push(files.create(part))
    } catch (error) {
      sinks.forEach((sink, i) => {
        sink.close()
        files.remove(parts[i]!)
      })
      throw PcpError.from(error, files.name)
    }
    return new ArchiveWriter(files, options, sinks)
  }

  private constructor(files: OutputFiles, options: WriterOptions, sinks: readonly ByteSink[]) {
    this.#files = files
    this.#options = options
    this.#buffer = options.buffer ?? new RecordBuffer()
    this.version = options.version ?? 3
    this.#maxVolume = Math.min(options.maxVolumeBytes ?? MAX_V3, this.version === 2 ? MAX_V2 : MAX_V3)
    this.#index = sinks[0]!
    this.#meta = sinks[1]!
    this.#data = sinks[2]!
    this.#volume = options.firstVolume ?? 0
    this.#metaBefore = labelSize(this.version)
  }

  /** When the archive starts: its first record, or what `start` was given. */
  get startTime(): Timestamp | undefined {
    return this.#start
  }

  /** Time of the last record, marks included. */
  get lastTime(): Timestamp | undefined {
    return this.#lastTime
  }

  /** Number of the volume being written. */
  get volume(): number {
    return this.#volume
  }

  /** Bytes of the volume being written. */
  get volumeBytes(): number {
    return this.#data.size
  }

  /** Bytes of all volumes. */
  get dataBytes(): number {
    return this.#earlier + this.#data.size
  }

  /** Bytes of the metadata. */
  get metaBytes(): number {
    return this.#meta.size
  }

  /**
   * Writes the labels; later calls do nothing. Everything with a time starts an archive by itself, so this is only for one
   * that must be seen before there are values.
   */
  start(at: Timestamp): void {
    if (this.#start !== undefined) return
    this.#start = this.#checked(at)
    this.#write(this.#index, this.#label(VOLUME_INDEX))
    this.#write(this.#meta, this.#label(VOLUME_META))
    this.#write(this.#data, this.#label(this.#volume))
    for (const record of this.#early) this.#write(this.#meta, record)
    this.#early = []
  }

  /** Writes a descriptor with all names of its metric, each time it is called. Before the start it waits for it. */
  desc(desc: MetricDesc, names: readonly string[]): void {
    this.#metadata(encodeDesc(desc, names))
  }

  /** Writes a help text. Before the start it waits for it. */
  text(query: TextQuery, text: string): void {
    this.#metadata(encodeHelp(query, text))
  }

  /**
   * Writes an instance domain as it is now, in any order, when that is not what was written last: whole, or in version 3 what
   * changed when that is shorter. An empty domain cannot be written. True when there is a record. The lists are kept.
   * `always` writes it, whole, even when nothing changed.
   */
  instances(
    at: Timestamp,
    indom: Indom,
    ids: readonly number[],
    names: readonly string[],
    always = false,
  ): boolean {
    this.start(at)
    const change = this.#indoms.change(this.version, indom, ids, names, always)
    if (change === undefined) return false
    const { instances, isDelta } = change
    this.#metadata(encodeIndom(this.version, this.#checked(at), indom, instances, isDelta))
    this.#indoms.written(indom, change)
    this.#indomWritten = true
    return true
  }

  /** Is this instance in what was written last of its domain? Without `inst`: was the domain written at all? */
  knowsInstance(indom: Indom, inst?: number): boolean {
    return inst === undefined ? this.#indoms.has(indom) : this.#indoms.hasInstance(indom, inst)
  }

  /**
   * Writes the labels of one level (LABEL_CONTEXT to LABEL_INSTANCES) of a thing when they are not what was written last.
   * True when there is a record. E2BIG for a set beyond 255 labels or 65,535 bytes.
   */
  labels(at: Timestamp, level: number, id: number, sets: readonly LabelSet[]): boolean {
    const key = `${level} ${id}`
    const value = sets.map(({ inst, json, labels }) => `${inst} ${labels[0]?.flags} ${json}`).join('\n')
    if (this.#labels.get(key) === value) return false
    const record = encodeLabels(this.version, this.#checked(at), level, id, sets)
    this.start(at)
    this.#metadata(record)
    this.#labels.set(key, value)
    return true
  }

  /** Writes values; `sets` that are empty say so for their metric. PM_ERR_ARG when there are none: that is a mark. */
  result(at: Timestamp, sets: readonly ValueSet[]): void {
    if (sets.length === 0) throw new PcpError('PM_ERR_ARG', 'A record without metrics is a mark')
    this.#append(at, this.#buffer.result(this.version, this.#checked(at), sets))
  }

  /** Writes a mark: nothing is continuous across it. Default: 1 ms after the last record. Before any record: nothing. */
  mark(at: Timestamp | undefined = afterLast(this.#lastTime)): void {
    if (at !== undefined) this.#append(at, this.#buffer.mark(this.version, this.#checked(at)))
  }

  /** Writes a record of values or a mark as it is, lengths included: it comes from an archive of this version. */
  record(at: Timestamp, bytes: Uint8Array): void {
    this.#append(at, bytes)
  }

  /** Writes a record of metadata as it is, lengths included. `isIndom` when it is one of an instance domain. */
  metadata(bytes: Uint8Array, isIndom: boolean): void {
    this.#metadata(bytes)
    this.#indomWritten ||= isIndom
  }

  /** Begins a new volume and returns its number. `at` becomes the start of an archive without any record. */
  switchVolume(at: Timestamp): number {
    this.start(at)
    const volume = this.#volume + 1
    const sink = this.#attempt(() => this.#files.create(String(volume)))
    try {
      this.#write(sink, this.#label(volume))
    } catch (error) {
      sink.close()
      this.#files.remove(String(volume))
      throw error
    }
    const full = this.#data
    this.#earlier += full.size
    this.#data = sink
    this.#volume = volume
    this.#attempt(() => full.close())
    return volume
  }

  /** Everything written so far is where other processes can read it. */
  flush(): void {
    for (const sink of [this.#meta, this.#data, this.#index]) sink.flush()
  }

  /** Writes the last entry of the index and closes the files; without a start they are removed. Idempotent. */
  close(): void {
    if (this.#isClosed) return
    if (this.#start === undefined) {
      this.discard()
      return
    }
    try {
      if (this.#lastTime !== undefined) this.#indexEntry(this.#lastTime, this.#meta.size)
    } finally {
      this.#closeFiles()
    }
  }

  /** Closes and removes the files: for an archive whose beginning could not be written. Nothing after `close`. */
  discard(): void {
    if (this.#isClosed) return
    this.#closeFiles()
    for (const part of ['index', 'meta', String(this.#volume)]) this.#files.remove(part)
  }

  #closeFiles(): void {
    this.#isClosed = true
    for (const sink of [this.#meta, this.#data, this.#index]) sink.close()
  }

  #append(at: Timestamp, bytes: Uint8Array): void {
    this.start(at)
    if (this.#data.size + bytes.length > this.#maxVolume && this.#data.size > labelSize(this.version)) {
      const volume = this.switchVolume(at)
      this.#options.onVolume?.(volume)
    }
    const offset = this.#data.size
    const isFirst = offset === labelSize(this.version)
    this.#write(this.#data, bytes)
    this.#lastTime = at
    this.#lastVolume = this.#volume
    this.#lastOffset = offset
    if (isFirst || this.#indomWritten || this.#data.size > this.#threshold) {
      this.#indexEntry(at, this.#metaBefore)
      this.#threshold = this.#data.size + INDEX_EVERY
    }
    this.#indomWritten = false
    this.#metaBefore = this.#meta.size
  }

  /** Says from where to read for the time of the last record. Times that are not later than that of the entry before say nothing new. */
  #indexEntry(at: Timestamp, metaOffset: number): void {
    const { version } = this
    const time = this.#stored(at)
    if (this.#lastIndexed !== undefined && !isLater(time, this.#lastIndexed)) return
    const bytes = new Uint8Array(version === 2 ? 20 : 32)
    const view = new DataView(bytes.buffer)
    const next = writeStamp(view, 0, time, version)
    view.setInt32(next, this.#lastVolume)
    if (version === 2) {
      view.setInt32(next + 4, metaOffset)
      view.setInt32(next + 8, this.#lastOffset)
    } else {
      view.setBigInt64(next + 4, BigInt(metaOffset))
      view.setBigInt64(next + 12, BigInt(this.#lastOffset))
    }
    this.#write(this.#index, bytes)
    this.#lastIndexed = time
  }

  #metadata(record: Uint8Array): void {
    if (this.version === 2 && this.#meta.size + record.length > MAX_V2)
      throw new PcpError('E2BIG', `${this.#files.name}.meta: version 2 ends at 2 GB: write version 3`)
    if (this.#start === undefined) this.#early.push(record)
    else this.#write(this.#meta, record)
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
      throw new PcpError('EOVERFLOW', `Version 2 cannot express ${at.sec} seconds: write version 3`)
    return at
  }

  /** The time as it is read back: version 2 drops what is below a microsecond. */
  #stored({ sec, nsec }: Timestamp): Timestamp {
    return { sec, nsec: this.version === 2 ? nsec - (nsec % 1000) : nsec }
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
}

function isLater(a: Timestamp, b: Timestamp): boolean {
  return a.sec > b.sec || (a.sec === b.sec && a.nsec > b.nsec)
}

function afterLast(last: Timestamp | undefined): Timestamp | undefined {
  if (last === undefined) return undefined
  const nsec = last.nsec + 1_000_000
  return nsec < 1_000_000_000 ? { sec: last.sec, nsec } : { sec: last.sec + 1, nsec: nsec - 1_000_000_000 }
}
