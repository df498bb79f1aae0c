/**
 * LOG_REQUEST to pmlogger. docs/formats/wire.md §3.13
 *
 *     12  request
 */
import { newPdu, PDU_LOG_REQUEST, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** Starts a new volume; answered by an ERROR with its number. */
export const LOG_REQUEST_NEWVOLUME = 1
/** Answered by LOG_STATUS or LOG_STATUS_V2. */
export const LOG_REQUEST_STATUS = 2
/** Flushes the archive; answered by an ERROR 0. */
export const LOG_REQUEST_SYNC = 3

/** Encodes a request. */
export function encodeLogRequest(request: number, from = 0): Uint8Array {
  const view = newPdu(16, PDU_LOG_REQUEST, from)
  view.setInt32(12, request)
  return pduBytes(view)
}

/** Decodes a request: LOG_REQUEST_* or an unknown number. */
export function decodeLogRequest(pdu: Uint8Array): number {
  const r = PduReader.open(pdu, PDU_LOG_REQUEST)
  const request = r.i32()
  r.end()
  return request
}
