/** Writes a columns file. docs/formats/rollups.md */
import { crc32 } from 'node:zlib'
import { PM_ID_NULL, type Pmid } from '../../model/ids.ts'
import type { ValueSet } from '../../model/values.ts'
import { SamplesEncoder, TimesEncoder } from './encode.ts'
import { type BlockEntry, ENTRY_BYTES, MAGIC, TAIL_BYTES, UNREADABLE } from './file.ts'

/** Bytes of encoded samples that are kept in memory before a chunk is written. */
const CHUNK_BYTES = 32 << 20
/** Records of a chunk at most: a query for an hour decodes few others, and the directory stays small. */
const CHUNK_RECORDS = 2048

/** Collects samples into chunks. */
export class ColumnsWriter {
  readonly #write: (bytes: Uint8Array) => void
  readonly #chunkBytes: number
  readonly #entries: BlockEntry[] = []
  readonly #unreadable = new Set<Pmid>()
  #times = new TimesEncoder()
  readonly #samples = new Map<Pmid, SamplesEncoder>()
  #chunk = 0
  #offset = 0
  #records = 0

  /** `write` appends to the file. */
  constructor(write: (bytes: Uint8Array) => void, chunkBytes: number = CHUNK_BYTES) {
    this.#write = write
    this.#chunkBytes = chunkBytes
    this.#append(new TextEncoder().encode(MAGIC))
  }

  /** Begins a record, of which `add` adds the values. */
  record(sec: number, nsec: number, isMark: boolean): void {
    if (this.#times.count >= CHUNK_RECORDS || (this.#records++ % 64 === 0 && this.#size >= this.#chunkBytes))
      this.#flush()
    this.#times.add(sec, nsec, isMark)
  }

  /** Adds the values of a metric. If they are not of its type, queries will read the metric from the archive, whose reader reports it. */
  add(pmid: Pmid, type: number, set: ValueSet): void {
    if (this.#unreadable.has(pmid)) return
    let samples = this.#samples.get(pmid)
    if (samples === undefined) {
      samples = new SamplesEncoder(type)
      this.#samples.set(pmid, samples)
    }
    try {
      samples.add(this.#times.count - 1, set)
    } catch {
      this.leaveOut(pmid)
    }
  }

  /** Lets queries read a metric from the archive. */
  leaveOut(pmid: Pmid): void {
    this.#unreadable.add(pmid)
    this.#samples.delete(pmid)
  }

  /** Writes the rest; `stamp` identifies the archive. */
  finish(stamp: Uint8Array): void {
    this.#flush()
    const entries = [
      ...this.#entries.filter(({ pmid }) => !this.#unreadable.has(pmid)),
      ...[...this.#unreadable].map((pmid) => ({
        pmid,
        chunk: UNREADABLE,
        offset: 0,
        length: 0,
        checksum: 0,
      })),
    ].sort((a, b) => a.pmid - b.pmid || a.chunk - b.chunk)
    const directory = new DataView(new ArrayBuffer(entries.length * ENTRY_BYTES))
    for (const [i, { pmid, chunk, offset, length, checksum }] of entries.entries()) {
      const at = i * ENTRY_BYTES
      directory.setUint32(at, pmid, true)
      directory.setUint32(at + 4, chunk, true)
      directory.setFloat64(at + 8, offset, true)
      directory.setUint32(at + 16, length, true)
      directory.setUint32(at + 20, checksum, true)
    }
    const bytes = new Uint8Array(directory.buffer)
    const tail = new Uint8Array(TAIL_BYTES)
    const view = new DataView(tail.buffer)
    view.setFloat64(0, this.#offset, true)
    view.setUint32(8, entries.length, true)
    view.setUint32(12, crc32(bytes), true)
    tail.set(stamp.subarray(0, 20), 16)
    tail.set(new TextEncoder().encode(MAGIC), 36)
    this.#write(bytes)
    this.#write(tail)
  }

  get #size(): number {
    let size = this.#times.length
    for (const { length } of this.#samples.values()) size += length
    return size
  }

  #flush(): void {
    if (this.#times.count === 0) return
    this.#block(PM_ID_NULL, this.#times.block())
    for (const [pmid, samples] of this.#samples) this.#block(pmid, samples.block())
    this.#times = new TimesEncoder()
    this.#samples.clear()
    this.#chunk++
  }

  #block(pmid: Pmid, bytes: Uint8Array): void {
    this.#entries.push({
      pmid,
      chunk: this.#chunk,
      offset: this.#offset,
      length: bytes.length,
      checksum: crc32(bytes),
    })
    this.#append(bytes)
  }

  #append(bytes: Uint8Array): void {
    this.#write(bytes)
    this.#offset += bytes.length
  }
}
