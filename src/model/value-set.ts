/** Reading values from value sets. docs/formats/wire.md §5, docs/decisions/values.md */
import { decodeText } from '../base/text.ts'
import { PcpError } from './errors.ts'
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
  PM_TYPE_UNKNOWN,
  PM_VAL_INSITU,
  typeStr,
} from './types.ts'
import type { Value, ValueSet } from './values.ts'

/** Bytes of a block header: one for the type, three for the length. */
export const BLOCK_HEADER = 4

/** A value and its instance. */
export interface InstanceValue {
  /** PM_IN_NULL for a metric without an instance domain. */
  readonly inst: number
  readonly value: Value
}

const scratch = new DataView(new ArrayBuffer(8))

/**
 * Returns the `i`th value of a set of type `type`. 64-bit integers are numbers if exact and bigints otherwise; aggregates and
 * event arrays are a view of the set's bytes (borrowed). PM_ERR_VALUE if there is no `i`th value, PM_ERR_CONV if the stored
 * type differs, PM_ERR_IPC if a block is outside the set's bytes.
 */
export function extract(set: ValueSet, i: number, type: number): Value {
  const word = wordAt(set, i)
  if (set.format === PM_VAL_INSITU) return fromWord(word, type)
  const size = blockLength(set.bytes, word) - BLOCK_HEADER
  const at = word + BLOCK_HEADER
  switch (type) {
    case PM_TYPE_64:
    case PM_TYPE_U64: {
      checkBlock(set, word, type, size, 8)
      const number = int64At(set.bytes, at, type)
      return Number.isSafeInteger(number) ? number : bigintAt(set.bytes, at, type)
    }
    case PM_TYPE_FLOAT:
      checkBlock(set, word, type, size, 4)
      return floatAt(set.bytes, at)
    case PM_TYPE_DOUBLE:
      checkBlock(set, word, type, size, 8)
      return doubleAt(set.bytes, at)
    case PM_TYPE_STRING:
      checkBlock(set, word, type, size, size)
      return decodeText(set.bytes, at, textEnd(set.bytes, at, at + size))
    case PM_TYPE_AGGREGATE:
    case PM_TYPE_AGGREGATE_STATIC:
    case PM_TYPE_EVENT:
    case PM_TYPE_HIGHRES_EVENT:
    case PM_TYPE_UNKNOWN:
      return set.bytes.subarray(at, at + size)
    default:
      throw mismatch(set, type)
  }
}

/**
 * Returns the `i`th value of a numeric set as a double, for rates and charts: integers beyond 2^53 are rounded. Errors as for
 * `extract`; PM_ERR_CONV for types that are not numeric.
 */
export function extractNumber(set: ValueSet, i: number, type: number): number {
  const word = wordAt(set, i)
  if (set.format === PM_VAL_INSITU) return fromWord(word, type)
  const size = blockLength(set.bytes, word) - BLOCK_HEADER
  switch (type) {
    case PM_TYPE_64:
    case PM_TYPE_U64:
      checkBlock(set, word, type, size, 8)
      return int64At(set.bytes, word + BLOCK_HEADER, type)
    case PM_TYPE_FLOAT:
      checkBlock(set, word, type, size, 4)
      return floatAt(set.bytes, word + BLOCK_HEADER)
    case PM_TYPE_DOUBLE:
      checkBlock(set, word, type, size, 8)
      return doubleAt(set.bytes, word + BLOCK_HEADER)
    default:
      throw mismatch(set, type)
  }
}

/** Returns all values of a set in order; none for a set with an error. Errors as for `extract`. */
export function valuesOf(set: ValueSet, type: number): InstanceValue[] {
  const values: InstanceValue[] = []
  for (let i = 0; i < set.status; i++) values.push({ inst: set.inst[i]!, value: extract(set, i, type) })
  return values
}

/** Returns the length, including the header, of the value block at an offset. PM_ERR_IPC if the block exceeds `bytes`. */
export function blockLength(bytes: Uint8Array, offset: number): number {
  if (offset >= 0 && offset + BLOCK_HEADER <= bytes.length) {
    const length = (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!
    if (length >= BLOCK_HEADER && offset + length <= bytes.length) return length
  }
  throw new PcpError('PM_ERR_IPC', `Value block at offset ${offset} exceeds its ${bytes.length} bytes`)
}

/** Returns the type byte of the `i`th value's block. PM_ERR_CONV for in-situ values, PM_ERR_IPC as `blockLength`. */
export function blockType(set: ValueSet, i: number): number {
  if (set.format === PM_VAL_INSITU) throw new PcpError('PM_ERR_CONV', 'Values in situ have no block')
  const word = wordAt(set, i)
  blockLength(set.bytes, word)
  return set.bytes[word]!
}

/** Reads the 64-bit integer at an offset, exactly; PM_TYPE_U64 is unsigned. The caller checks bounds. */
function bigintAt(bytes: Uint8Array, at: number, type: number): bigint {
  const high = uint32At(bytes, at)
  return (BigInt(type === PM_TYPE_U64 ? high : high | 0) << 32n) | BigInt(uint32At(bytes, at + 4))
}

/** Reads the unsigned 32-bit integer at an offset. The caller checks bounds. */
export function uint32At(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}

/** Returns the single precision number with the bits of `word`. */
export function floatFromBits(word: number): number {
  scratch.setInt32(0, word)
  return scratch.getFloat32(0)
}

function wordAt(set: ValueSet, i: number): number {
  const word = set.word[i]
  if (word === undefined) throw new PcpError('PM_ERR_VALUE', `No value ${i} in a set of ${set.word.length}`)
  return word
}

function fromWord(word: number, type: number): number {
  if (type === PM_TYPE_32 || type === PM_TYPE_UNKNOWN) return word
  if (type === PM_TYPE_U32) return word >>> 0
  if (type === PM_TYPE_FLOAT) return floatFromBits(word)
  throw new PcpError('PM_ERR_CONV', `A value in situ cannot be of type ${typeStr(type)}`)
}

/** Checks that a block has the requested type, or 0 as from old agents, and that a number has its type's size. */
function checkBlock(set: ValueSet, offset: number, type: number, size: number, expected: number): void {
  const stored = set.bytes[offset]!
  if ((stored === type || stored === 0) && size === expected) return
  throw new PcpError(
    'PM_ERR_CONV',
    `Cannot read a block of ${size} bytes, type ${typeStr(stored)}, as ${typeStr(type)}`,
  )
}

function mismatch(set: ValueSet, type: number): PcpError {
  const format = set.format === PM_VAL_INSITU ? 'in situ' : 'in a block'
  return new PcpError('PM_ERR_CONV', `Cannot read a value ${format} as ${typeStr(type)}`)
}

/** Returns hi * 2^32 + lo: ten times cheaper than a bigint, exact if the result is a safe integer. */
function int64At(bytes: Uint8Array, at: number, type: number): number {
  const high = uint32At(bytes, at)
  return (type === PM_TYPE_U64 ? high : high | 0) * 0x1_0000_0000 + uint32At(bytes, at + 4)
}

function floatAt(bytes: Uint8Array, at: number): number {
  return floatFromBits(uint32At(bytes, at))
}

function doubleAt(bytes: Uint8Array, at: number): number {
  scratch.setUint32(0, uint32At(bytes, at))
  scratch.setUint32(4, uint32At(bytes, at + 4))
  return scratch.getFloat64(0)
}

/** Text ends at its first NUL, or with the block if the sender omitted the NUL. */
function textEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let i = start; i < end; i++) if (bytes[i] === 0) return i
  return end
}
