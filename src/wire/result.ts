/**
 * RESULT and HIGHRES_RESULT: values; from a client, a store. docs/formats/wire.md §3.6, §3.7
 *
 *     RESULT          12 sec   16 usec           20 metrics   24 value sets, value blocks
 *     HIGHRES_RESULT  12 metrics   16 sec (64)   24 nsec (64)   32 value sets, value blocks
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { ValueSet } from '../model/values.ts'
import { newPdu, PDU_HIGHRES_RESULT, PDU_RESULT, pduBytes, pduType } from './pdu.ts'
import { PduReader } from './reader.ts'
import { readValueSets, valueSetsSize, writeValueSets } from './value-sets.ts'

/** A decoded RESULT or HIGHRES_RESULT. */
export interface ResultPdu {
  /** From an agent the seconds are state bits, not a time. */
  readonly timestamp: Timestamp
  /** Borrow the PDU. */
  readonly sets: readonly ValueSet[]
}

const RESULT_BYTES = 24
const HIGHRES_BYTES = 32

/** Encodes a RESULT; nanoseconds are truncated to microseconds. */
export function encodeResult(timestamp: Timestamp, sets: readonly ValueSet[], from = 0): Uint8Array {
  const view = newPdu(RESULT_BYTES + valueSetsSize(sets), PDU_RESULT, from)
  view.setInt32(12, timestamp.sec)
  view.setInt32(16, Math.floor(timestamp.nsec / 1000))
  view.setInt32(20, sets.length)
  const bytes = pduBytes(view)
  writeValueSets(view, bytes, RESULT_BYTES, sets)
  return bytes
}

/** Encodes a HIGHRES_RESULT. */
export function encodeHighResResult(timestamp: Timestamp, sets: readonly ValueSet[], from = 0): Uint8Array {
  const view = newPdu(HIGHRES_BYTES + valueSetsSize(sets), PDU_HIGHRES_RESULT, from)
  view.setInt32(12, sets.length)
  view.setInt32(16, Math.floor(timestamp.sec / 2 ** 32))
  view.setInt32(20, timestamp.sec)
  view.setInt32(28, timestamp.nsec)
  const bytes = pduBytes(view)
  writeValueSets(view, bytes, HIGHRES_BYTES, sets)
  return bytes
}

/** Decodes either of the two; the sets borrow the PDU. */
export function decodeResult(pdu: Uint8Array): ResultPdu {
  if (pdu.length >= 12 && pduType(pdu) === PDU_HIGHRES_RESULT) return decodeHighRes(pdu)
  const r = PduReader.open(pdu, PDU_RESULT)
  const sec = r.i32()
  const usec = r.i32()
  const count = r.count(8)
  return { timestamp: { sec, nsec: usec * 1000 }, sets: readValueSets(r, count) }
}

function decodeHighRes(pdu: Uint8Array): ResultPdu {
  const r = PduReader.open(pdu, PDU_HIGHRES_RESULT)
  const count = r.count(8)
  const sec = r.i64()
  const nsec = r.i64()
  return { timestamp: { sec, nsec }, sets: readValueSets(r, count) }
}
