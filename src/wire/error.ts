/**
 * ERROR: status, handshake challenge, state change, end of context. docs/formats/wire.md §3.1, §4.2
 *
 *     12  status   0 success, negative an error, positive state bits or a count
 *     16  info     only in the challenge: version (bits 30-24), licensed (23-16), features (15-0)
 */
import { newPdu, PDU_ERROR, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** A decoded ERROR. */
export interface ErrorPdu {
  readonly status: number
  /** Second word, in the 20-byte form. */
  readonly info?: number
}

/** First PDU of a collector. */
export interface Challenge {
  /** 0, or why the connection is refused: PM_ERR_PERMISSION, PM_ERR_CONNLIMIT. */
  readonly status: number
  readonly version: number
  readonly licensed: number
  /** PDU_FLAG_* that the collector offers. */
  readonly features: number
}

/** Challenges use a retired numbering of errors, based at 1000 instead of 12345. */
const RETIRED_SHIFT = 11345
const PM_ERR_BASE = -12345
const RETIRED_BASE = -1000

/** Encodes an ERROR of 16 bytes. */
export function encodeError(status: number, from = 0): Uint8Array {
  const view = newPdu(16, PDU_ERROR, from)
  view.setInt32(12, status)
  return pduBytes(view)
}

/** Encodes a challenge of 20 bytes; a negative status refuses the connection and offers no features. */
export function encodeChallenge(features: number, status = 0, from = 0): Uint8Array {
  const view = newPdu(20, PDU_ERROR, from)
  view.setInt32(12, status <= PM_ERR_BASE ? status + RETIRED_SHIFT : status)
  if (status >= 0) view.setInt32(16, (2 << 24) | (1 << 16) | (features & 0xffff))
  return pduBytes(view)
}

/** Decodes an ERROR. PM_ERR_IPC unless it has 16 or 20 bytes. */
export function decodeError(pdu: Uint8Array): ErrorPdu {
  const r = PduReader.open(pdu, PDU_ERROR)
  const status = r.i32()
  if (r.remaining === 0) return { status }
  const info = r.u32()
  r.end()
  return { status, info }
}

/** Decodes a challenge, translating its status from the retired numbering. One of 16 bytes offers no features. */
export function decodeChallenge(pdu: Uint8Array): Challenge {
  const { status, info = 0 } = decodeError(pdu)
  return {
    status: status <= RETIRED_BASE && status > PM_ERR_BASE ? status - RETIRED_SHIFT : status,
    version: (info >>> 24) & 0x7f,
    licensed: (info >>> 16) & 0xff,
    features: info & 0xffff,
  }
}
