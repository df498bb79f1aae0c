/**
 * Descriptors. docs/formats/wire.md §3.8
 *
 *     DESC_REQ  12 pmid
 *     DESC      12 descriptor
 *     DESC_IDS  12 -1   16 count (at least 1)   20 pmid [count]
 *     DESCS     12 count   16 descriptor [count]
 *     descriptor: pmid, type, indom, semantics, units
 */
import type { MetricDesc } from '../model/desc.ts'
import { PM_ID_NULL, type Pmid } from '../model/ids.ts'
import { newPdu, PDU_DESC, PDU_DESC_IDS, PDU_DESC_REQ, PDU_DESCS, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

const DESC_BYTES = 20

/** Placeholder in DESCS for an unavailable descriptor. */
export const UNAVAILABLE_DESC: MetricDesc = { pmid: PM_ID_NULL, type: 0, indom: 0, sem: 0, units: 0 }

/** Encodes a request for one descriptor. */
export function encodeDescReq(pmid: Pmid, from = 0): Uint8Array {
  const view = newPdu(16, PDU_DESC_REQ, from)
  view.setInt32(12, pmid)
  return pduBytes(view)
}

/** Decodes a request for one descriptor. */
export function decodeDescReq(pdu: Uint8Array): Pmid {
  const r = PduReader.open(pdu, PDU_DESC_REQ)
  const pmid = r.u32()
  r.end()
  return pmid
}

/** Encodes one descriptor. */
export function encodeDesc(desc: MetricDesc, from = 0): Uint8Array {
  const view = newPdu(12 + DESC_BYTES, PDU_DESC, from)
  writeDesc(view, 12, desc)
  return pduBytes(view)
}

/** Decodes one descriptor. */
export function decodeDesc(pdu: Uint8Array): MetricDesc {
  const r = PduReader.open(pdu, PDU_DESC)
  const desc = readDesc(r)
  r.end()
  return desc
}

/** Encodes a request for many descriptors. Only for collectors with PDU_FLAG_DESCS, never for agents. */
export function encodeDescIds(ids: readonly Pmid[], from = 0): Uint8Array {
  const view = newPdu(20 + 4 * ids.length, PDU_DESC_IDS, from)
  view.setInt32(12, -1)
  view.setInt32(16, ids.length)
  for (let i = 0; i < ids.length; i++) view.setInt32(20 + 4 * i, ids[i]!)
  return pduBytes(view)
}

/** Decodes a request for many descriptors, at least one. */
export function decodeDescIds(pdu: Uint8Array): readonly Pmid[] {
  const r = PduReader.open(pdu, PDU_DESC_IDS)
  const status = r.i32()
  if (status !== -1) r.fail(`status ${status} instead of -1`)
  const count = r.count(4)
  if (count === 0) r.fail('no metrics')
  const ids = new Array<Pmid>(count)
  for (let i = 0; i < count; i++) ids[i] = r.u32()
  r.end()
  return ids
}

/** Encodes many descriptors; UNAVAILABLE_DESC for unavailable ones. */
export function encodeDescs(descs: readonly MetricDesc[], from = 0): Uint8Array {
  const view = newPdu(16 + DESC_BYTES * descs.length, PDU_DESCS, from)
  view.setInt32(12, descs.length)
  descs.forEach((desc, i) => {
    writeDesc(view, 16 + DESC_BYTES * i, desc)
  })
  return pduBytes(view)
}

/** Decodes many descriptors; unavailable ones have PM_ID_NULL. */
export function decodeDescs(pdu: Uint8Array): readonly MetricDesc[] {
  const r = PduReader.open(pdu, PDU_DESCS)
  const count = r.count(DESC_BYTES)
  const descs = new Array<MetricDesc>(count)
  for (let i = 0; i < count; i++) descs[i] = readDesc(r)
  r.end()
  return descs
}

function writeDesc(view: DataView, at: number, desc: MetricDesc): void {
  view.setInt32(at, desc.pmid)
  view.setInt32(at + 4, desc.type)
  view.setInt32(at + 8, desc.indom)
  view.setInt32(at + 12, desc.sem)
  view.setInt32(at + 16, desc.units)
}

function readDesc(r: PduReader): MetricDesc {
  return { pmid: r.u32(), type: r.i32(), indom: r.u32(), sem: r.i32(), units: r.u32() }
}
