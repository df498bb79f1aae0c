/**
 * The values of one metric at one time, decoded into columns in the order of its value set.
 *
 *     insts      3     7     9     1
 *     has        1     1     0     2       NUMBER, NUMBER, NOTHING, OTHER
 *     values    17.    4.    ?     2^64
 *     others     -     -     -     18446744073709551615n
 *
 * Archives fill them from records, without value sets; `take` fills them from a fetched set.
 */
import { type Indom, PM_INDOM_NULL } from './ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from './types.ts'
import { extract } from './value-set.ts'
import type { ValueSet } from './values.ts'

/** No value, or one whose type is not the metric's. */
export const NO_VALUE = 0
/** A number. */
export const NUMBER = 1
/** Text, or an integer that is not exact as a double. */
export const OTHER_VALUE = 2

/** A value in columns; undefined for NOTHING. */
export type ColumnValue = number | bigint | string | undefined

const TWO_32 = 0x1_0000_0000
const NO_BYTES = new Uint8Array(0)
const scratch = new DataView(new ArrayBuffer(8))

/** See the drawing above. The first `size` entries are values, valid until the columns are filled again. */
export class ValueColumns {
  readonly type: number
  readonly isSingular: boolean
  /** Number of values in the set, or a negative error. */
  status = 0
  /** Instances; replaced only if they differ from the previous ones. */
  insts: Int32Array = new Int32Array(0)
  /** NOTHING, NUMBER or OTHER; NOTHING beyond `size`. */
  has: Uint8Array = new Uint8Array(0)
  /** Values that are NUMBER, and rounded integers that are OTHER. */
  values: Float64Array = new Float64Array(0)
  /** Values that are OTHER. */
  readonly others: ColumnValue[] = []
  readonly #isLong: boolean
  /** Whether values may be in situ. */
  readonly #isWord: boolean
  /** Expected header words of blocks: with a type, and without one, as old agents sent them. */
  readonly #header: number
  readonly #plainHeader: number
  #isOwnInsts = false
  /** Instances of the last set taken, and their copy. */
  #takenInsts: Int32Array | undefined
  #ownInsts: Int32Array | undefined
  /** Memory of the last blocks taken, which sets often share. */
  #bytes: Uint8Array = NO_BYTES
  #view: DataView = scratch

  constructor({ type, indom }: { readonly type: number; readonly indom: Indom }) {
    this.type = type
    this.isSingular = indom === PM_INDOM_NULL
    this.#isLong = type === PM_TYPE_64 || type === PM_TYPE_U64
    this.#isWord = type === PM_TYPE_32 || type === PM_TYPE_U32 || type === PM_TYPE_FLOAT
    const length = type === PM_TYPE_FLOAT ? 8 : this.#isLong || type === PM_TYPE_DOUBLE ? 12 : -1
    this.#plainHeader = length
    this.#header = length < 0 ? length : (type << 24) | length
  }

  /** Number of values. */
  get size(): number {
    return this.status > 0 ? this.status : 0
  }

  /** Returns a value; undefined if missing or out of range. */
  at(i: number): ColumnValue {
    if (this.has[i] === NUMBER) return this.values[i]
    return this.has[i] === OTHER_VALUE ? this.others[i] : undefined
  }

  /** Returns a 64-bit integer without rounding. */
  exact(i: number): bigint {
    return this.has[i] === OTHER_VALUE ? (this.others[i] as bigint) : BigInt(this.values[i]!)
  }

  /** Returns the index of an instance, -1 if missing; `guess` is tried first. */
  find(inst: number, guess = 0): number {
    const { insts, size } = this
    if (guess < size && insts[guess] === inst) return guess
    for (let i = 0; i < size; i++) if (insts[i] === inst) return i
    return -1
  }

  /** Returns whether any instance has a value. */
  hasValues(): boolean {
    for (let i = 0; i < this.size; i++) if (this.has[i] !== NO_VALUE) return true
    return false
  }

  /** Returns the indices of all values. */
  valueIndices(): number[] {
    const places: number[] = []
    for (let i = 0; i < this.size; i++) if (this.has[i] !== NO_VALUE) places.push(i)
    return places
  }

  /** Copies the values at some indices; returns these columns if that is all of them. */
  pick(places: readonly number[]): ValueColumns {
    if (places.length === this.size) return this
    const picked = new ValueColumns({ type: this.type, indom: this.isSingular ? PM_INDOM_NULL : 0 })
    picked.begin(places.length)
    for (const [i, place] of places.entries()) {
      picked.setInst(i, this.insts[place]!)
      picked.set(i, this.at(place))
    }
    return picked
  }

  /** Fills the columns from a fetched set. */
  fillFrom(set: ValueSet): void {
    this.begin(set.status)
    this.#takeInsts(set)
    if (set.format === PM_VAL_INSITU) this.#takeWords(set)
    else if (this.type === PM_TYPE_STRING) for (let i = 0; i < set.status; i++) this.#putText(i, set)
    else this.#takeBlocks(set)
  }

  /** Starts filling the columns: the caller then sets instance and value of each entry up to `status`. */
  begin(status: number): void {
    this.#resize(status)
    this.#isOwnInsts = false
    if (status <= 0 || this.insts.length === status) return
    this.insts = new Int32Array(status)
    this.#isOwnInsts = true
  }

  /** Starts with the instances and the size of other columns: the caller then sets each value. */
  beginAs({ status, insts }: ValueColumns): void {
    this.#resize(status)
    this.insts = insts
    this.#isOwnInsts = false
  }

  #resize(status: number): void {
    const before = this.size
    this.status = status
    if (status < before) this.has.fill(NO_VALUE, Math.max(0, status))
    if (this.has.length >= status) return
    this.has = new Uint8Array(status)
    this.values = new Float64Array(status)
  }

  /** Copies all values of other columns. */
  copy(from: ValueColumns): void {
    this.beginAs(from)
    for (let i = 0; i < from.size; i++) this.set(i, from.at(i))
  }

  /** Sets the instance of a value. */
  setInst(i: number, inst: number): void {
    if (this.insts[i] === inst) return
    if (!this.#isOwnInsts) this.insts = this.insts.slice()
    this.#isOwnInsts = true
    this.insts[i] = inst
  }

  /** Sets a decoded value. */
  set(i: number, value: ColumnValue): void {
    if (typeof value === 'number') {
      this.putNumber(i, value)
      return
    }
    this.has[i] = value === undefined ? NO_VALUE : OTHER_VALUE
    this.others[i] = value
    if (typeof value === 'bigint') this.values[i] = Number(value)
  }

  /** Sets a number. */
  putNumber(i: number, value: number): void {
    this.has[i] = NUMBER
    this.values[i] = value
  }

  /** Sets an in-situ value; NOTHING unless the metric has a 32-bit type. */
  putWord(i: number, word: number): void {
    if (this.#isWord) this.putWords(i, word, 0)
    else this.has[i] = NO_VALUE
  }

  /** Sets the value of the block at `at`; NOTHING if its type or size is not the metric's. */
  putBlock(i: number, view: DataView, at: number): void {
    const header = view.getInt32(at)
    if (header !== this.#header && header !== this.#plainHeader) this.has[i] = NO_VALUE
    else if (this.type === PM_TYPE_DOUBLE) this.putNumber(i, view.getFloat64(at + 4))
    else this.putWords(i, view.getInt32(at + 4), this.#isLong ? view.getInt32(at + 8) : 0)
  }

  /** Sets a number of the metric's type from its two words. */
  putWords(i: number, high: number, low: number): void {
    const number = numberOf(this.type, high, low)
    this.values[i] = number
    this.has[i] = NUMBER
    if (!this.#isLong || (number <= Number.MAX_SAFE_INTEGER && number >= Number.MIN_SAFE_INTEGER)) return
    this.has[i] = OTHER_VALUE
    this.others[i] = (BigInt(this.type === PM_TYPE_U64 ? high >>> 0 : high) << 32n) | BigInt(low >>> 0)
  }

  /** Shares the instances of a set if they cannot have changed. */
  #takeInsts({ status, inst }: ValueSet): void {
    if (inst === this.#takenInsts && this.insts === this.#ownInsts) return
    for (let i = 0; i < status; i++) this.setInst(i, inst[i]!)
    this.#takenInsts = inst
    this.#ownInsts = this.insts
  }

  #takeWords({ status, word }: ValueSet): void {
    const { type, values } = this
    if (type !== PM_TYPE_32 && type !== PM_TYPE_U32) {
      for (let i = 0; i < status; i++) this.putWord(i, word[i]!)
      return
    }
    if (type === PM_TYPE_32) for (let i = 0; i < status; i++) values[i] = word[i]!
    else for (let i = 0; i < status; i++) values[i] = word[i]! >>> 0
    this.has.fill(NUMBER, 0, this.size)
  }

  #takeBlocks({ status, word, bytes }: ValueSet): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    const view = this.#view
    const last = this.#plainHeader < 0 ? -1 : bytes.length - this.#plainHeader
    for (let i = 0; i < status; i++) {
      const at = word[i]!
      if (at >= 0 && at <= last) this.putBlock(i, view, at)
      else this.has[i] = NO_VALUE
    }
  }

  #putText(i: number, set: ValueSet): void {
    try {
      const text = extract(set, i, this.type)
      this.set(i, typeof text === 'object' ? undefined : text)
    } catch {
      this.has[i] = NO_VALUE // its type is not the metric's
    }
  }
}

/** Columns that stay empty. */
export const NO_VALUES: ValueColumns = new ValueColumns({ type: PM_TYPE_32, indom: PM_INDOM_NULL })

/** Returns a value of a numeric type as a double, from its two words; integers beyond 2^53 are rounded. */
export function numberOf(type: number, high: number, low: number): number {
  switch (type) {
    case PM_TYPE_U32:
      return high >>> 0
    case PM_TYPE_64:
      return high * TWO_32 + (low >>> 0)
    case PM_TYPE_U64:
      return (high >>> 0) * TWO_32 + (low >>> 0)
    case PM_TYPE_FLOAT:
      scratch.setInt32(0, high)
      return scratch.getFloat32(0)
    case PM_TYPE_DOUBLE:
      return doubleOf(high, low)
    default:
      return high
  }
}

/** Returns the double with these two words as bits. */
export function doubleOf(high: number, low: number): number {
  scratch.setInt32(0, high)
  scratch.setInt32(4, low)
  return scratch.getFloat64(0)
}
