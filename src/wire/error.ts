/**
 * ERROR: status, handshake challenge, state change, end of context. docs/formats/wire.md §3.1, §4.2
 *
 *     12  status   0 fine, negative an error, positive state bits or a count
 *     16  info     only in the challenge: version (bits 30-24), licensed (23-16), features (15-0)
 */
import { newPdu, PDU_ERROR, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** A decoded ERROR. */
export interface ErrorPdu {
  readonly status: number
  /** Second word of the 20-byte form. */
  readonly info?: number
}

/** What a collector says first. */
export interface Challenge {
  /** 0, or why the connection is refused: PM_ERR_PERMISSION, PM_ERR_CONNLIMIT. */
  readonly status: number
  readonly version: number
  readonly licensed: number
  /** PDU_FLAG_* that the collector offers. */
  readonly features: number
}

/** Challenges carry errors in a numbering retired everywhere else, whose base was 1000 instead of 12345. */
const RETIRED_SHIFT = 11345
const PM_ERR_BASE = -12345
const RETIRED_BASE = -1000

/** An ERROR of 16 bytes. */
export function encodeError(status: number, from = 0): Uint8Array {
  const view = newPdu(16, PDU_ERROR, from)
  view.setInt32(12, status)
  return pduBytes(view)
}

/** The 20-byte challenge; a negative status refuses the connection and offers nothing. */
export function encodeChallenge(features: number, status = 0, from = 0): Uint8Array {
  const view = newPdu(20, PDU_ERROR, from)
  view.setInt32(12, status <= PM_ERR_BASE ? status + RETIRED_SHIFT : status)
  if (status >= 0) view.setInt32(16, (2 << 24) | (1 << 16) | (features & 0xffff))
  return pduBytes(view)
}

/** PM_ERR_IPC unless it has 16 or 20 bytes. */
export function decodeError(pdu: Uint8Array): ErrorPdu {
  const r = PduReader.open(pdu, PDU_ERROR)
  const status = r.i32()
  if (r.remaining === 0) return { status }
  const info = r.u32()
  r.end()
  return { status, info }
}

/** A challenge; its status is translated from the retired numbering. A 16-byte one offers no features. */
export function decodeChallenge(pdu: Uint8Array): Challenge {
  const { status, info = 0 } = decodeError(pdu)
  return {
    status: status <= RETIRED_BASE && status > PM_ERR_BASE ? status - RETIRED_SHIFT : status,
    version: (info >>> 24) & 0x7f,
    licensed: (info >>> 16) & 0xff,
    features: info & 0xffff,
  }
}
