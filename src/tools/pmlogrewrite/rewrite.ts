/**
 * Rewrites an archive: metadata, data volumes, temporal index, each from its start to its end. docs/formats/archive.md
 *
 * The output's index has the entries of the input with adjusted positions; without an index in the input, it gets entries like those
 * of the archive writer.
 */
import { encodeLabel, VOLUME_INDEX, VOLUME_META } from '../../archive/label.ts'
import type { Member } from '../../archive/member.ts'
import { forEachMetaRecord } from '../../archive/meta-records.ts'
import { RecordWindow, type WindowTarget } from '../../archive/record-window.ts'
import type { OutputFiles } from '../../archive/write/output-files.ts'
import type { ByteSink } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { PcpError } from '../../model/errors.ts'
import { addTimes } from '../../time/arithmetic.ts'
import { IndexRewriter, PositionMap } from './index-entries.ts'
import { MetadataRewriter } from './metadata.ts'
import type { Plan } from './plan.ts'
import { ValueRewriter } from './values.ts'

const BUFFER_BYTES = 1 << 20
/** Bytes per step, so that signals are handled in between. */
const TURN_BYTES = 16 << 20
/** Offsets of version 2 have 31 bits, which limits the size of files. */
const MAX_V2 = 2 ** 31 - 2
const MARK_DISTANCE: Timestamp = { sec: 0, nsec: 1_000_000 }

/** Position and size of a damaged volume. */
export interface Damage {
  readonly error: PcpError
  readonly offset: number
  readonly size: number
}

/** A rewriting in progress; call `metadata`, then run `volumes` to its end, then `finish`. */
export class Rewriting {
  /** Bytes of volumes read so far. */
  bytesRead = 0
  /** Why the last volume was not read completely. */
  damage: Damage | undefined
  readonly #plan: Plan
  readonly #files: OutputFiles
  readonly #values: ValueRewriter
  readonly #metaPlaces = new Map<Member, PositionMap>()
  readonly #index: IndexRewriter
  readonly #sinks: ByteSink[] = []
  readonly #maxVolume: number
  #meta: ByteSink | undefined
  #data: ByteSink | undefined
  #volume = -1
  #lastTime: Timestamp | undefined

  constructor(plan: Plan, files: OutputFiles) {
    this.#plan = plan
    this.#files = files
    this.#values = new ValueRewriter(plan)
    this.#maxVolume = plan.known.version === 2 ? MAX_V2 : Number.MAX_SAFE_INTEGER
    this.#index = new IndexRewriter(plan.known.version, plan.rules.global.delta)
  }

  /** Total bytes of all volumes. */
  get bytes(): number {
    let bytes = 0
    for (const { volumes } of this.#plan.known.archive.members)
      for (const volume of volumes) bytes += volume.tryOpen()?.source.size ?? 0
    return bytes
  }

  /** Writes the metadata file. Throws PM_ERR_LOGREC for damage, and errors of the file system. */
  metadata(): void {
    const { archive } = this.#plan.known
    const sink = this.#create('meta', VOLUME_META)
    this.#meta = sink
    const rewriter = new MetadataRewriter(this.#plan, (record) => sink.write(record))
    for (const member of archive.members) {
      const { bytes, start, path } = member.meta
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      const places = new PositionMap(sink.size, VOLUME_META)
      forEachMetaRecord(view, start, path, (at, length, type) => {
        places.add(at, sink.size, VOLUME_META)
        rewriter.rewrite({ bytes, view, at, length, type, path })
        places.end(at + length, sink.size)
      })
      this.#metaPlaces.set(member, places)
    }
    rewriter.addLabels()
  }

  /** Writes the data volumes, yielding every few megabytes. Damage ends it and is stored in `damage`. Throws if values cannot be converted. */
  *volumes(): Generator<void> {
    const { members, data } = this.#plan.known.archive
    for (const [m, member] of members.entries()) {
      if (m > 0) this.#index.begin()
      for (const [v, volume] of member.volumes.entries()) {
        this.#begin(m === 0 ? Math.max(volume.number, this.#volume + 1) : this.#volume + 1)
        if (m > 0 && v === 0) this.#mark()
        const places = new PositionMap(this.#data!.size, this.#volume)
        const target = data[m]!.target(v)
        if (target !== undefined) yield* this.#records(target, places)
        this.#index.volume(volume.number, places)
        if (this.damage !== undefined) break
      }
      this.#index.add(member.index, this.#metaPlaces.get(member)!)
      if (this.damage !== undefined) return
    }
  }

  *#records(target: WindowTarget, places: PositionMap): Generator<void> {
    const window = new RecordWindow(false, BUFFER_BYTES)
    window.attach(target)
    let turn = 0
    for (let position = target.start; ; position += window.length) {
      const found = window.load(position)
      if (found === 'end') return
      if (found === 'damage') {
        this.damage = { error: window.damage(), offset: position, size: target.source.size }
        return
      }
      const record = this.#values.rewrite(window)
      if (record !== undefined && this.#data!.size + record.length > this.#maxVolume)
        this.#begin(this.#volume + 1)
      const start = this.#data!.size
      places.add(position, start, this.#volume)
      if (record !== undefined) this.#record(record, this.#values.timeOf(window))
      places.end(position + window.length, this.#data!.size, window.sec, window.nsec)
      this.bytesRead += window.length
      turn += window.length
      if (turn < TURN_BYTES) continue
      turn = 0
      yield
    }
  }

  #record(record: Uint8Array, time: Timestamp): void {
    this.#index.record(time, this.#volume, this.#data!.size, this.#meta!.size)
    this.#data!.write(record)
    this.#lastTime = time
  }

  #begin(volume: number): void {
    this.#data?.close()
    this.#volume = volume
    this.#data = this.#create(String(volume), volume)
  }

  /** Writes a mark between two archives read as one. */
  #mark(): void {
    if (this.#lastTime === undefined) return
    this.#data!.write(this.#values.mark(addTimes(this.#lastTime, MARK_DISTANCE)))
  }

  /** Writes the index and closes all files. Without any record, removes them and returns false. */
  finish(): boolean {
    const sink = this.#create('index', VOLUME_INDEX)
    this.#index.write(sink)
    this.close()
    return this.#lastTime !== undefined
  }

  /** Closes all files; idempotent. */
  close(): void {
    for (const sink of this.#sinks.splice(0)) sink.close()
  }

  #create(part: string, volume: number): ByteSink {
    const { known, rules } = this.#plan
    const { label } = known.archive
    const { delta, ...changes } = rules.global
    const start = delta === undefined ? label.start : addTimes(label.start, delta)
    const sink = this.#files.create(part)
    this.#sinks.push(sink)
    sink.write(encodeLabel({ ...label, ...changes, version: known.version, start, volume }))
    return sink
  }
}
