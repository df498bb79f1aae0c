/** Reads all numbers of value sets of one metric, set after set. docs/decisions/values.md */
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_U32, PM_TYPE_U64, PM_VAL_INSITU } from './types.ts'
import { BLOCK_HEADER, extract, extractNumber } from './value-set.ts'
import type { ValueSet } from './values.ts'

const TWO_32 = 0x1_0000_0000
/** Length of a block with a number of 64 bits. */
const LONG = BLOCK_HEADER + 8
const NONE = new Uint8Array(0)

/** Numbers of one metric after another set of it, in memory that is used again. */
export class NumberColumn {
  #values = new Float64Array(0)
  #set: ValueSet | undefined
  #bytes: Uint8Array = NONE
  #view: DataView = new DataView(NONE.buffer)

  /**
   * The values of a set in its order, as `extractNumber` has each of them; good until the next set is read. Errors as for
   * `extractNumber`.
   */
  read(set: ValueSet, type: number): Float64Array {
    const count = Math.max(0, set.status)
    if (this.#values.length < count) this.#values = new Float64Array(count)
    const values = this.#values
    this.#set = set
    const { word } = set
    if (set.format === PM_VAL_INSITU && (type === PM_TYPE_32 || type === PM_TYPE_U32)) {
      if (type === PM_TYPE_32) for (let i = 0; i < count; i++) values[i] = word[i]!
      else for (let i = 0; i < count; i++) values[i] = word[i]! >>> 0
    } else if (set.format !== PM_VAL_INSITU && isLong(type)) this.#readLong(set, type, count)
    else for (let i = 0; i < count; i++) values[i] = extractNumber(set, i, type)
    return values
  }

  /** The numbers of the set that was read last. */
  get values(): Float64Array {
    return this.#values
  }

  /** Returns a 64-bit integer of that set without rounding. */
  exact(place: number, type: number): bigint {
    return BigInt(extract(this.#set!, place, type) as number | bigint)
  }

  #readLong(set: ValueSet, type: number, count: number): void {
    const values = this.#values
    const { word, bytes } = set
    if (bytes !== this.#bytes) {
      this.#bytes = bytes
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    const view = this.#view
    const last = bytes.length - LONG
    const head = (type << 24) | LONG
    for (let i = 0; i < count; i++) {
      const at = word[i]!
      const isWhole = at >= 0 && at <= last && view.getInt32(at) === head
      if (!isWhole) values[i] = extractNumber(set, i, type)
      else if (type === PM_TYPE_DOUBLE) values[i] = view.getFloat64(at + BLOCK_HEADER)
      else {
        const high =
          type === PM_TYPE_64 ? view.getInt32(at + BLOCK_HEADER) : view.getUint32(at + BLOCK_HEADER)
        values[i] = high * TWO_32 + view.getUint32(at + BLOCK_HEADER + 4)
      }
    }
  }
}

function isLong(type: number): boolean {
  return type === PM_TYPE_64 || type === PM_TYPE_U64 || type === PM_TYPE_DOUBLE
}
