/** Writing values into value sets. docs/formats/wire.md §5.3 */
import { byteWidth } from '../base/printf.ts'
import { encodeText, writeAscii } from '../base/text.ts'
import { PcpError } from './errors.ts'
import { type Pmid, pmidStr } from './ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_DPTR,
  PM_VAL_INSITU,
  typeStr,
} from './types.ts'
import { BLOCK_HEADER } from './value-set.ts'
import { emptySet, type Value, type ValueSet } from './values.ts'

/** The instance column of every metric with one value. Shared and never modified. */
const SINGULAR: Int32Array = Int32Array.of(-1)
const NO_BYTES = new Uint8Array(0)
/** Longest block: its length has 24 bits. */
const MAX_BLOCK = 0xff_ffff
const CHUNK = 16 * 1024
/** From this length on, TextEncoder is faster than a loop over characters. */
const LONG = 64

/**
 * Makes a value set of `values` of `type`, one per entry of `insts` (an Int32Array is used without copying). Integers are
 * truncated to the type's width as in C; fractions are dropped. PM_ERR_TYPE for a value of the wrong kind or a
 * type without values, PM_ERR_CONV for NaN or infinity as an integer, PM_ERR_TOOBIG beyond 16 MB.
 */
export function makeSet(
  pmid: Pmid,
  type: number,
  insts: readonly number[] | Int32Array,
  values: readonly Value[],
): ValueSet {
  const count = values.length
  if (count === 0) return emptySet(pmid)
  if (insts.length !== count) {
    throw new PcpError('PM_ERR_ARG', `${pmidStr(pmid)}: ${count} values for ${insts.length} instances`)
  }
  const inst = instColumn(insts)
  const word = new Int32Array(count)
  if (type === PM_TYPE_32 || type === PM_TYPE_U32) {
    for (let i = 0; i < count; i++) word[i] = toWord(values[i]!, pmid, type)
    return { pmid, status: count, format: PM_VAL_INSITU, inst, word, bytes: NO_BYTES }
  }
  let size = 0
  for (let i = 0; i < count; i++) {
    word[i] = size
    size += padded(blockSize(values[i]!, pmid, type))
  }
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < count; i++) writeBlock(bytes, view, word[i]!, values[i]!, pmid, type)
  return { pmid, status: count, format: PM_VAL_DPTR, inst, word, bytes }
}

/** Makes a value set with the one value of a metric without an instance domain. Errors as for `makeSet`. */
export function makeSingular(pmid: Pmid, type: number, value: Value): ValueSet {
  return makeSet(pmid, type, SINGULAR, [value])
}

/**
 * Builds value sets one value at a time, for agents that list instances and values in one pass. Sets share chunks of
 * memory, so a fetch of thousands of values allocates little beyond its columns.
 *
 *     writer.begin(pmid, type); writer.add(inst, value) ...; const set = writer.end()
 */
export class ValueSetWriter {
  #pmid: Pmid = 0
  #type = 0
  #count = 0
  #inst = new Int32Array(16)
  #word = new Int32Array(16)
  #bytes: Uint8Array = NO_BYTES
  #view = new DataView(NO_BYTES.buffer)
  /** Offsets of the first and of the next block of this set. */
  #start = 0
  #at = 0

  /** Starts a set; discards an unfinished one. */
  begin(pmid: Pmid, type: number): void {
    this.#pmid = pmid
    this.#type = type
    this.#count = 0
    this.#at = this.#start
  }

  /** Adds a value. Errors as for `makeSet`; the set is then unchanged. */
  add(inst: number, value: Value): void {
    const i = this.#count
    if (i === this.#inst.length) this.#growColumns()
    if (this.#type === PM_TYPE_32 || this.#type === PM_TYPE_U32) {
      this.#word[i] = toWord(value, this.#pmid, this.#type)
    } else if (typeof value !== 'string' || value.length < LONG || !this.#addLong(i, value)) {
      const size = padded(blockSize(value, this.#pmid, this.#type))
      if (this.#at + size > this.#bytes.length) this.#newChunk(size)
      writeBlock(this.#bytes, this.#view, this.#at, value, this.#pmid, this.#type)
      this.#word[i] = this.#at
      this.#at += size
    }
    this.#inst[i] = inst
    this.#count = i + 1
  }

  /** Adds a long ASCII text without counting its bytes first; returns false if it is not ASCII. */
  #addLong(i: number, text: string): boolean {
    if (this.#type !== PM_TYPE_STRING) return false
    const size = checkSize(BLOCK_HEADER + text.length + 1, this.#pmid)
    if (this.#at + padded(size) > this.#bytes.length) this.#newChunk(padded(size))
    const at = this.#at
    if (!writeAscii(text, this.#bytes, at + BLOCK_HEADER)) return false
    this.#view.setUint32(at, (PM_TYPE_STRING << 24) | size)
    zeroPad(this.#bytes, at + size - 1, 1)
    this.#word[i] = at
    this.#at = at + padded(size)
    return true
  }

  /** Finishes and returns the set; empty if nothing was added. */
  end(): ValueSet {
    const count = this.#count
    this.#count = 0
    if (count === 0) return emptySet(this.#pmid)
    const inst = count === 1 && this.#inst[0] === -1 ? SINGULAR : this.#inst.slice(0, count)
    const isInSitu = this.#at === this.#start
    this.#start = this.#at
    return {
      pmid: this.#pmid,
      status: count,
      format: isInSitu ? PM_VAL_INSITU : PM_VAL_DPTR,
      inst,
      word: this.#word.slice(0, count),
      bytes: isInSitu ? NO_BYTES : this.#bytes,
    }
  }

  #growColumns(): void {
    const inst = new Int32Array(this.#inst.length * 2)
    const word = new Int32Array(inst.length)
    inst.set(this.#inst)
    word.set(this.#word)
    this.#inst = inst
    this.#word = word
  }

  /** Moves the blocks of the current set to a new chunk; ended sets keep the old one. */
  #newChunk(size: number): void {
    const used = this.#at - this.#start
    const bytes = new Uint8Array(Math.max(CHUNK, (used + size) * 2))
    bytes.set(this.#bytes.subarray(this.#start, this.#at))
    for (let i = 0; i < this.#count; i++) this.#word[i]! -= this.#start
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
    this.#start = 0
    this.#at = used
  }
}

function instColumn(insts: readonly number[] | Int32Array): Int32Array {
  if (insts instanceof Int32Array) return insts
  return insts.length === 1 && insts[0] === -1 ? SINGULAR : Int32Array.from(insts)
}

function padded(size: number): number {
  return (size + 3) & ~3
}

/** Returns the bytes of a value's block without padding. */
function blockSize(value: Value, pmid: Pmid, type: number): number {
  switch (type) {
    case PM_TYPE_FLOAT:
      return 8
    case PM_TYPE_64:
    case PM_TYPE_U64:
    case PM_TYPE_DOUBLE:
      return 12
    case PM_TYPE_STRING:
      if (typeof value !== 'string') throw wrongKind(value, pmid, type)
      return checkSize(BLOCK_HEADER + byteWidth(value) + 1, pmid)
    case PM_TYPE_AGGREGATE:
    case PM_TYPE_AGGREGATE_STATIC:
    case PM_TYPE_EVENT:
    case PM_TYPE_HIGHRES_EVENT:
      if (!(value instanceof Uint8Array)) throw wrongKind(value, pmid, type)
      return checkSize(BLOCK_HEADER + value.length, pmid)
    default:
      throw new PcpError('PM_ERR_TYPE', `${pmidStr(pmid)}: type ${typeStr(type)} has no values`)
  }
}

function checkSize(size: number, pmid: Pmid): number {
  if (size > MAX_BLOCK) throw new PcpError('PM_ERR_TOOBIG', `${pmidStr(pmid)}: a value of ${size} bytes`)
  return size
}

/** Writes header, data and zeros up to a multiple of 4. */
function writeBlock(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  value: Value,
  pmid: Pmid,
  type: number,
): void {
  const data = at + BLOCK_HEADER
  switch (type) {
    case PM_TYPE_FLOAT:
      view.setFloat32(data, toReal(value, pmid, type))
      view.setUint32(at, (type << 24) | 8)
      return
    case PM_TYPE_DOUBLE:
      view.setFloat64(data, toReal(value, pmid, type))
      view.setUint32(at, (type << 24) | 12)
      return
    case PM_TYPE_64:
    case PM_TYPE_U64:
      writeInt64(view, data, value, pmid, type)
      view.setUint32(at, (type << 24) | 12)
      return
    case PM_TYPE_STRING: {
      const length = writeText(bytes, data, value as string)
      view.setUint32(at, (type << 24) | (BLOCK_HEADER + length + 1))
      zeroPad(bytes, data + length, 1)
      return
    }
    default: {
      const { length } = value as Uint8Array
      bytes.set(value as Uint8Array, data)
      view.setUint32(at, (type << 24) | (BLOCK_HEADER + length))
      zeroPad(bytes, data + length, 0)
    }
  }
}

/** Writes zeros for at least `atLeast` bytes and up to the next multiple of 4: a chunk may contain data of a discarded set. */
function zeroPad(bytes: Uint8Array, from: number, atLeast: number): void {
  for (let i = from; i < padded(from + atLeast); i++) bytes[i] = 0
}

function writeText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0x80) {
      const encoded = encodeText(text)
      bytes.set(encoded, at)
      return encoded.length
    }
    bytes[at + i] = unit
  }
  return text.length
}

function writeInt64(view: DataView, at: number, value: Value, pmid: Pmid, type: number): void {
  if (typeof value === 'bigint') {
    view.setBigInt64(at, value)
    return
  }
  const whole = Math.trunc(finite(value, pmid, type))
  const high = Math.floor(whole / 0x1_0000_0000)
  view.setInt32(at, high)
  view.setUint32(at + 4, whole - high * 0x1_0000_0000)
}

function toWord(value: Value, pmid: Pmid, type: number): number {
  return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : finite(value, pmid, type) | 0
}

function toReal(value: Value, pmid: Pmid, type: number): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  throw wrongKind(value, pmid, type)
}

function finite(value: Value, pmid: Pmid, type: number): number {
  if (typeof value !== 'number') throw wrongKind(value, pmid, type)
  // An integer that could not be computed is an error, never an arbitrary number.
  if (!Number.isFinite(value))
    throw new PcpError('PM_ERR_CONV', `${pmidStr(pmid)}: ${value} is not an integer`)
  return value
}

function wrongKind(value: Value, pmid: Pmid, type: number): PcpError {
  const kind = typeof value === 'object' ? 'bytes' : `a ${typeof value}`
  return new PcpError('PM_ERR_TYPE', `${pmidStr(pmid)}: ${kind} given for type ${typeStr(type)}`)
}
