/**
 * A window onto one data volume, and the record in it that a reader stands on. docs/formats/archive.md §5
 *
 *     file     ........[ window, read at once into a buffer that is used again ]........
 *     window           ..record..record..RECORD..record.
 *                                        ^offset        the one looked at, checked where it stands
 */
import type { ByteSource } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { emptySet, type FetchResult, type ValueSet } from '../model/values.ts'
import type { RecordView } from './record-view.ts'
import { type ArchiveVersion, stampNsec, stampSec, stampSize } from './stamp.ts'
import { attempt } from './volume.ts'

/** What stands where a record was looked for. */
export type Found = 'record' | 'end' | 'damage'

/** A volume to look into. */
export interface WindowTarget {
  readonly source: ByteSource
  /** For messages. */
  readonly path: string
  readonly version: ArchiveVersion
  readonly volume: number
  readonly member: number
  /** Where its first record starts. */
  readonly start: number
}

const PM_VAL_SPTR = 2
const NO_BYTES = new Uint8Array(0)

/** Blocks that take no more bytes each than this are copied in one piece, with what little may stand between them. */
const DENSE = 24

/** The part of a record that a value set's blocks take. */
interface Span {
  readonly from: number
  /** Bytes to copy: all from the first block to the last, or those of the blocks. */
  readonly size: number
  readonly isDense: boolean
}

const NO_SPAN: Span = { from: 0, size: 0, isDense: true }

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
  readonly #bufferBytes: number
  #buffer: Uint8Array = NO_BYTES
  #target: WindowTarget | undefined
  /** Bytes of the record before its value sets. */
  #head = 0
  /** The part of the file that the window shows. */
  #from = 0
  #to = 0
  #isIndexed = false
  /** Were its blocks looked at? Then those of value set `s` are from `#starts[s]` to `#ends[s]`. */
  #isChecked = false
  #starts = new Int32Array(0)
  #ends = new Int32Array(0)
  #damage = ''

  /** `checkValues`: a record whose values do not fit into it counts as damage. */
  constructor(checkValues: boolean, bufferBytes: number) {
    this.#checkValues = checkValues
    this.#bufferBytes = bufferBytes
  }

  /** Which volume to look into. */
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

  /** What was found damaged last, as an error. */
  damage(): PcpError {
    return new PcpError(
      'PM_ERR_LOGREC',
      `${this.#target?.path}: damaged record at byte ${this.position}: ${this.#damage}`,
    )
  }

  /** Looks at the record that starts at `position` in the file. Up to three stray bytes at the end are the end. */
  load(position: number): Found {
    this.position = position
    if (!this.#cover(position, 4, false)) return 'end'
    const length = this.view.getInt32(position - this.#from)
    if (length < this.#head + 4 || (length & 3) !== 0) return this.#found(`its length is ${length}`)
    if (!this.#cover(position, length, false))
      return this.#found(`no record of its length, ${length} bytes, is there`)
    const last = this.view.getInt32(position - this.#from + length - 4)
    if (last !== length) return this.#found(`its length is ${length} at its start and ${last} at its end`)
    return this.#accept(position, length)
  }

  /** Looks at the record that ends before `position`; there is none before the label's end. */
  loadBefore(position: number): Found {
    const start = this.#target!.start
    this.position = position
    if (position <= start) return 'end'
    if (position - start < this.#head + 4 || !this.#cover(position - 4, 4, true))
      return this.#found('there is no room for a record before it')
    const length = this.view.getInt32(position - this.#from - 4)
    if (length < this.#head + 4 || (length & 3) !== 0 || length > position - start)
      return this.#found(`the record before it says that its length is ${length}`)
    if (!this.#cover(position - length, length, true))
      return this.#found(`no record of the length before it, ${length} bytes, is there`)
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
    this.#isIndexed = false
    if (this.count === 0 && length !== this.#head + 4)
      return this.#found('it has no value sets, but bytes for some')
    if (!this.#checkValues) return 'record'
    const problem = this.#index(true)
    return problem === undefined ? 'record' : this.#found(problem)
  }

  /** Makes the window show `length` bytes from `position` on; false when the file has not that many. */
  #cover(position: number, length: number, isBackward: boolean): boolean {
    if (position >= this.#from && position + length <= this.#to) return true
    const { source, path } = this.#target!
    if (source.bytes !== undefined) return false
    const fileSize = source.size
    if (position + length > fileSize) return false
    if (length > this.#bufferBytes && !this.#isFramed(position, length)) return false
    const size = Math.max(length, Math.min(this.#bufferBytes, fileSize))
    if (this.#buffer.length < size) this.#buffer = new Uint8Array(size)
    const from = isBackward ? Math.max(0, position + length - this.#buffer.length) : position
    this.#show(this.#buffer)
    this.#from = from
    this.#to = from + attempt(path, () => source.readInto(this.#buffer, from))
    return position + length <= this.#to
  }

  /** Has the record both its lengths? Asked before a buffer is made for a large one: damage may say any length. */
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
    if (this.#isIndexed) return
    const problem = this.#index(false)
    if (problem === undefined) return
    this.#damage = problem
    throw this.damage()
  }

  /**
   * Fills the columns; returns what is wrong, if anything. With `checkBlocks` every value block must lie behind the value sets, and
   * all blocks together must fill the rest of the record exactly.
   */
  #index(checkBlocks: boolean): string | undefined {
    const { view, count, offset } = this
    const end = offset + this.length - 4
    let at = offset + this.#head
    if (count < 0 || count > (end - at) >> 3) return `${count} value sets do not fit`
    if (count > this.pmids.length) this.#grow(count)
    const { pmids, statuses, formats, pairs } = this
    const origin = offset - 8
    let lowest = end
    let used = 0
    for (let s = 0; s < count; s++) {
      if (at + 8 > end) return `value set ${s} of ${count} does not fit`
      pmids[s] = view.getInt32(at)
      const status = view.getInt32(at + 4)
      statuses[s] = status
      formats[s] = 0
      at += 8
      pairs[s] = at
      if (status <= 0) continue
      if (status > (end - at - 4) >> 3) return `${status} values do not fit`
      const format = view.getInt32(at)
      if (format < 0 || format > PM_VAL_SPTR) return `value format ${format} is not known`
      formats[s] = format
      at += 4
      pairs[s] = at
      const next = at + 8 * status
      if (format !== 0 && checkBlocks) {
        let from = end
        let to = 0
        let size = 0
        for (let word = at + 4; word < next; word += 8) {
          const block = origin + 4 * view.getInt32(word)
          if (block < next || block + 4 > end) return `a value block at ${block - offset} is outside`
          const length = view.getInt32(block) & 0xffffff
          if (length < 4 || block + length > end)
            return `a value block of ${length} bytes at ${block - offset} does not fit`
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
      return `its value blocks take ${used} bytes, in place of the ${end - at} behind the value sets`
    this.#isIndexed = true
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

  find(pmid: Pmid): number {
    this.index()
    const { pmids, count } = this
    for (let s = 0; s < count; s++) if (pmids[s] === pmid) return s
    return -1
  }

  blockAt(word: number): number {
    return this.offset - 8 + 4 * word
  }

  timestamp(): Timestamp {
    return { sec: this.sec, nsec: this.nsec }
  }

  toSet(s: number): ValueSet {
    this.index()
    const status = this.statuses[s]!
    const pmid = this.pmids[s]!
    if (status <= 0) return emptySet(pmid, status)
    const format = this.formats[s]!
    const blocks = format === 0 ? NO_SPAN : this.#span(s)
    // One store for all three: that of a typed array costs more to make and to free than its words to copy.
    const store = new ArrayBuffer(8 * status + ((blocks.size + 3) & ~3))
    const inst = new Int32Array(store, 0, status)
    const word = new Int32Array(store, 4 * status, status)
    const { view } = this
    for (let i = 0, at = this.pairs[s]!; i < status; i++, at += 8) {
      inst[i] = view.getInt32(at)
      word[i] = view.getInt32(at + 4)
    }
    if (format === 0) return { pmid, status, format, inst, word, bytes: NO_BYTES }
    const bytes = new Uint8Array(store, 8 * status, blocks.size)
    if (blocks.isDense) this.#copySpan(word, bytes, blocks.from)
    else this.#copyBlocks(word, bytes)
    return { pmid, status, format, inst, word, bytes }
  }

  /** Where the blocks of value set `s` are, checked. */
  #span(s: number): Span {
    if (this.#isChecked) {
      const from = this.#starts[s]!
      const size = this.#ends[s]! - from
      if (size <= DENSE * this.statuses[s]!) return { from, size, isDense: true }
    }
    const { view, offset } = this
    const end = offset + this.length - 4
    const pairs = this.pairs[s]!
    const behind = pairs + 8 * this.statuses[s]!
    let total = 0
    for (let at = pairs + 4; at < behind; at += 8)
      total += this.#blockSize(offset - 8 + 4 * view.getInt32(at), end)
    return { from: 0, size: total, isDense: false }
  }

  /** The bytes from `from` on; `word`, which pointed to blocks in them, then points into the copy. */
  #copySpan(word: Int32Array, bytes: Uint8Array, from: number): void {
    bytes.set(this.bytes.subarray(from, from + bytes.length))
    const shift = this.offset - 8 - from
    for (let i = 0; i < word.length; i++) word[i] = 4 * word[i]! + shift
  }

  /** The blocks that `word` points to, one behind the other; `word` then points into the copy. */
  #copyBlocks(word: Int32Array, bytes: Uint8Array): void {
    const end = this.offset + this.length - 4
    let used = 0
    for (let i = 0; i < word.length; i++) {
      const from = this.blockAt(word[i]!)
      const length = this.#blockSize(from, end)
      bytes.set(this.bytes.subarray(from, from + length), used)
      word[i] = used
      used += length
    }
  }

  #blockSize(at: number, end: number): number {
    const size = at >= this.offset && at + 4 <= end ? this.view.getInt32(at) & 0xffffff : 0
    if (size >= 4 && at + size <= end) return size
    this.#damage = `a value block at ${at - this.offset} is outside`
    throw this.damage()
  }

  toResult(): FetchResult {
    this.index()
    const sets = Array.from({ length: this.count }, (_, s) => this.toSet(s))
    return { timestamp: this.timestamp(), changes: 0, sets }
  }
}
