/** Values, descriptors and flags as text. pmPrintValue(3), pmAtomStr(3), pmPrintDesc(3), pmNumberStr(3), pmEventFlagsStr(3) */
import { oneLine } from '../base/printable.ts'
import { byteWidth, formatE, formatF, formatG, rightJustify } from '../base/printf.ts'
import { decodeText, encodeText } from '../base/text.ts'
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from './desc.ts'
import { PcpError } from './errors.ts'
import { PM_EVENT_FLAG_MISSED } from './events.ts'
import { indomStr } from './ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_AGGREGATE,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_DOUBLE,
  PM_TYPE_EVENT,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_TYPE_UNKNOWN,
  PM_VAL_DPTR,
  PM_VAL_INSITU,
  PM_VAL_SPTR,
  semStr,
  typeStr,
} from './types.ts'
import { unitsStr } from './units.ts'
import { BLOCK_HEADER, blockLength, floatFromBits } from './value-set.ts'
import type { Value, ValueSet } from './values.ts'

/** User preferences of `printValue`. */
export interface PrintOptions {
  /** Formats a time of day in the user's zone: milliseconds, or nanoseconds for high resolution. Default: UTC. */
  readonly clock?: (time: Timestamp, isHighRes: boolean) => string
  /** Shows newlines in text as a picture, so that no text can look like a line of a report. */
  readonly isOneLine?: boolean
  /** Replaces white space in text by blanks: PCP_SQUASH_NEWLINES is set. */
  readonly squashSpace?: boolean
}

const TYPE_WORDS: { readonly [type: number]: string } = {
  [PM_TYPE_32]: '32-bit int',
  [PM_TYPE_U32]: '32-bit unsigned int',
  [PM_TYPE_64]: '64-bit int',
  [PM_TYPE_U64]: '64-bit unsigned int',
  [PM_TYPE_FLOAT]: 'float',
  [PM_TYPE_DOUBLE]: 'double',
  [PM_TYPE_STRING]: 'string',
  [PM_TYPE_AGGREGATE]: 'aggregate',
  [PM_TYPE_AGGREGATE_STATIC]: 'static aggregate',
  [PM_TYPE_EVENT]: 'event record array',
  [PM_TYPE_HIGHRES_EVENT]: 'highres event record array',
}

const FLAG_NAMES: readonly string[] = ['point', 'start', 'end', 'id', 'parent']

/**
 * Formats the `i`th value of a set of type `type`, right-justified to `width` bytes. A block that does not match the type is
 * formatted as an aggregate: its likely meanings and its bytes. PM_ERR_IPC for a block outside the set's bytes, PM_ERR_VALUE
 * if there is no `i`th value. @see pmPrintValue(3)
 */
export function printValue(
  set: ValueSet,
  i: number,
  type: number,
  width: number,
  options: PrintOptions = {},
): string {
  const word = set.word[i]
  if (word === undefined) throw new PcpError('PM_ERR_VALUE', `No value ${i} in a set of ${set.word.length}`)
  if (set.format === PM_VAL_INSITU) return printWord(word, type, width)
  if (set.format !== PM_VAL_DPTR && set.format !== PM_VAL_SPTR) {
    return `pmPrintValue: bad valfmt (${set.format})?\n`
  }
  const size = blockLength(set.bytes, word) - BLOCK_HEADER
  const stored = set.bytes[word]!
  const data = new DataView(set.bytes.buffer, set.bytes.byteOffset + word + BLOCK_HEADER, size)
  const isAsStored = stored === type || stored === 0
  const number = isAsStored ? printNumber(data, type) : undefined
  if (number !== undefined) return rightJustify(number, width)
  if (isAsStored && type === PM_TYPE_STRING) return printText(bytesOf(data), width, options)
  if (isAsStored && (type === PM_TYPE_EVENT || type === PM_TYPE_HIGHRES_EVENT) && size >= 4)
    return printEvents(data, type, options)
  return printRaw(littleEndian(data, stored), width)
}

/** Formats a value in the short form of diagnostics; `stored` is the type byte of an aggregate's block. @see pmAtomStr(3) */
export function atomStr(value: Value | undefined, type: number, stored: number = type): string {
  const words = TYPE_WORDS[type]
  if (words === undefined) return `Error: unexpected type: ${unexpected(type)}`
  if (value === undefined) return '<null>'
  if (typeof value === 'object') {
    const isEvent = type === PM_TYPE_EVENT || type === PM_TYPE_HIGHRES_EVENT
    return isEvent && value.length >= 4
      ? countRecords(new DataView(value.buffer, value.byteOffset, value.length).getInt32(0))
      : aggregateStr(value, stored)
  }
  if (typeof value === 'string') {
    if (byteWidth(value) < 38) return `"${value}"`
    return `"${decodeText(encodeText(value).subarray(0, 34))}..."`
  }
  return type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE ? formatE(Number(value)) : String(value)
}

/** Formats type, instance domain, semantics and units on two lines, as tools show descriptors. @see pmPrintDesc(3) */
export function printDesc({ type, indom, sem, units }: MetricDesc): string {
  if (type === PM_TYPE_NOSUPPORT) return '    Data Type: Not Supported\n'
  return (
    `    Data Type: ${typeWords(type)}  InDom: ${indomStr(indom)} 0x${indom.toString(16)}\n` +
    `    Semantics: ${semWords(sem)}  Units: ${unitsStr(units) || 'none'}\n`
  )
}

/** Returns a type in words: `32-bit unsigned int`. */
export function typeWords(type: number): string {
  return TYPE_WORDS[type] ?? `??? (${type})`
}

/** Returns semantics in words: `counter`. */
export function semWords(sem: number): string {
  return semStr(sem) === '???' ? `??? (${sem})` : semStr(sem)
}

/** Formats a number in exactly seven characters, with a suffix if necessary: `999.99K`. @see pmNumberStr(3) */
export function numberStr(value: number): string {
  // From these limits on two decimals would round up to 1000, or to -100 for negative numbers.
  const [limit, beyond] = value < 0 ? [99.995, '-inf?  '] : [999.995, ' inf?  ']
  if (Number.isNaN(value) || Math.abs(value) < 0.005) return '  0.00 '
  let scale = 1
  for (const letter of ' KMGT') {
    if (Math.abs(value) < limit * scale) return formatF(value / scale, 2).padStart(6) + letter
    scale *= 1000
  }
  return beyond
}

/** Returns the names of an event record's flags, joined by commas; '' for none. @see pmEventFlagsStr(3) */
export function eventFlagsStr(flags: number): string {
  if (flags >>> 0 >= PM_EVENT_FLAG_MISSED) return 'missed'
  return FLAG_NAMES.filter((_, bit) => (flags & (1 << bit)) !== 0).join(',')
}

function printWord(word: number, type: number, width: number): string {
  switch (type) {
    case PM_TYPE_32:
      return rightJustify(String(word), width)
    case PM_TYPE_U32:
      return rightJustify(String(word >>> 0), width)
    case PM_TYPE_FLOAT:
      return rightJustify(formatG(floatFromBits(word), 8), width)
    case PM_TYPE_EVENT:
      return printLogState(word)
    default: {
      const float = floatFromBits(word)
      const hex = (word >>> 0).toString(16).padStart(width > 2 ? width - 2 : width)
      const parts = [rightJustify(String(word >>> 0), width), `0x${hex}`]
      if (!Number.isNaN(float)) parts.splice(1, 0, rightJustify(formatG(float, 8), width))
      return parts.join(' ')
    }
  }
}

/** Formats the state of a metric as pmlogger reports it, in-situ event values: flags and an interval in milliseconds. */
function printLogState(word: number): string {
  const control = (word & 2) !== 0 ? 'mand' : 'adv'
  const state = (word & 1) !== 0 ? 'on' : 'off'
  const place = (word & 8) === 0 ? 'nl' : (word & 4) === 0 ? 'na' : ''
  return `[pmlc control ${control} ${state} ${place} ${word >>> 4}]`
}

/** Formats the number in a block; undefined if the block does not have the type's size. */
function printNumber(data: DataView, type: number): string | undefined {
  if (type === PM_TYPE_64 && data.byteLength === 8) return String(data.getBigInt64(0))
  if (type === PM_TYPE_U64 && data.byteLength === 8) return String(data.getBigUint64(0))
  if (type === PM_TYPE_FLOAT && data.byteLength === 4) return formatG(data.getFloat32(0), 8)
  if (type === PM_TYPE_DOUBLE && data.byteLength === 8) return formatG(data.getFloat64(0), 16)
  return undefined
}

/** Returns bytes as in the memory of a little-endian machine: numbers are swapped, other data is unchanged. */
function littleEndian(data: DataView, stored: number): DataView {
  if (printNumber(data, stored) === undefined) return data
  return new DataView(Uint8Array.from(bytesOf(data)).reverse().buffer)
}

function bytesOf(data: DataView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

function printText(bytes: Uint8Array, width: number, options: PrintOptions): string {
  const nul = bytes.indexOf(0)
  return quotedText(decodeText(bytes, 0, nul < 0 ? bytes.length : nul), width, options)
}

/** Quotes text as `printValue` does. */
export function quotedText(given: string, width: number, { isOneLine, squashSpace }: PrintOptions): string {
  const text = isOneLine ? oneLine(given) : given
  return rightJustify(`"${squashSpace ? text.replace(/[ \t\n\v\f\r]/g, ' ') : text}"`, width)
}

/** Opaque bytes are never swapped, so numbers in them are interpreted as on a little-endian machine. */
function printRaw(data: DataView, width: number): string {
  const bytes = bytesOf(data)
  const parts: string[] = []
  if (bytes.length === 4) {
    const float = data.getFloat32(0, true)
    if (!Number.isNaN(float)) parts.push(formatG(float, 8))
  } else if (bytes.length === 8) {
    parts.push(String(data.getBigUint64(0, true)))
    const double = data.getFloat64(0, true)
    if (!Number.isNaN(double)) parts.push(formatG(double, 16))
  }
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) parts.push(`"${decodeText(bytes)}"`)
  parts.push(`[${hexOf(bytes)}]`)
  return parts.map((part) => rightJustify(part, width)).join(' ')
}

/** Hexadecimal digits of each byte value: an aggregate has up to 16 million bytes. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hexOf(bytes: Uint8Array): string {
  let hex = ''
  for (let i = 0; i < bytes.length; i++) hex += HEX[bytes[i]!]!
  return hex
}

function countRecords(count: number): string {
  return `[${count} event ${count === 1 ? 'record' : 'records'}]`
}

function printEvents(data: DataView, type: number, options: PrintOptions): string {
  const count = data.getInt32(0)
  if (count <= 0) return countRecords(Math.max(0, count))
  const isHighRes = type === PM_TYPE_HIGHRES_EVENT
  const walk = walkRecords(data, isHighRes, count)
  if (walk === undefined) return `[${count} event records, damaged]`
  const clock = options.clock ?? utcClock
  const first = clock(walk.first, isHighRes)
  if (count === 1) return `[1 event record timestamp ${first}]`
  const missed = walk.missed === 0 ? '' : ` (${walk.missed} missed)`
  return `[${count} event records${missed} timestamps ${first}...${clock(walk.last, isHighRes)}]`
}

/**
 * Returns first and last time and the number of missed records. Like the reference, this does not advance past a missed record: it
 * is counted again for each further record, and its time is the last (vectors format/print_value.json, and 6.0.3 for several
 * missed records). Undefined if the records exceed the bytes.
 */
function walkRecords(
  data: DataView,
  isHighRes: boolean,
  count: number,
): { first: Timestamp; last: Timestamp; missed: number } | undefined {
  const header = isHighRes ? 24 : 16
  let at = 4
  for (let r = 1; at + header <= data.byteLength; r++) {
    if (r === count)
      return { first: timeAt(data, 4, isHighRes), last: timeAt(data, at, isHighRes), missed: 0 }
    const params = data.getUint32(at + header - 4)
    if (data.getUint32(at + header - 8) >= PM_EVENT_FLAG_MISSED) {
      const last = timeAt(data, at, isHighRes)
      return { first: timeAt(data, 4, isHighRes), last, missed: params * (count - r) }
    }
    at += header
    for (let p = 0; p < params; p++) {
      if (at + 8 > data.byteLength) return undefined
      at += 4 + (((data.getUint32(at + 4) & 0xffffff) + 3) & ~3)
    }
  }
  return undefined
}

function timeAt(data: DataView, at: number, isHighRes: boolean): Timestamp {
  return isHighRes
    ? { sec: Number(data.getBigInt64(at)), nsec: Number(data.getBigInt64(at + 8)) }
    : { sec: data.getInt32(at), nsec: data.getInt32(at + 4) * 1000 }
}

function utcClock({ sec, nsec }: Timestamp, isHighRes: boolean): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = ((sec % 86400) + 86400) % 86400
  const clock = [Math.floor(day / 3600), Math.floor(day / 60) % 60, day % 60].map(two).join(':')
  return `${clock}.${String(nsec)
    .padStart(9, '0')
    .slice(0, isHighRes ? 9 : 3)}`
}

/** Formats at most twelve bytes, in groups of four. */
function aggregateStr(bytes: Uint8Array, stored: number): string {
  const groups = hexOf(bytes.subarray(0, 12)).match(/.{1,8}/g) ?? []
  const parts = [`[type=${typeStr(stored)} len=${bytes.length}]`, ...groups]
  return parts.concat(bytes.length > 12 ? '...' : []).join(' ')
}

function unexpected(type: number): string {
  if (type === PM_TYPE_NOSUPPORT) return 'Not Supported'
  return type === PM_TYPE_UNKNOWN ? 'Unknown' : `Illegal type=${type}`
}
