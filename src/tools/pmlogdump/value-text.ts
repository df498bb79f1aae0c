/** One value of a record as text, straight from the bytes of the record. */
import type { RecordView } from '../../archive/record-view.ts'
import type { ByteText } from '../../base/byte-text.ts'
import { type PrintOptions, printValue } from '../../model/print.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_TYPE_UNKNOWN,
  PM_VAL_INSITU,
} from '../../model/types.ts'
import type { ValueSet } from '../../model/values.ts'

/** Significant digits of a float and of a double. */
const FLOAT_DIGITS = 8
const DOUBLE_DIGITS = 16
/** First words of blocks that hold one number. */
const BLOCK_64 = (PM_TYPE_64 << 24) | 12
const BLOCK_U64 = (PM_TYPE_U64 << 24) | 12
const BLOCK_DOUBLE = (PM_TYPE_DOUBLE << 24) | 12
const BLOCK_FLOAT = (PM_TYPE_FLOAT << 24) | 8
const QUOTE = 0x22

/** Writes values. What is not an ordinary number or text is printed by `printValue`. */
export class ValueText {
  readonly #options: PrintOptions
  /** Is text more than its bytes? */
  readonly #isFormed: boolean
  #set: ValueSet | undefined
  #setOf = -1
  #setAt = -1

  constructor(options: PrintOptions) {
    this.#options = options
    this.#isFormed = options.squashSpace === true || options.isOneLine === true
  }

  /** Value `i` of value set `s`. */
  write(out: ByteText, record: RecordView, s: number, i: number, type: number): void {
    const { view } = record
    const at = record.pairs[s]! + 8 * i + 4
    if (record.formats[s] === PM_VAL_INSITU) {
      if (type === PM_TYPE_UNKNOWN) this.write(out, record, s, i, PM_TYPE_32)
      else if (type === PM_TYPE_U32) out.int(view.getUint32(at))
      else if (type === PM_TYPE_32) out.int(view.getInt32(at))
      else if (type === PM_TYPE_FLOAT) writeFloat(out, view, at)
      else this.#writeOther(out, record, s, i, type)
      return
    }
    const block = record.blockAt(view.getInt32(at))
    const head = view.getInt32(block)
    if (head === BLOCK_U64 && type === PM_TYPE_U64)
      out.int64(view.getUint32(block + 4), view.getUint32(block + 8))
    else if (head === BLOCK_DOUBLE && type === PM_TYPE_DOUBLE) writeDouble(out, view, block + 4)
    else if (head === BLOCK_64 && type === PM_TYPE_64)
      out.int64(view.getInt32(block + 4), view.getUint32(block + 8))
    else if (head === BLOCK_FLOAT && type === PM_TYPE_FLOAT) writeFloat(out, view, block + 4)
    else if (head >>> 24 === PM_TYPE_STRING && type === PM_TYPE_STRING && !this.#isFormed)
      writeString(out, record.bytes, block + 4, block + (head & 0xffffff))
    else if (type === PM_TYPE_UNKNOWN && head >>> 24 !== PM_TYPE_UNKNOWN)
      this.write(out, record, s, i, head >>> 24)
    else this.#writeOther(out, record, s, i, type)
  }

  #writeOther(out: ByteText, record: RecordView, s: number, i: number, type: number): void {
    if (this.#set === undefined || this.#setOf !== record.position || this.#setAt !== s) {
      this.#set = record.toSet(s)
      this.#setOf = record.position
      this.#setAt = s
    }
    out.text(printValue(this.#set, i, type, 1, this.#options))
  }
}

function writeFloat(out: ByteText, view: DataView, at: number): void {
  const value = view.getFloat32(at)
  if (Number.isNaN(value)) writeNan(out, view.getInt32(at))
  else out.general(value, FLOAT_DIGITS)
}

function writeDouble(out: ByteText, view: DataView, at: number): void {
  const value = view.getFloat64(at)
  if (Number.isNaN(value)) writeNan(out, view.getInt32(at))
  else out.general(value, DOUBLE_DIGITS)
}

/** The C library shows the sign that a number has which is none. */
function writeNan(out: ByteText, word: number): void {
  out.text(word < 0 ? '-nan' : 'nan')
}

/** Text in quotes, up to its NUL. */
function writeString(out: ByteText, bytes: Uint8Array, start: number, end: number): void {
  const nul = bytes.indexOf(0, start)
  out.byte(QUOTE)
  out.raw(bytes.subarray(start, nul < 0 || nul > end ? end : nul))
  out.byte(QUOTE)
}
