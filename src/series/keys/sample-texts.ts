/** Texts in the entries of a stream, decoded from the bytes that arrive: identifiers of instances, and numbers. */
import { PM_TYPE_32, PM_TYPE_DOUBLE } from '../../model/types.ts'
import { ID_BYTES } from './maps.ts'
import type { DecodeText } from './replies.ts'
import { EMPTY_FIELD, ERROR_FIELD } from './schema.ts'

/** Lists around the fields of an entry. */
const FIELDS_DEPTH = 3
/** Integers of so many digits are exact. */
const MOST_DIGITS = 15
const ZERO = 48

/**
 * Returns a decoder for the entries of one stream of metrics of a type. Instances become hexadecimal, other fields null; short integers
 * become numbers, all else text.
 */
export function sampleTexts(type: number): DecodeText {
  const isNumber = type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE
  /** Identifiers at each place of an entry; in the next entry they are nearly always the same. */
  const places: Place[] = []
  return (bytes, start, end, depth, index) => {
    if (depth !== FIELDS_DEPTH) return bytes.toString('latin1', start, end)
    if (index % 2 === 1)
      return isNumber
        ? (shortInteger(bytes, start, end) ?? bytes.toString('latin1', start, end))
        : bytes.toString('utf8', start, end)
    const known = places[index >> 1]
    if (known !== undefined && isSame(known.bytes, bytes, start, end)) return known.hex
    const field = bytes.subarray(start, end)
    if (field.length < ID_BYTES && OTHER_FIELDS.includes(field.toString())) return null
    const hex = field.toString('hex')
    if (index >> 1 <= places.length) places[index >> 1] = { bytes: Buffer.from(field), hex }
    return hex
  }
}

interface Place {
  readonly bytes: Buffer
  readonly hex: string
}

const OTHER_FIELDS: readonly string[] = [ERROR_FIELD, EMPTY_FIELD]

function isSame(known: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const { length } = known
  if (length !== end - start) return false
  for (let i = 0; i < length; i++) if (known[i] !== bytes[start + i]) return false
  return true
}

/** Returns the value of a few digits; undefined for any other text. */
function shortInteger(bytes: Buffer, start: number, end: number): number | undefined {
  if (end === start || end - start > MOST_DIGITS) return undefined
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - ZERO
    if (digit < 0 || digit > 9) return undefined
    value = 10 * value + digit
  }
  return value
}
