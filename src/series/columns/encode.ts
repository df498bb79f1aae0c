/** Blocks of a columns file: times of records, and the samples of one metric. docs/formats/rollups.md */
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../model/types.ts'
import { extract } from '../../model/value-set.ts'
import type { ValueSet } from '../../model/values.ts'
import { ByteBuilder } from './varint.ts'

/** Types of values that columns have. */
export const NUMERIC: ReadonlySet<number> = new Set([
  PM_TYPE_32,
  PM_TYPE_U32,
  PM_TYPE_64,
  PM_TYPE_U64,
  PM_TYPE_FLOAT,
  PM_TYPE_DOUBLE,
])
/** Differences beyond this are not written as such, so that twice their double is exact. */
const MOST_DIFFERENCE = 2 ** 50

/** Times of the records of a chunk. */
export class TimesEncoder {
  readonly #bytes = new ByteBuilder(1 << 12)
  #sec = 0

  /** Number of records. */
  count = 0

  /** Adds a record; the caller checks that times do not decrease. */
  add(sec: number, nsec: number, isMark: boolean): void {
    this.#bytes.varint(2 * (sec - this.#sec) + (isMark ? 1 : 0))
    this.#bytes.varint(nsec)
    this.#sec = sec
    this.count++
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Returns the block. */
  block(): Uint8Array {
    const head = new ByteBuilder()
    head.varint(this.count)
    head.append(this.#bytes.bytes)
    return head.bytes
  }
}

/** Samples of one metric in a chunk. */
export class SamplesEncoder {
  readonly #type: number
  readonly #runs = new ByteBuilder(16)
  readonly #values = new ByteBuilder()
  /** Instances of the sample before, and their last values. */
  #inst = new Int32Array(0)
  #last: (number | bigint)[] = []
  #samples = 0
  #runCount = 0
  /** Records of the current run: first, and behind the last. */
  #from = 0
  #to = 0
  #written = 0

  constructor(type: number) {
    this.#type = type
  }

  get length(): number {
    return this.#runs.length + this.#values.length
  }

  /** Adds the values of a record, of which the first set counts. Errors of `extract`; the block is then of no use. */
  add(record: number, set: ValueSet): void {
    if (this.#samples > 0 && record < this.#to) return
    if (record !== this.#to || this.#samples === 0) {
      this.#endRun()
      this.#from = record
    }
    this.#to = record + 1
    this.#samples++
    const count = set.status
    if (this.#isSame(set)) this.#values.varint(0)
    else this.#list(set)
    for (let i = 0; i < count; i++) this.#value(i, extract(set, i, this.#type) as number | bigint)
  }

  /** Returns the block. */
  block(): Uint8Array {
    this.#endRun()
    const block = new ByteBuilder(16 + this.length)
    block.varint(this.#samples)
    block.varint(this.#runCount)
    block.append(this.#runs.bytes)
    block.append(this.#values.bytes)
    return block.bytes
  }

  #endRun(): void {
    if (this.#to === this.#from) return
    this.#runs.varint(this.#from - this.#written)
    this.#runs.varint(this.#to - this.#from)
    this.#written = this.#to
    this.#from = this.#to
    this.#runCount++
  }

  #isSame({ inst, status }: ValueSet): boolean {
    const known = this.#inst
    if (known.length !== status) return false
    for (let i = 0; i < status; i++) if (known[i] !== inst[i]) return false
    return true
  }

  #list({ inst, status }: ValueSet): void {
    const before = new Map(Array.from(this.#inst, (each, i) => [each, this.#last[i]!]))
    this.#values.varint(status)
    let last = 0
    for (let i = 0; i < status; i++) {
      this.#values.signed(inst[i]! - last)
      last = inst[i]!
    }
    this.#inst = inst.slice(0, status)
    this.#last = Array.from(this.#inst, (each) => before.get(each) ?? 0)
  }

  #value(i: number, value: number | bigint): void {
    const last = this.#last[i]!
    this.#last[i] = value
    if (typeof value === 'number' && typeof last === 'number') {
      const difference = value - last
      if (
        Number.isInteger(difference) &&
        Math.abs(difference) < MOST_DIFFERENCE &&
        Object.is(last + difference, value)
      ) {
        this.#values.varint(difference < 0 ? -4 * difference - 2 : 4 * difference)
        return
      }
    }
    this.#values.varint(1)
    if (this.#type === PM_TYPE_FLOAT) this.#values.float32(Number(value))
    else if (this.#type === PM_TYPE_64 || this.#type === PM_TYPE_U64) this.#values.int64(BigInt(value))
    else this.#values.float64(Number(value))
  }
}
