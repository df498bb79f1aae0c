/** Copies records of values from one archive to another, unchanged or filtered. docs/formats/archive.md §5 */
import { PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { RecordView } from '../record-view.ts'
import { type ArchiveVersion, stampSize, writeStamp } from '../stamp.ts'

/** Instances of a metric to copy. */
export type InstanceSelection = 'nothing' | 'all' | ReadonlySet<number>

/** Value sets taken from the record copied last, by index. */
export interface TakenSets {
  readonly sets: Int32Array
  readonly count: number
}

const SET_HEAD = 8
const PAD = 0x7e

/** Copies one record at a time. */
export class RecordCopy implements TakenSets {
  sets: Int32Array = new Int32Array(64)
  count = 0
  readonly #version: ArchiveVersion
  readonly #wants: (pmid: Pmid) => InstanceSelection
  readonly #wanted = new Map<Pmid, InstanceSelection>()
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)

  /** For an output of this version. `wants` is called once per metric. */
  constructor(version: ArchiveVersion, wants: (pmid: Pmid) => InstanceSelection) {
    this.#version = version
    this.#wants = wants
  }

  /**
   * Returns the filtered record in the output's version; undefined if nothing is left. Valid until the next copy, and
   * until the record's reader moves. PM_ERR_LOGREC for values outside the record.
   */
  copy(record: RecordView): Uint8Array | undefined {
    record.index()
    const isWhole = this.#choose(record)
    if (this.count === 0) return undefined
    if (isWhole && record.version === this.#version)
      return record.bytes.subarray(record.offset, record.offset + record.length)
    return this.#rebuild(record)
  }

  /** Selects the sets to take; returns whether that is all of them, complete. */
  #choose({ count, pmids, statuses, view, pairs }: RecordView): boolean {
    if (this.sets.length < count) this.sets = new Int32Array(count * 2)
    let taken = 0
    let isWhole = true
    for (let s = 0; s < count; s++) {
      const wanted = this.#wantedOf(pmids[s]!)
      if (wanted === 'nothing') {
        isWhole = false
        continue
      }
      if (wanted !== 'all' && statuses[s]! > 0) {
        isWhole = false
        if (!hasOne(view, pairs[s]!, statuses[s]!, wanted)) continue
      }
      this.sets[taken++] = s
    }
    this.count = taken
    return isWhole
  }

  #wantedOf(pmid: Pmid): InstanceSelection {
    let wanted = this.#wanted.get(pmid)
    if (wanted === undefined) {
      wanted = this.#wants(pmid)
      this.#wanted.set(pmid, wanted)
    }
    return wanted
  }

  #rebuild(record: RecordView): Uint8Array {
    // As long as the record, plus a longer timestamp, and padding of blocks that lack it.
    this.#reserve(record.length + 16)
    const view = this.#view
    const next = writeStamp(view, 4, record.timestamp(), this.#version)
    view.setInt32(next, this.count)
    const body = 4 + stampSize(this.#version) + 4
    const blocks = this.#writeSets(record, body)
    const length = this.#writeBlocks(record, body, blocks) + 4
    view.setInt32(0, length)
    view.setInt32(length - 4, length)
    return this.#bytes.subarray(0, length)
  }

  /** Writes heads and pairs, with words of blocks as in the record. Returns the offset after them. */
  #writeSets(record: RecordView, at: number): number {
    const out = this.#view
    const { view } = record
    for (let i = 0; i < this.count; i++) {
      const s = this.sets[i]!
      const pmid = record.pmids[s]!
      const status = record.statuses[s]!
      out.setUint32(at, pmid)
      out.setInt32(at + 4, status)
      at += SET_HEAD
      if (status <= 0) continue
      out.setInt32(at, record.formats[s]!)
      const to = this.#writePairs(view, record.pairs[s]!, status, this.#wantedOf(pmid), at + 4)
      out.setInt32(at - 4, (to - at - 4) / 8)
      at = to
    }
    return at
  }

  /** Writes the selected pairs: all in their order, or some in the order of the selection. Returns the offset after them. */
  #writePairs(view: DataView, pairs: number, count: number, wanted: InstanceSelection, to: number): number {
    const out = this.#view
    const put = (from: number): void => {
      out.setInt32(to, view.getInt32(from))
      out.setInt32(to + 4, view.getInt32(from + 4))
      to += 8
    }
    if (typeof wanted === 'string') {
      for (let k = 0; k < count; k++) put(pairs + 8 * k)
      return to
    }
    const places = new Map<number, number>()
    for (let k = 0; k < count; k++) places.set(view.getInt32(pairs + 8 * k), pairs + 8 * k)
    for (const inst of wanted) {
      const from = places.get(inst)
      if (from !== undefined) put(from)
    }
    return to
  }

  /** Copies the blocks of the sets at `at` to `blockAt`, and adjusts their words. Returns the offset after them. */
  #writeBlocks(record: RecordView, at: number, blockAt: number): number {
    const view = this.#view
    for (let i = 0; i < this.count; i++) {
      const status = view.getInt32(at + 4)
      at += SET_HEAD
      if (status <= 0) continue
      const format = view.getInt32(at)
      at += 4
      for (let k = 0; k < status; k++, at += 8) {
        if (format === 0) continue
        const from = record.blockAt(view.getInt32(at + 4))
        view.setInt32(at + 4, (blockAt >> 2) + 2)
        blockAt = this.#writeBlock(record, from, blockAt)
      }
    }
    return blockAt
  }

  #writeBlock(record: RecordView, from: number, to: number): number {
    const { bytes, offset } = record
    const size = record.blockSize(from)
    if (size === 0 || to + size + 8 > this.#bytes.length)
      throw new PcpError('PM_ERR_LOGREC', `A value block at ${from - offset} exceeds its record`)
    const out = this.#bytes
    if (size <= 48) for (let i = 0; i < size; i++) out[to + i] = bytes[from + i]!
    else out.set(bytes.subarray(from, from + size), to)
    to += size
    while ((to & 3) !== 0) out[to++] = PAD
    return to
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    this.#bytes = new Uint8Array(2 ** Math.ceil(Math.log2(length)))
    this.#view = new DataView(this.#bytes.buffer)
  }
}

function hasOne(view: DataView, pairs: number, count: number, wanted: ReadonlySet<number>): boolean {
  for (let k = 0; k < count; k++) if (wanted.has(view.getInt32(pairs + 8 * k))) return true
  return false
}
