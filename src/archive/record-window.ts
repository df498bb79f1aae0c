/**
 * A window onto one data volume, and the current record in it. docs/formats/archive.md §5
 *
 *     file     ........[ window, read at once into a reused buffer ]........
 *     window           ..record..record..RECORD..record.
 *                                        ^offset        the current record, checked in place
 */
import type { ByteSource } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import type { FetchResult, ValueSet } from '../model/values.ts'
import { copySet, type RecordView } from './record-view.ts'
import { type ArchiveVersion, stampNsec, stampSec, stampSize } from './stamp.ts'
import { attempt } from './volume.ts'

/** Result of looking for a record. */
export type Found = 'record' | 'end' | 'damage'

/** A volume to read. */
export interface WindowTarget {
  readonly source: ByteSource
  /** For messages. */
  readonly path: string
  readonly version: ArchiveVersion
  readonly volume: number
  readonly member: number
  /** Offset of its first record. */
  readonly start: number
}

const PM_VAL_SPTR = 2
const NO_BYTES = new Uint8Array(0)

/** Larger records are read in parts by sparse windows. */
export const LARGE: number = 128 << 10
/** Bytes that a sparse window reads at once of a large record: of its heads, and around a block. */
const CHUNK = 64 << 10
const BLOCKS = 4 << 10
/** Bytes of a value set's head, including its format. */
const SET_HEAD = 12

/** See the drawing above. */
export class RecordWindow implements RecordView {
  bytes: Uint8Array = NO_BYTES
  view: DataView = new DataView(NO_BYTES.buffer)
  offset = 0
  length = 0
  volume = 0
  position = 0
  member = 0
  version: ArchiveVersion = 2
  sec = 0
  nsec = 0
  count = 0
  pmids: Uint32Array = new Uint32Array(0)
  statuses: Int32Array = new Int32Array(0)
  formats: Uint8Array = new Uint8Array(0)
  pairs: Int32Array = new Int32Array(0)

  readonly #checkValues: boolean
  readonly #isSparse: boolean
  readonly #bufferBytes: number
  #buffer: Uint8Array = NO_BYTES
  #target: WindowTarget | undefined
  /** Bytes of the record before its value sets. */
  #head = 0
  /** Range of the file in the window: all of the record or, if sparse, its beginning. */
  #from = 0
  #to = 0
  /** Range after that, with the blocks requested last. */
  #blocksFrom = 0
  #blocksTo = 0
  /** Number of value sets in the columns, and the offset of the next one. */
  #indexed = 0
  #indexedTo = 0
  /** Whether its blocks have been checked; those of value set `s` then range from `#starts[s]` to `#ends[s]`. */
  #isChecked = false
  #starts = new Int32Array(0)
  #ends = new Int32Array(0)
  #damage = ''

  /**
   * `checkValues`: values that exceed their record are damage. `isSparse`, only without `checkValues`: reads only the requested parts
   * of large records.
   */
  constructor(checkValues: boolean, bufferBytes: number, isSparse = false) {
    this.#checkValues = checkValues
    this.#isSparse = isSparse && !checkValues
    this.#bufferBytes = bufferBytes
  }

  /** Selects the volume. */
  attach(target: WindowTarget): void {
    if (this.#target === target) return
    this.#target = target
    this.volume = target.volume
    this.member = target.member
    this.version = target.version
    this.#head = stampSize(target.version) + 8
    this.#from = 0
    this.#to = 0
    if (target.source.bytes !== undefined) {
      this.#show(target.source.bytes)
      this.#to = target.source.bytes.length
    }
  }

  /** Returns the error for the damage found last. */
  damage(): PcpError {
    return new PcpError(
      'PM_ERR_LOGREC',
      `${this.#target?.path}: damaged record at byte ${this.position}: ${this.#damage}`,
    )
  }

  /** Loads the record at `position` in the file. Up to three stray bytes at the end of the file are ignored. */
  load(position: number): Found {
    this.position = position
    if (!this.#cover(position, 4, false)) return 'end'
    const length = this.view.getInt32(position - this.#from)
    if (length < this.#head + 4 || (length & 3) !== 0) return this.#found(`its length is ${length}`)
    const isPart = this.#isSparse && length > LARGE && position + length > this.#to
    if (isPart ? !this.#begin(position, length) : !this.#cover(position, length, false))
      return this.#found(`its length of ${length} bytes exceeds the file`)
    if (isPart) return this.#accept(position, length)
    const last = this.view.getInt32(position - this.#from + length - 4)
    if (last !== length) return this.#found(`its length is ${length} at the start and ${last} at the end`)
    return this.#accept(position, length)
  }

  /** Loads the record that ends at `position`, if it is after the label. */
  loadBefore(position: number): Found {
    const start = this.#target!.start
    this.position = position
    if (position <= start) return 'end'
    if (position - start < this.#head + 4 || !this.#cover(position - 4, 4, true))
      return this.#found('the space before it is too small for a record')
    const length = this.view.getInt32(position - this.#from - 4)
    if (length < this.#head + 4 || (length & 3) !== 0 || length > position - start)
      return this.#found(`the record before it has length ${length}`)
    if (!this.#cover(position - length, length, true))
      return this.#found(`the length of the record before it, ${length} bytes, exceeds the file`)
    const first = this.view.getInt32(position - length - this.#from)
    if (first !== length) return this.#found(`the record before it has lengths ${first} and ${length}`)
    return this.#accept(position - length, length)
  }

  #found(damage: string): 'damage' {
    this.#damage = damage
    return 'damage'
  }

  #accept(position: number, length: number): Found {
    const offset = position - this.#from
    this.position = position
    this.offset = offset
    this.length = length
    this.sec = stampSec(this.view, offset + 4, this.version)
    this.nsec = stampNsec(this.view, offset + 4, this.version)
    this.count = this.view.getInt32(offset + this.#head - 4)
    this.#indexed = 0
    this.#blocksTo = 0
    if (this.count === 0 && length !== this.#head + 4) return this.#found('it has bytes but no value sets')
    if (!this.#checkValues) return 'record'
    const problem = this.#index(true, this.count)
    return problem === undefined ? 'record' : this.#found(problem)
  }

  /** Moves the window to `length` bytes from `position` on; returns false if the file is too short. */
  #cover(position: number, length: number, isBackward: boolean): boolean {
    if (position >= this.#from && position + length <= this.#to) return true
    const { source, path } = this.#target!
    if (source.bytes !== undefined) return false
    const fileSize = source.size
    if (position + length > fileSize) return false
    if (length > this.#bufferBytes && !this.#isFramed(position, length)) return false
    const ahead = Math.min(this.#bufferBytes, source.chunk ?? Number.POSITIVE_INFINITY)
    this.#reserve(Math.max(length, Math.min(ahead, fileSize)))
    const buffer = this.#buffer.subarray(
      0,
      isBackward ? this.#buffer.length : Math.max(length, this.#readAhead()),
    )
    const from = isBackward ? Math.max(0, position + length - buffer.length) : position
    this.#from = from
    this.#to = from + attempt(path, () => source.readInto(buffer, from))
    return position + length <= this.#to
  }

  /** Returns how much to read at once: large records are mostly followed by others of their size, and a part of one would be read again. */
  #readAhead(): number {
    const size = this.#buffer.length
    if (this.length <= LARGE) return size
    return this.#isSparse ? CHUNK : size - (size % this.length)
  }

  #reserve(size: number): void {
    if (this.#buffer.length < size) this.#buffer = new Uint8Array(size)
    this.#show(this.#buffer)
  }

  /** Moves the window to the beginning of a large record; returns false if the file is too short for all of it. */
  #begin(position: number, length: number): boolean {
    const { source } = this.#target!
    if (source.bytes !== undefined || !this.#isFramed(position, length)) return false
    if (this.#from === position && this.#buffer.length >= length && this.#to - position >= CHUNK) return true
    this.#reserve(length)
    this.#from = position
    this.#to = position + this.#read(0, CHUNK)
    return true
  }

  /** Reads a range into the window; returns the number of bytes read. */
  #read(from: number, to: number): number {
    const { source, path } = this.#target!
    const part = this.#buffer.subarray(from, to)
    return attempt(path, () => source.readInto(part, this.#from + from))
  }

  /** Extends the window within the record to `needed` bytes or more; returns its end. */
  #fill(needed: number): number {
    const ready = this.#to - this.#from
    const end = this.offset + this.length
    if (ready >= Math.min(needed, end)) return ready
    const to = Math.min(end, Math.max(needed, ready + CHUNK))
    this.#to += this.#read(ready, to)
    if (this.#to - this.#from < to) throw this.#fault('the file was truncated')
    return to
  }

  /** Reads the block at an offset in a record that is only partly in the window. */
  #fillBlock(at: number): void {
    const end = this.offset + this.length - 4
    if (at < this.offset || at + 4 > end) return
    this.#fillPart(at, Math.min(end, at + BLOCKS), at + 4)
    const length = this.view.getInt32(at) & 0xffffff
    this.#fillPart(at, Math.min(end, at + length), at + length)
  }

  /** Reads `[from, to)` unless the bytes up to `least` are available. */
  #fillPart(from: number, to: number, least: number): void {
    if (least <= this.#to - this.#from || (from >= this.#blocksFrom && least <= this.#blocksTo)) return
    if (this.#read(from, to) < to - from) throw this.#fault('the file was truncated')
    this.#blocksFrom = from
    this.#blocksTo = to
  }

  /** Returns whether the record has the same length at both ends. Checked before a large buffer is allocated, as damage may imply any length. */
  #isFramed(position: number, length: number): boolean {
    const { source, path } = this.#target!
    const word = new Uint8Array(4)
    const view = new DataView(word.buffer)
    return [position, position + length - 4].every(
      (at) => attempt(path, () => source.readInto(word, at)) === 4 && view.getInt32(0) === length,
    )
  }

  #show(bytes: Uint8Array): void {
    if (this.bytes === bytes) return
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  index(): void {
    this.#indexTo(this.count)
  }

  /** Fills the columns of at least the first `count` value sets. */
  #indexTo(count: number): void {
    if (count <= this.#indexed || this.#indexed === this.count) return
    const problem = this.#index(false, this.#isSparse ? count : this.count)
    if (problem !== undefined) throw this.#fault(problem)
  }

  #fault(damage: string): PcpError {
    this.#damage = damage
    return this.damage()
  }

  /**
   * Fills the columns up to value set `until`; returns the fault, if any. With `checkBlocks`, which requires all value sets,
   * every value block must be after them, and all blocks together must fill the rest of the record exactly.
   */
  #index(checkBlocks: boolean, until: number): string | undefined {
    const { view, count, offset } = this
    const end = offset + this.length - 4
    let at = this.#indexed === 0 ? offset + this.#head : this.#indexedTo
    if (count < 0 || count - this.#indexed > (end - at) >> 3) return `${count} value sets exceed the record`
    if (count > this.pmids.length) this.#grow(count)
    const { pmids, statuses, formats, pairs } = this
    const origin = offset - 8
    let lowest = end
    let used = 0
    let ready = this.#to - this.#from
    for (let s = this.#indexed; s < until; s++) {
      if (at + 8 > end) return `value set ${s} of ${count} exceeds the record`
      pmids[s] = view.getInt32(at)
      const status = view.getInt32(at + 4)
      statuses[s] = status
      formats[s] = 0
      at += 8
      pairs[s] = at
      if (status <= 0) {
        if (at + SET_HEAD > ready) ready = this.#fill(at + SET_HEAD)
        continue
      }
      if (status > (end - at - 4) >> 3) return `${status} values exceed the record`
      const format = view.getInt32(at)
      if (format < 0 || format > PM_VAL_SPTR) return `value format ${format} is unknown`
      formats[s] = format
      at += 4
      pairs[s] = at
      const next = at + 8 * status
      if (next + SET_HEAD > ready) ready = this.#fill(next + SET_HEAD)
      if (format !== 0 && checkBlocks) {
        let from = end
        let to = 0
        let size = 0
        for (let word = at + 4; word < next; word += 8) {
          const block = origin + 4 * view.getInt32(word)
          if (block < next || block + 4 > end)
            return `a value block at ${block - offset} is outside the record`
          const length = view.getInt32(block) & 0xffffff
          if (length < 4 || block + length > end)
            return `a value block of ${length} bytes at ${block - offset} exceeds the record`
          size += (length + 3) & ~3
          if (block < from) from = block
          if (block + length > to) to = block + length
        }
        this.#starts[s] = from
        this.#ends[s] = to
        used += size
        if (from < lowest) lowest = from
      }
      at = next
    }
    if (checkBlocks && (lowest !== at || used !== end - at))
      return `its value blocks take ${used} bytes instead of ${end - at}`
    this.#indexed = until
    this.#indexedTo = at
    this.#isChecked = checkBlocks
    return undefined
  }

  #grow(count: number): void {
    const size = Math.max(count, 2 * this.pmids.length)
    this.pmids = new Uint32Array(size)
    this.statuses = new Int32Array(size)
    this.formats = new Uint8Array(size)
    this.pairs = new Int32Array(size)
    this.#starts = new Int32Array(size)
    this.#ends = new Int32Array(size)
  }

  find(pmid: Pmid, guess = -1): number {
    if (guess >= 0 && guess < this.count) {
      this.#indexTo(guess + 1)
      if (this.pmids[guess] === pmid) return guess
    }
    this.#indexTo(1)
    for (let s = 0; s < this.count; s++) {
      if (s === this.#indexed) this.#indexTo(s + 1)
      if (this.pmids[s] === pmid) return s
    }
    return -1
  }

  get isWhole(): boolean {
    return this.offset + this.length <= this.#to - this.#from
  }

  blockAt(word: number): number {
    const at = this.offset - 8 + 4 * word
    if (!this.isWhole) this.#fillBlock(at)
    return at
  }

  blockSize(at: number): number {
    const end = this.offset + this.length - 4
    const size = at >= this.offset && at + 4 <= end ? this.view.getInt32(at) & 0xffffff : 0
    return size >= 4 && at + size <= end ? size : 0
  }

  timestamp(): Timestamp {
    return { sec: this.sec, nsec: this.nsec }
  }

  toSet(s: number): ValueSet {
    this.index()
    this.#fill(this.offset + this.length)
    const span = this.#isChecked ? { from: this.#starts[s]!, to: this.#ends[s]! } : undefined
    return copySet(this, s, span, (what) => this.#fault(what))
  }

  toResult(): FetchResult {
    this.index()
    const sets = Array.from({ length: this.count }, (_, s) => this.toSet(s))
    return { timestamp: this.timestamp(), changes: 0, sets }
  }
}
