/** Samples of one metric from the columns file of an archive: the same as from its records, without reading those of other metrics. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { MetricChunk } from '../columns/file.ts'
import type { Sample } from '../store.ts'
import type { SampleCursor } from './sample-cursor.ts'

/** A columns file whose checksums are right has values that cannot be decoded: records have to be read. */
export class DamagedColumns extends PcpError {
  constructor(cause: unknown) {
    super('PM_ERR_LOGREC', PcpError.from(cause).text, { cause })
  }
}

/** Steps through the samples of chunks. Handles are numbers of samples. */
export class ColumnCursor implements SampleCursor<number> {
  sec = 0
  nsec = 0
  isAfterGap = true
  /** Number of all samples. */
  readonly count: number
  readonly #chunks: readonly MetricChunk[]
  readonly #idOf: (inst: number) => string
  /** Number of the first sample of each chunk. */
  readonly #first: number[] = []
  #chunk = 0
  /** Sample in the current chunk. */
  #at = -1
  /** Marks before the current sample; undefined before the first one. */
  #marks: number | undefined
  #readChunk = 0
  #ids: readonly string[] = []
  #inst: readonly number[] = []

  /** Begins at the first sample not before `start`. */
  constructor(chunks: readonly MetricChunk[], idOf: (inst: number) => string, start?: Timestamp | undefined) {
    this.#chunks = chunks
    this.#idOf = idOf
    let count = 0
    for (const { samples } of chunks) {
      this.#first.push(count)
      count += samples.records.length
    }
    this.count = count
    if (start !== undefined) this.#seek(start)
  }

  next(): boolean {
    for (;;) {
      const chunk = this.#chunks[this.#chunk]
      if (chunk === undefined) return false
      const record = chunk.samples.records[++this.#at]
      if (record !== undefined) {
        this.sec = chunk.times.sec[record]!
        this.nsec = chunk.times.nsec[record]!
        const marks = chunk.marksBefore + chunk.times.marks[record]!
        this.isAfterGap = marks !== this.#marks
        this.#marks = marks
        return true
      }
      this.#chunk++
      this.#at = -1
    }
  }

  hold(): number {
    return this.#first[this.#chunk]! + this.#at
  }

  /** Returns a sample, not before the last one read. `DamagedColumns` for damage. */
  read(handle: number): Sample {
    while (handle >= (this.#first[this.#readChunk + 1] ?? Number.POSITIVE_INFINITY)) this.#readChunk++
    const { times, samples } = this.#chunks[this.#readChunk]!
    const i = handle - this.#first[this.#readChunk]!
    try {
      samples.moveTo(i)
    } catch (error) {
      throw new DamagedColumns(error)
    }
    if (this.#inst !== samples.inst) {
      this.#inst = samples.inst
      this.#ids = samples.inst.map(this.#idOf)
    }
    const record = samples.records[i]!
    return {
      sec: times.sec[record]!,
      nsec: times.nsec[record]!,
      ids: this.#ids,
      values: samples.values.slice(),
    }
  }

  /** Moves before the first sample at or after a time; times never decrease. */
  #seek({ sec, nsec }: Timestamp): void {
    const isBefore = ({ times, samples }: MetricChunk, i: number): boolean => {
      const record = samples.records[i]!
      return (times.sec[record]! - sec || times.nsec[record]! - nsec) < 0
    }
    for (const chunk of this.#chunks) {
      const { length } = chunk.samples.records
      if (length > 0 && !isBefore(chunk, length - 1)) {
        let [low, high] = [0, length - 1]
        while (low < high) {
          const middle = (low + high) >> 1
          if (isBefore(chunk, middle)) low = middle + 1
          else high = middle
        }
        this.#at = low - 1
        return
      }
      this.#chunk++
    }
  }
}

/** Returns the last samples, at most so many, newest first. `isAfterGap` is set as when they are read backward from records. */
export function newestOf(cursor: ColumnCursor, most: number): Sample[] {
  const from = Math.max(0, cursor.count - most)
  const found: Sample[] = []
  while (cursor.next()) {
    const at = cursor.hold()
    if (at < from) continue
    const sample = cursor.read(at)
    // Older samples have not been read.
    const isAfterGap = cursor.isAfterGap && (at > from || cursor.count < most)
    found.push(isAfterGap ? { ...sample, isAfterGap } : sample)
  }
  return found.reverse()
}
