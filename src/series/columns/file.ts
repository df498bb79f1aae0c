/**
 * Columns files: the numeric values of an archive by metric, so that a query reads only those of its series. docs/formats/rollups.md
 *
 *     head   blocks of chunk 0   blocks of chunk 1 …   directory   tail
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_ID_NULL, type Pmid } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { type ChunkTimes, decodeTimes, SamplesDecoder } from './decode.ts'

/** First and last bytes. */
export const MAGIC: string = 'pcpcols1'
export const HEAD_BYTES: number = 8
export const ENTRY_BYTES: number = 24
/** Directory offset, entries, checksum; stamp; magic. */
export const TAIL_BYTES: number = 16 + 20 + 8
/** Larger blocks and directories are taken for damage. */
const MOST_BYTES = 1 << 29
/** Chunk number of a metric that has to be read from the archive. */
export const UNREADABLE: number = 0xffff_ffff

/** A block of a file. */
export interface BlockEntry {
  /** `PM_ID_NULL` for times. */
  readonly pmid: Pmid
  readonly chunk: number
  readonly offset: number
  readonly length: number
  readonly checksum: number
}

/** A chunk of one metric's samples. */
export interface MetricChunk {
  readonly times: ChunkTimes
  readonly samples: SamplesDecoder
  /** Marks from the first of these chunks on, also in chunks without the metric. */
  readonly marksBefore: number
}

/** Samples that are wanted: between bounds, inclusive, or the newest ones. */
export interface WantedSamples {
  readonly start?: Timestamp | undefined
  readonly finish?: Timestamp | undefined
  readonly newest?: number
}

/** Reads a columns file. Its files are only open during calls. */
export class ColumnsFile {
  readonly #path: string
  readonly #directory: DataView
  readonly #times = new Map<number, ChunkTimes>()
  readonly #identity: string
  #timesBytes = 0

  private constructor(path: string, directory: DataView, identity: string) {
    this.#path = path
    this.#directory = directory
    this.#identity = identity
  }

  /** Opens a file made of an archive with this stamp. ENOENT; ESTALE for one of another archive or version, PM_ERR_LOGREC for damage. */
  static open(path: string, stamp: Uint8Array): ColumnsFile {
    return withFile(path, (fd, { size, mtimeMs, ino }) => {
      if (size < HEAD_BYTES + TAIL_BYTES) throw damaged(path, 'it is too short')
      const tail = read(fd, size - TAIL_BYTES, TAIL_BYTES, path)
      if (text(tail, TAIL_BYTES - 8) !== MAGIC)
        throw new PcpError('ESTALE', `${path}: made by another version`)
      if (Buffer.compare(tail.subarray(16, 36), stamp) !== 0)
        throw new PcpError('ESTALE', `${path}: made of another archive`)
      const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength)
      const offset = view.getFloat64(0, true)
      const length = view.getUint32(8, true) * ENTRY_BYTES
      if (!isPlace(offset) || offset + length + TAIL_BYTES !== size)
        throw damaged(path, 'its directory is elsewhere')
      if (length > MOST_BYTES) throw damaged(path, 'its directory is too large')
      const directory = read(fd, offset, length, path)
      if (crc32(directory) !== view.getUint32(12, true)) throw damaged(path, 'its directory is damaged')
      return new ColumnsFile(
        path,
        new DataView(directory.buffer, directory.byteOffset, directory.byteLength),
        `${ino} ${size} ${mtimeMs}`,
      )
    })
  }

  /** Metrics with blocks, in order of their numbers. */
  get metrics(): readonly Pmid[] {
    const found = new Set<Pmid>()
    for (let i = 0; i < this.#count; i++) {
      const { pmid, chunk } = this.#entry(i)
      if (pmid !== PM_ID_NULL && chunk !== UNREADABLE) found.add(pmid)
    }
    return [...found]
  }

  /** Returns whether a metric has to be read from the archive, because its values are not as described. */
  isUnreadable(pmid: Pmid): boolean {
    return this.#entriesOf(pmid).some(({ chunk }) => chunk === UNREADABLE)
  }

  /**
   * Returns the chunks of a metric in order of time, without those outside the wanted times. ESTALE if the file was replaced meanwhile,
   * PM_ERR_LOGREC for damage.
   */
  chunks(pmid: Pmid, type: number, { start, finish, newest }: WantedSamples = {}): readonly MetricChunk[] {
    const entries = this.#entriesOf(pmid)
    if (entries.length === 0) return []
    return this.#withFile((fd, size) => {
      const found: (Omit<MetricChunk, 'marksBefore'> & { readonly chunk: number })[] = []
      let count = 0
      for (const entry of entries.reverse()) {
        const times = this.#timesOf(entry.chunk, fd, size)
        if (finish !== undefined && compareTimes(timeAt(times, 0), finish) > 0) continue
        if (start !== undefined && compareTimes(timeAt(times, times.sec.length - 1), start) < 0) break
        const samples = new SamplesDecoder(block(fd, entry, this.#path, size), type, times.sec.length)
        found.push({ chunk: entry.chunk, times, samples })
        count += samples.records.length
        if (newest !== undefined && count >= newest) break
      }
      found.reverse()
      let [next, marksBefore] = [found[0]?.chunk ?? 0, 0]
      return found.map(({ chunk, times, samples }) => {
        for (; next < chunk; next++) marksBefore += this.#timesOf(next, fd, size).marks.at(-1) ?? 0
        return { times, samples, marksBefore }
      })
    })
  }

  /** Returns the times of all records, chunk by chunk, of the chunks that overlap the wanted times. Errors as `chunks`. */
  times({ start, finish }: Pick<WantedSamples, 'start' | 'finish'> = {}): readonly ChunkTimes[] {
    return this.#withFile((fd, size) => {
      const found: ChunkTimes[] = []
      for (const { chunk } of this.#entriesOf(PM_ID_NULL)) {
        const times = this.#timesOf(chunk, fd, size)
        if (finish !== undefined && compareTimes(timeAt(times, 0), finish) > 0) break
        if (start === undefined || compareTimes(timeAt(times, times.sec.length - 1), start) >= 0)
          found.push(times)
      }
      return found
    })
  }

  /** Bytes of its directory and of the times that were read. */
  get bytes(): number {
    return this.#directory.byteLength + this.#timesBytes
  }

  #withFile<T>(action: (fd: number, size: number) => T): T {
    return withFile(this.#path, (fd, { size, mtimeMs, ino }) => {
      if (`${ino} ${size} ${mtimeMs}` !== this.#identity)
        throw new PcpError('ESTALE', `${this.#path}: was replaced`)
      return action(fd, size)
    })
  }

  #timesOf(chunk: number, fd: number, size: number): ChunkTimes {
    const known = this.#times.get(chunk)
    if (known !== undefined) return known
    const entry = this.#entriesOf(PM_ID_NULL).find((each) => each.chunk === chunk)
    if (entry === undefined) throw damaged(this.#path, 'it has no times')
    const times = decodeTimes(block(fd, entry, this.#path, size))
    this.#times.set(chunk, times)
    this.#timesBytes += times.sec.byteLength + times.nsec.byteLength + times.marks.byteLength
    return times
  }

  get #count(): number {
    return this.#directory.byteLength / ENTRY_BYTES
  }

  #entry(i: number): BlockEntry {
    const at = i * ENTRY_BYTES
    const view = this.#directory
    return {
      pmid: view.getUint32(at, true),
      chunk: view.getUint32(at + 4, true),
      offset: view.getFloat64(at + 8, true),
      length: view.getUint32(at + 16, true),
      checksum: view.getUint32(at + 20, true),
    }
  }

  /** Entries are in order of metric and chunk. */
  #entriesOf(pmid: Pmid): BlockEntry[] {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#directory.getUint32(middle * ENTRY_BYTES, true) < pmid) low = middle + 1
      else high = middle
    }
    const found: BlockEntry[] = []
    for (let i = low; i < this.#count; i++) {
      const entry = this.#entry(i)
      if (entry.pmid !== pmid) break
      found.push(entry)
    }
    return found
  }
}

function isPlace(offset: number): boolean {
  return Number.isSafeInteger(offset) && offset >= HEAD_BYTES
}

function timeAt({ sec, nsec }: ChunkTimes, i: number): Timestamp {
  return { sec: sec[i] ?? 0, nsec: nsec[i] ?? 0 }
}

function block(fd: number, { offset, length, checksum }: BlockEntry, path: string, size: number): Uint8Array {
  if (!isPlace(offset) || offset + length > size) throw damaged(path, 'a block is outside')
  if (length > MOST_BYTES) throw damaged(path, 'a block is too large')
  const bytes = read(fd, offset, length, path)
  if (crc32(bytes) !== checksum) throw damaged(path, `a block at byte ${offset} is damaged`)
  return bytes
}

function withFile<T>(path: string, action: (fd: number, stats: Stats) => T): T {
  let fd: number | undefined
  try {
    // A pipe must not wait for its writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw damaged(path, 'it is not a file')
    return action(fd, stats)
  } catch (error) {
    throw PcpError.from(error, path)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function read(fd: number, offset: number, length: number, path: string): Uint8Array {
  const bytes = new Uint8Array(length)
  let used = 0
  while (used < length) {
    const got = readSync(fd, bytes, used, length - used, offset + used)
    if (got === 0) throw damaged(path, 'it is too short')
    used += got
  }
  return bytes
}

function text(bytes: Uint8Array, from: number): string {
  return String.fromCharCode(...bytes.subarray(from, from + MAGIC.length))
}

function damaged(path: string, what: string): PcpError {
  return new PcpError('PM_ERR_LOGREC', `${path}: ${what}; remove it, or rebuild it with pmseries --rollups`)
}
