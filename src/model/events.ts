/** Event record arrays: many records in one value. pmUnpackEventRecords(3), docs/formats/wire.md §5.4, §5.5 */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from './errors.ts'
import { type Pmid, pmid, pmidStr } from './ids.ts'
import {
  PM_TYPE_32,
  PM_TYPE_AGGREGATE_STATIC,
  PM_TYPE_EVENT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_U32,
  PM_VAL_DPTR,
  PM_VAL_INSITU,
  PM_VAL_SPTR,
  typeStr,
} from './types.ts'
import { BLOCK_HEADER, blockLength, blockType, uint32At } from './value-set.ts'
import { makeSingular } from './value-writer.ts'
import type { Value, ValueSet } from './values.ts'

/** An observation. */
export const PM_EVENT_FLAG_POINT = 1
/** The start of an event. */
export const PM_EVENT_FLAG_START = 2
/** The end of an event. */
export const PM_EVENT_FLAG_END = 4
/** The first parameter is a trace id. */
export const PM_EVENT_FLAG_ID = 8
/** The second parameter is the id of the parent. */
export const PM_EVENT_FLAG_PARENT = 16
/** The record represents lost records and has their number. */
export const PM_EVENT_FLAG_MISSED = 0x80000000

/** PMID of the anonymous metric for the flags of a record. */
export const EVENT_FLAGS_PMID: Pmid = pmid(511, 0, 1)
/** PMID of the anonymous metric for the number of lost records. */
export const EVENT_MISSED_PMID: Pmid = pmid(511, 0, 2)

/** A parameter: a value set with one value, and its type. */
export interface Parameter extends ValueSet {
  readonly type: number
}

/** One record of an array. */
export interface EventRecord {
  readonly timestamp: Timestamp
  /** PM_EVENT_FLAG_* bits, unsigned. */
  readonly flags: number
  /** Number of lost records with PM_EVENT_FLAG_MISSED, else 0. */
  readonly missed: number
  readonly params: readonly Parameter[]
}

/** A record to encode; parameters as plain values. */
export interface NewEventRecord {
  readonly timestamp: Timestamp
  readonly flags: number
  /** Number of lost records, with PM_EVENT_FLAG_MISSED. Such a record has no parameters. */
  readonly missed?: number
  readonly params: readonly { readonly pmid: Pmid; readonly type: number; readonly value: Value }[]
}

const NO_INST: Int32Array = Int32Array.of(-1)
const NO_BYTES = new Uint8Array(0)

/** Returns the bytes of a record before its parameters. */
function headerSize(type: number): number {
  return type === PM_TYPE_HIGHRES_EVENT ? 24 : 16
}

/**
 * Decodes the records of the `i`th value of a set of type PM_TYPE_EVENT or PM_TYPE_HIGHRES_EVENT; none if the set is empty.
 * Parameters borrow the set's bytes. Throws the set's own error; PM_ERR_CONV for an in-situ value or a missed record with
 * other flags; PM_ERR_TYPE for another stored type or an invalid parameter type; PM_ERR_TOOSMALL and PM_ERR_TOOBIG for
 * invalid counts and lengths. @see pmUnpackEventRecords(3), pmUnpackHighResEventRecords(3)
 */
export function unpackEvents(set: ValueSet, i: number, type: number): EventRecord[] {
  if (set.status < 0) throw PcpError.fromStatus(set.status, pmidStr(set.pmid))
  if (set.status === 0) return []
  if (set.format !== PM_VAL_DPTR && set.format !== PM_VAL_SPTR) {
    throw new PcpError('PM_ERR_CONV', 'Event records cannot be in situ')
  }
  const stored = blockType(set, i)
  if (stored !== type || (type !== PM_TYPE_EVENT && type !== PM_TYPE_HIGHRES_EVENT)) {
    throw new PcpError('PM_ERR_TYPE', `A value of type ${typeStr(stored)} is not of type ${typeStr(type)}`)
  }
  const start = set.word[i]!
  const length = blockLength(set.bytes, start)
  if (length < BLOCK_HEADER + 4) throw tooSmall('the number of records')
  const cursor: Cursor = { bytes: set.bytes, at: start + BLOCK_HEADER, end: start + length }
  const count = int32(cursor)
  if (count < 0) throw tooSmall(`${count} records`)
  const records: EventRecord[] = []
  for (let r = 0; r < count; r++) records.push(readRecord(cursor, type))
  return records
}

/**
 * Returns a record in the form of pmUnpackEventRecords: a value set for non-zero flags, one for the number of lost records if
 * there are any, and one for each parameter.
 */
export function eventSets({ flags, missed, params }: EventRecord): readonly ValueSet[] {
  if (flags === 0) return params
  const sets: ValueSet[] = [makeSingular(EVENT_FLAGS_PMID, PM_TYPE_U32, flags)]
  if (flags === PM_EVENT_FLAG_MISSED) sets.push(makeSingular(EVENT_MISSED_PMID, PM_TYPE_U32, missed))
  return [...sets, ...params]
}

/** Encodes an event array, for `makeSet` with PM_TYPE_EVENT or PM_TYPE_HIGHRES_EVENT. PM_ERR_TYPE as `makeSet`. */
export function encodeEvents(type: number, records: readonly NewEventRecord[]): Uint8Array {
  const encoded = records.map(({ params }) => params.map(encodeParameter))
  let size = 4
  for (const params of encoded) {
    size += headerSize(type)
    for (const param of params) size += param.length
  }
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, records.length)
  let at = 4
  for (const [r, record] of records.entries()) {
    const params = encoded[r]!
    writeHeader(view, at, type, record)
    at += headerSize(type)
    for (const param of params) {
      bytes.set(param, at)
      at += param.length
    }
  }
  return bytes
}

/** The unread rest of a block. */
interface Cursor {
  readonly bytes: Uint8Array
  at: number
  readonly end: number
}

function readRecord(cursor: Cursor, type: number): EventRecord {
  need(cursor, headerSize(type), 'a record')
  const timestamp: Timestamp =
    type === PM_TYPE_HIGHRES_EVENT
      ? { sec: int64(cursor), nsec: int64(cursor) }
      : { sec: int32(cursor), nsec: int32(cursor) * 1000 }
  const flags = int32(cursor) >>> 0
  const count = int32(cursor)
  if (flags >= PM_EVENT_FLAG_MISSED) {
    if (flags !== PM_EVENT_FLAG_MISSED)
      throw new PcpError('PM_ERR_CONV', 'A missed record must not have other flags')
    return { timestamp, flags, missed: count >>> 0, params: [] }
  }
  if (count < 0) throw tooSmall(`${count} parameters`)
  const params: Parameter[] = []
  for (let p = 0; p < count; p++) params.push(readParameter(cursor))
  return { timestamp, flags, missed: 0, params }
}

function readParameter(cursor: Cursor): Parameter {
  need(cursor, 8, 'a parameter')
  const id = int32(cursor) >>> 0
  const block = cursor.at
  const word = uint32At(cursor.bytes, block)
  const type = word >>> 24
  const length = word & 0xffffff
  if (type > PM_TYPE_AGGREGATE_STATIC) {
    throw new PcpError('PM_ERR_TYPE', `${pmidStr(id)}: event parameters cannot have type ${typeStr(type)}`)
  }
  const isInSitu = type === PM_TYPE_32 || type === PM_TYPE_U32
  if (length < (isInSitu ? 8 : BLOCK_HEADER)) throw tooSmall(`a parameter of ${length} bytes`)
  need(cursor, length, 'a parameter')
  // Padding after the last parameter may be missing; the next read checks the bounds.
  cursor.at += (length + 3) & ~3
  const common = { pmid: id, type, status: 1, inst: NO_INST }
  // Word and data of a parameter are laid out like a value block.
  return isInSitu
    ? {
        ...common,
        format: PM_VAL_INSITU,
        word: Int32Array.of(uint32At(cursor.bytes, block + 4)),
        bytes: NO_BYTES,
      }
    : { ...common, format: PM_VAL_DPTR, word: Int32Array.of(block), bytes: cursor.bytes }
}

function need(cursor: Cursor, size: number, what: string): void {
  if (cursor.at + size > cursor.end) {
    throw new PcpError('PM_ERR_TOOBIG', `Event records: ${what} goes beyond the end of the array`)
  }
}

function tooSmall(what: string): PcpError {
  return new PcpError('PM_ERR_TOOSMALL', `Event records: ${what} is invalid`)
}

function int32(cursor: Cursor): number {
  const value = uint32At(cursor.bytes, cursor.at) | 0
  cursor.at += 4
  return value
}

/** Reads seconds or nanoseconds; doubles represent all sensible values. */
function int64(cursor: Cursor): number {
  const high = int32(cursor)
  return high * 0x1_0000_0000 + (int32(cursor) >>> 0)
}

function writeHeader(view: DataView, at: number, type: number, record: NewEventRecord): void {
  const { sec, nsec } = record.timestamp
  const count = record.flags >>> 0 === PM_EVENT_FLAG_MISSED ? (record.missed ?? 0) : record.params.length
  if (type === PM_TYPE_HIGHRES_EVENT) {
    view.setBigInt64(at, BigInt(sec))
    view.setBigInt64(at + 8, BigInt(nsec))
  } else {
    view.setInt32(at, sec)
    view.setInt32(at + 4, Math.floor(nsec / 1000))
  }
  const flagsAt = at + headerSize(type) - 8
  view.setUint32(flagsAt, record.flags)
  view.setUint32(flagsAt + 4, count)
}

function encodeParameter({ pmid: id, type, value }: NewEventRecord['params'][number]): Uint8Array {
  const set = makeSingular(id, type, value)
  const isInSitu = set.format === PM_VAL_INSITU
  const bytes = new Uint8Array(4 + (isInSitu ? 8 : set.bytes.length))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, id)
  if (isInSitu) {
    view.setUint32(4, (type << 24) | 8)
    view.setInt32(8, set.word[0]!)
  } else bytes.set(set.bytes, 4)
  return bytes
}
