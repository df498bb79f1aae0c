/**
 * Reads only the selected parts of large records: heads of value sets up to the last selected metric, and the blocks of
 * selected metrics. Extracting few metrics from large records thus reads a fraction of the file. docs/formats/archive.md §5
 *
 *     file     [length time metrics | set  set  SET  set  SET | set ... | blocks  BLOCKS ... | length]
 *     result   [length time metrics | SET  SET | BLOCKS | length]
 */
import { bytesSource } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { Archive } from '../archive.ts'
import type { RecordView } from '../record-view.ts'
import { RecordWindow, type WindowTarget } from '../record-window.ts'
import { stampNsec, stampSec, stampSize } from '../stamp.ts'

/** Records up to this size are returned whole. */
const SMALL = 16 << 10
const CHUNK = 64 << 10
/** Bytes first read after the start of a set's last block. */
const BLOCK_GUESS = 256
const PAD = 0x7e

/** Steps forward through one archive whose files are not in memory. */
export class SparseReader {
  /** Time of the last record passed, returned or not. */
  lastTime: Timestamp | undefined
  /** Its end in the volume. */
  end = 0
  readonly #archive: Archive
  readonly #wanted: ReadonlySet<Pmid>
  readonly #window = new RecordWindow(false, 0)
  #volume = 0
  #position = 0
  #target: WindowTarget | undefined
  /** A range of the file. */
  #chunk = new Uint8Array(CHUNK)
  #chunkView = new DataView(this.#chunk.buffer)
  #from = 0
  #to = 0
  #blocks = new Uint8Array(CHUNK)
  #out = new Uint8Array(0)
  #view = new DataView(this.#out.buffer)
  /** Metrics of the last record, and whether they are selected: the next record mostly has the same. */
  #pmids = new Uint32Array(0)
  #isWanted = new Uint8Array(0)

  /** Returns whether an archive can be read this way. */
  static suits(archive: Archive): boolean {
    return archive.members.length === 1 && archive.members[0]!.volumes.every((volume) => !isInMemory(volume))
  }

  constructor(archive: Archive, wanted: ReadonlySet<Pmid>) {
    this.#archive = archive
    this.#wanted = wanted
  }

  /** Moves to the start of a record of the same archive. */
  startAt({ volume, position }: RecordView): void {
    this.#volume = this.#archive.members[0]!.volumes.findIndex(({ number }) => number === volume)
    this.#position = position
  }

  /**
   * Returns the selected parts of the next record, or all of it; records without selected metrics are skipped. Undefined at the end.
   * PM_ERR_LOGREC for damage; parts that are not selected are not checked.
   */
  next(): RecordView | undefined {
    const data = this.#archive.data[0]!
    const volumes = this.#archive.members[0]!.volumes.length
    while (this.#volume < volumes) {
      const target = data.target(this.#volume)
      if (target !== undefined) {
        this.#enter(target)
        while (this.#cover(this.#position, 4) >= 0) if (this.#load(target)) return this.#given(target)
      }
      this.#volume++
      this.#position = 0
    }
    return undefined
  }

  #enter(target: WindowTarget): void {
    if (this.#target === target) return
    this.#target = target
    this.#from = 0
    this.#to = 0
    this.#position = Math.max(this.#position, target.start)
  }

  /** Assembles the selected parts of the record at the position, and steps over it; returns false if nothing is selected. */
  #load(target: WindowTarget): boolean {
    const position = this.#position
    const head = stampSize(target.version) + 8
    const at = this.#cover(position, 4)
    const length = this.#chunkView.getInt32(at)
    if (length < head + 4 || (length & 3) !== 0) throw this.#damage(`its length is ${length}`)
    const start = this.#cover(position, head)
    if (start < 0) throw this.#damage(`its end is missing: it should have ${length} bytes`)
    const view = this.#chunkView
    const time = {
      sec: stampSec(view, start + 4, target.version),
      nsec: stampNsec(view, start + 4, target.version),
    }
    const isSmall = length <= SMALL
    const found = isSmall ? this.#whole(position, length) : this.#sparse(position, length, head)
    const trailer = this.#cover(position + length - 4, 4)
    if (trailer < 0 || this.#chunkView.getInt32(trailer) !== length)
      throw this.#damage(`its length of ${length} bytes differs at the end`)
    this.lastTime = time
    this.#position = position + length
    this.end = this.#position
    return found
  }

  #whole(position: number, length: number): boolean {
    const at = this.#cover(position, length)
    if (at < 0) throw this.#damage(`its end is missing: it should have ${length} bytes`)
    this.#reserve(length)
    this.#out.set(this.#chunk.subarray(at, at + length))
    return true
  }

  #sparse(position: number, length: number, head: number): boolean {
    const start = this.#cover(position, head)
    const count = this.#chunkView.getInt32(start + head - 4)
    if (count < 0 || count > length >> 3) throw this.#damage(`${count} value sets exceed the record`)
    this.#reserve(head + 4)
    this.#out.set(this.#chunk.subarray(start, start + head))
    if (this.#pmids.length < count) {
      this.#pmids = new Uint32Array(count)
      this.#isWanted = new Uint8Array(count)
    }
    const end = position + length - 4
    let at = position + head
    let used = head
    let taken = 0
    for (let s = 0; s < count && taken < this.#wanted.size; s++) {
      // A set without values has 8 bytes, and the final length of the record has 4.
      const i = at + 12 <= this.#to && at >= this.#from ? at - this.#from : this.#cover(at, 12)
      if (i < 0 || at + 8 > end) throw this.#damage(`value set ${s} of ${count} exceeds the record`)
      const status = this.#chunkView.getInt32(i + 4)
      const size = status > 0 ? 12 + 8 * status : 8
      if (at + size > end) throw this.#damage(`${status} values exceed the record`)
      if (this.#wants(s, this.#chunkView.getUint32(i))) {
        const from = this.#cover(at, size)
        if (from < 0) throw this.#damage(`${status} values exceed the record`)
        this.#reserve(used + size + 4)
        this.#out.set(this.#chunk.subarray(from, from + size), used)
        used += size
        taken++
      }
      at += size
    }
    this.#view.setInt32(head - 4, taken)
    used = this.#takeBlocks(position, end, head, used)
    this.#view.setInt32(0, used + 4)
    this.#view.setInt32(used, used + 4)
    return taken > 0
  }

  #wants(s: number, pmid: Pmid): boolean {
    if (this.#pmids[s] !== pmid) {
      this.#pmids[s] = pmid
      this.#isWanted[s] = this.#wanted.has(pmid) ? 1 : 0
    }
    return this.#isWanted[s] === 1
  }

  /** Reads the blocks of the sets between `at` and `used`, and appends them. Returns the offset after them. */
  #takeBlocks(position: number, end: number, at: number, used: number): number {
    const sets = used
    while (at < sets) {
      const status = this.#view.getInt32(at + 4)
      at += 8
      if (status <= 0) continue
      const isBlock = this.#view.getInt32(at) !== 0
      at += 4
      if (isBlock) used = this.#takeBlocksOf(position, end, at, status, used)
      at += 8 * status
    }
    return used
  }

  #takeBlocksOf(position: number, end: number, pairs: number, count: number, used: number): number {
    let low = Number.POSITIVE_INFINITY
    let high = 0
    for (let k = 0; k < count; k++) {
      const from = position - 8 + 4 * this.#view.getInt32(pairs + 8 * k + 4)
      if (from < low) low = from
      if (from > high) high = from
    }
    if (low < position || high + 4 > end) throw this.#damage('a value block is outside the record')
    this.#readBlocks(low, Math.min(end, high + BLOCK_GUESS))
    const last = blockSize(this.#blocks, high - low)
    if (high + last > end) throw this.#damage(`a value block of ${last} bytes exceeds the record`)
    if (last > BLOCK_GUESS) this.#readBlocks(low, high + last)
    for (let k = 0; k < count; k++) {
      const word = pairs + 8 * k + 4
      const from = position - 8 + 4 * this.#view.getInt32(word) - low
      const size = blockSize(this.#blocks, from)
      if (size < 4 || low + from + size > Math.max(high + last, high + 4))
        throw this.#damage(`a value block of ${size} bytes exceeds the record`)
      this.#reserve(used + size + 8)
      this.#view.setInt32(word, (used >> 2) + 2)
      for (let b = 0; b < size; b++) this.#out[used + b] = this.#blocks[from + b]!
      used += size
      while ((used & 3) !== 0) this.#out[used++] = PAD
    }
    return used
  }

  #readBlocks(from: number, to: number): void {
    if (this.#blocks.length < to - from) this.#blocks = new Uint8Array(2 * (to - from))
    const part = this.#blocks.subarray(0, to - from)
    if (this.#target!.source.readInto(part, from) < part.length) throw this.#damage('its end is missing')
  }

  /** Reads a range of the file unless it is available; returns its offset in the chunk, -1 beyond the end of the file. */
  #cover(offset: number, length: number): number {
    if (offset >= this.#from && offset + length <= this.#to) return offset - this.#from
    if (this.#chunk.length < length) {
      this.#chunk = new Uint8Array(2 * length)
      this.#chunkView = new DataView(this.#chunk.buffer)
    }
    this.#from = offset
    this.#to = offset + this.#target!.source.readInto(this.#chunk, offset)
    return offset + length <= this.#to ? 0 : -1
  }

  #reserve(length: number): void {
    if (length <= this.#out.length) return
    const larger = new Uint8Array(Math.max(CHUNK, 2 * length))
    larger.set(this.#out)
    this.#out = larger
    this.#view = new DataView(larger.buffer)
  }

  /** Returns the assembled record. */
  #given({ path, version, volume }: WindowTarget): RecordView {
    const source = bytesSource(this.#out)
    this.#window.attach({ source, path, version, volume, member: 0, start: 0 })
    if (this.#window.load(0) !== 'record') throw this.#window.damage()
    return this.#window
  }

  #damage(problem: string): PcpError {
    return new PcpError(
      'PM_ERR_LOGREC',
      `${this.#target?.path}: damaged record at byte ${this.#position}: ${problem}`,
    )
  }
}

function isInMemory(volume: Archive['members'][number]['volumes'][number]): boolean {
  return volume.tryOpen()?.source.bytes !== undefined
}

function blockSize(bytes: Uint8Array, at: number): number {
  return (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}
