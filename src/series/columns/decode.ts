/** Reads blocks of a columns file. docs/formats/rollups.md */
import { PcpError } from '../../model/errors.ts'
import { PM_TYPE_64, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../model/types.ts'
import { ByteReader } from './varint.ts'

/** Times of the records of a chunk. */
export interface ChunkTimes {
  readonly sec: Float64Array
  readonly nsec: Int32Array
  /** Number of marks up to and including each record. */
  readonly marks: Int32Array
}

/** Returns the times of a block. PM_ERR_LOGREC for damage. */
export function decodeTimes(block: Uint8Array): ChunkTimes {
  const reader = new ByteReader(block)
  const count = reader.varint()
  if (2 * count > block.length) throw tooMany()
  const [sec, nsec, marks] = [new Float64Array(count), new Int32Array(count), new Int32Array(count)]
  let time = 0
  let seen = 0
  for (let i = 0; i < count; i++) {
    const step = reader.varint()
    time += Math.floor(step / 2)
    seen += step % 2
    sec[i] = time
    nsec[i] = reader.varint()
    marks[i] = seen
  }
  return { sec, nsec, marks }
}

/** Samples of one metric in a chunk, decoded in order. */
export class SamplesDecoder {
  /** Record of each sample. */
  readonly records: Int32Array
  /** Instances and values of the current sample; valid until the next one. */
  inst: readonly number[] = []
  values: readonly (number | bigint)[] = []
  readonly #reader: ByteReader
  readonly #type: number
  readonly #most: number
  #next = 0

  /** `count`: records of the chunk. PM_ERR_LOGREC for damage. */
  constructor(block: Uint8Array, type: number, count: number) {
    this.#reader = new ByteReader(block)
    this.#type = type
    this.#most = block.length
    const samples = this.#reader.varint()
    const runs = this.#reader.varint()
    if (samples > count || runs > samples) throw tooMany()
    this.records = new Int32Array(samples)
    let at = 0
    let record = 0
    for (let r = 0; r < runs; r++) {
      record += this.#reader.varint()
      const length = this.#reader.varint()
      if (at + length > samples || record + length > count) throw tooMany()
      for (let i = 0; i < length; i++) this.records[at++] = record++
    }
    if (at !== samples) throw tooMany()
  }

  /** Decodes samples up to number `i`, which is not before the current one. PM_ERR_LOGREC for damage. */
  moveTo(i: number): void {
    while (this.#next <= i) this.#step()
  }

  #step(): void {
    const reader = this.#reader
    const count = reader.varint()
    if (count > 0) this.#list(count)
    const values = this.values as (number | bigint)[]
    const { bytes } = reader
    for (let v = 0; v < values.length; v++) {
      const { at } = reader
      // Most differences are short.
      let token = at < bytes.length ? bytes[at]! : 128
      if (token < 128) reader.at = at + 1
      else token = reader.varint()
      if (token === 1) values[v] = this.#whole()
      else {
        const last = values[v]!
        if (typeof last === 'bigint') throw new PcpError('PM_ERR_LOGREC', 'a difference without a number')
        values[v] = last + (token % 4 === 0 ? token / 4 : -(token + 2) / 4)
      }
    }
    this.#next++
  }

  #list(count: number): void {
    if (count > this.#most) throw tooMany()
    const before = new Map(this.inst.map((each, i) => [each, this.values[i]!]))
    const inst: number[] = []
    let last = 0
    for (let i = 0; i < count; i++) {
      last += this.#reader.signed()
      inst.push(last)
    }
    this.inst = inst
    this.values = inst.map((each) => before.get(each) ?? 0)
  }

  #whole(): number | bigint {
    if (this.#type === PM_TYPE_FLOAT) return this.#reader.float32()
    if (this.#type !== PM_TYPE_64 && this.#type !== PM_TYPE_U64) return this.#reader.float64()
    const exact = this.#reader.int64(this.#type === PM_TYPE_U64)
    const number = Number(exact)
    return Number.isSafeInteger(number) ? number : exact
  }
}

function tooMany(): PcpError {
  return new PcpError('PM_ERR_LOGREC', 'a block has fewer bytes than its counts need')
}
