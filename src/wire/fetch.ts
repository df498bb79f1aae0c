/**
 * FETCH and HIGHRES_FETCH: request for values. docs/formats/wire.md §3.5
 *
 *     12  context
 *     16  8 bytes of 0 (formerly a timestamp)
 *     24  metrics, at least 1
 *     28  pmid [metrics]
 */
import type { Pmid } from '../model/ids.ts'
import { newPdu, PDU_FETCH, PDU_HIGHRES_FETCH, pduBytes, pduType } from './pdu.ts'
import { PduReader } from './reader.ts'

/** A decoded FETCH or HIGHRES_FETCH. */
export interface FetchPdu {
  readonly context: number
  readonly ids: readonly Pmid[]
}

/** Encodes a FETCH, answered by RESULT. */
export function encodeFetch(context: number, ids: readonly Pmid[], from = 0): Uint8Array {
  return encode(PDU_FETCH, context, ids, from)
}

/** Encodes a HIGHRES_FETCH, answered by HIGHRES_RESULT. Only for collectors with PDU_FLAG_HIGHRES, never for agents. */
export function encodeHighResFetch(context: number, ids: readonly Pmid[], from = 0): Uint8Array {
  return encode(PDU_HIGHRES_FETCH, context, ids, from)
}

function encode(type: number, context: number, ids: readonly Pmid[], from: number): Uint8Array {
  const view = newPdu(28 + 4 * ids.length, type, from)
  view.setInt32(12, context)
  view.setInt32(24, ids.length)
  for (let i = 0; i < ids.length; i++) view.setInt32(28 + 4 * i, ids[i]!)
  return pduBytes(view)
}

/** Decodes either of the two. */
export function decodeFetch(pdu: Uint8Array): FetchPdu {
  const isHighRes = pdu.length >= 12 && pduType(pdu) === PDU_HIGHRES_FETCH
  const r = PduReader.open(pdu, isHighRes ? PDU_HIGHRES_FETCH : PDU_FETCH)
  const context = r.i32()
  r.need(8)
  r.offset += 8
  const count = r.count(4)
  if (count === 0) r.fail('no metrics')
  const ids = new Array<Pmid>(count)
  for (let i = 0; i < count; i++) ids[i] = r.u32()
  r.end()
  return { context, ids }
}
