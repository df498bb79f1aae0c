/**
 * Storage of values: in the process and, once a file is mapped, in its bytes. A new version of the file, for example with
 * more instances, takes over the values. docs/formats/mmv.md
 */
import { encodeText } from '../base/text.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import { IS_LITTLE, STRING_SIZE } from './layout.ts'

/** The bytes of a file as typed arrays of each width; values are aligned to eight bytes. */
export interface Region {
  readonly bytes: Uint8Array
  readonly u32: Uint32Array
  readonly f32: Float32Array
  readonly f64: Float64Array
  readonly i64: BigInt64Array
}

/** Storage of one value record. */
export interface Cell {
  /** Writes the value, and all later changes, to the record at `at`. */
  bind(region: Region, at: number): void
}

/** Returns views of bytes. Their offset and length must be multiples of eight. */
export function regionOf(bytes: Uint8Array): Region {
  const { buffer, byteOffset, length } = bytes
  return {
    bytes,
    u32: new Uint32Array(buffer, byteOffset, length >> 2),
    f32: new Float32Array(buffer, byteOffset, length >> 2),
    f64: new Float64Array(buffer, byteOffset, length >> 3),
    i64: new BigInt64Array(buffer, byteOffset, length >> 3),
  }
}

/** Target of writes before there is a file: cheaper than a test at each write. */
const NOWHERE = regionOf(new Uint8Array(STRING_SIZE + 32))
/** Two halves of a 64-bit number as one double, which is stored atomically so that no reader sees half of it. */
const halves = new Uint32Array(2)
const whole = new Float64Array(halves.buffer)
const LOW = IS_LITTLE ? 0 : 1
const HIGH = 1 - LOW
/** Marks integers without a value. */
const NO_VALUE = -1n
const TWO_32 = 2 ** 32

/** A number of any type. Integers beyond 2^53 are exact when set as a bigint. */
export class NumberCell implements Cell {
  readonly #type: number
  #value: number
  #exact: bigint | undefined
  #region: Region = NOWHERE
  /** Index of the record's first 64-bit word. */
  #at = 0

  /** NaN: no value. */
  constructor(type: number, value: number) {
    this.#type = type
    this.#value = value
  }

  /** NaN: no value. */
  get value(): number {
    return this.#value
  }

  bind(region: Region, at: number): void {
    this.#region = region
    this.#at = at >> 3
    if (this.#exact !== undefined) this.setExact(this.#exact)
    else this.set(this.#value)
  }

  /** Adds to the value, or to 0 without one. */
  add(amount: number): void {
    const sum = this.#value + amount
    if (sum > Number.MAX_SAFE_INTEGER || sum < -Number.MAX_SAFE_INTEGER || this.#exact !== undefined)
      this.#addRare(amount, sum)
    else this.set(Number.isNaN(sum) ? amount : sum)
  }

  /** Beyond 2^53, where a double would lose small amounts. 64-bit integers wrap as in C. */
  #addRare(amount: number, sum: number): void {
    const isInteger = this.#type === PM_TYPE_U64 || this.#type === PM_TYPE_64
    if (!isInteger || !Number.isFinite(sum)) {
      this.set(sum)
      return
    }
    const exact = (this.#exact ?? BigInt(Math.trunc(this.#value))) + BigInt(Math.trunc(amount))
    this.setExact(this.#type === PM_TYPE_U64 ? BigInt.asUintN(64, exact) : BigInt.asIntN(64, exact))
  }

  /** NaN, and infinity for integers, mean no value. Fractions of integers are truncated. */
  set(value: number): void {
    this.#value = value
    this.#exact = undefined
    const region = this.#region
    const at = this.#at
    switch (this.#type) {
      case PM_TYPE_DOUBLE:
        region.f64[at] = value
        break
      case PM_TYPE_U64:
        if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) {
          halves[LOW] = value
          halves[HIGH] = value / TWO_32
          region.f64[at] = whole[0]!
        } else this.#setRare(value)
        break
      default:
        this.#setRare(value)
    }
  }

  /** Sets an integer that may exceed 2^53, which only 64-bit types hold exactly. */
  setExact(value: bigint): void {
    if (this.#type !== PM_TYPE_U64 && this.#type !== PM_TYPE_64) {
      this.set(Number(value))
      return
    }
    this.#value = Number(value)
    this.#exact = value
    this.#region.i64[this.#at] = value
  }

  #setRare(value: number): void {
    const { f32, u32, i64 } = this.#region
    const at = this.#at
    if (this.#type === PM_TYPE_FLOAT) f32[at * 2] = value
    else if (!Number.isFinite(value)) {
      this.#value = Number.NaN
      i64[at] = NO_VALUE
    } else if (this.#type === PM_TYPE_32 || this.#type === PM_TYPE_U32) {
      u32[at * 2] = value
      u32[at * 2 + 1] = 0 // the word may have held NO_VALUE
    } else i64[at] = BigInt(Math.trunc(value))
  }
}

/** Accumulated time of sections, in microseconds. */
export class ElapsedCell implements Cell {
  /** Microseconds of finished sections. */
  #total = 0
  /** Start of the open section, since the epoch; undefined without one. */
  #since: number | undefined
  #region: Region = NOWHERE
  #at = 0

  /** Microseconds including the open section. */
  total(nowUs: number): number {
    return this.#total + (this.#since === undefined ? 0 : nowUs - this.#since)
  }

  bind(region: Region, at: number): void {
    this.#region = region
    this.#at = at >> 3
    this.#write()
  }

  /** Restarts from 0 with a section that began at `sinceUs`, or without one. */
  reset(sinceUs: number | undefined): void {
    this.#total = 0
    this.#since = sinceUs
    this.#write()
  }

  begin(nowUs: number): void {
    this.#since = nowUs
    this.#write()
  }

  end(nowUs: number): void {
    this.#total = this.total(nowUs)
    this.#since = undefined
    this.#write()
  }

  #write(): void {
    const { i64 } = this.#region
    i64[this.#at + 1] = this.#since === undefined ? 0n : -BigInt(Math.round(this.#since))
    i64[this.#at] = BigInt(Math.round(this.#total))
  }
}

/** A text of up to 255 bytes; a longer one is cut at a character boundary. */
export class TextCell implements Cell {
  #bytes: Uint8Array
  #region: Region = NOWHERE
  #at = 0

  /** An empty text means no value. */
  constructor(text: string) {
    this.#bytes = cut(text)
  }

  bind(region: Region, at: number): void {
    this.#region = region
    this.#at = Number(region.i64[(at >> 3) + 1])
    this.#write()
  }

  set(text: string): void {
    this.#bytes = cut(text)
    this.#write()
  }

  #write(): void {
    const { bytes } = this.#region
    bytes.set(this.#bytes, this.#at)
    bytes.fill(0, this.#at + this.#bytes.length, this.#at + STRING_SIZE)
  }
}

/** The text up to its first NUL, cut to whole characters that fit a record. */
function cut(text: string): Uint8Array {
  const nul = text.indexOf('\0')
  const bytes = encodeText(nul < 0 ? text : text.slice(0, nul))
  let end = Math.min(bytes.length, STRING_SIZE - 1)
  if (end < bytes.length) while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.subarray(0, end)
}
