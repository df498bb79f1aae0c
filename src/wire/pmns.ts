/**
 * Name space. docs/formats/wire.md §3.11, §10.3
 *
 *     PMNS_IDS       12 status   16 count (at least 1)   20 pmid [count]
 *     PMNS_NAMES     12 bytes of all names plus one for each   16 statuses (0 or count)   20 count, or an error
 *                    24 [count]: status (only with statuses), name length, name (padded)
 *     PMNS_CHILD     12 1: with statuses, 0: without   16 name length   20 name, padded
 *     PMNS_TRAVERSE  12 0   16 name length   20 name, padded
 */
import type { Pmid } from '../model/ids.ts'
import {
  newPdu,
  PDU_PMNS_CHILD,
  PDU_PMNS_IDS,
  PDU_PMNS_NAMES,
  PDU_PMNS_TRAVERSE,
  pduBytes,
  round4,
  textSize,
  writePadding,
  writeText,
} from './pdu.ts'
import { PduReader } from './reader.ts'

/** Status of a leaf. */
export const PMNS_LEAF_STATUS = 0
/** Status of a non-leaf. */
export const PMNS_NONLEAF_STATUS = 1

/** A decoded PMNS_IDS. */
export interface PmnsIds {
  /** 0 in a request; in a reply the number of names found. */
  readonly status: number
  /** PM_ID_NULL for unknown names. */
  readonly ids: readonly Pmid[]
}

/** A decoded PMNS_NAMES. */
export interface PmnsNames {
  /** A negative error instead of the list, otherwise 0. */
  readonly status: number
  readonly names: readonly string[]
  /** One per name, or missing. */
  readonly statuses?: readonly number[]
}

/** A decoded PMNS_CHILD or PMNS_TRAVERSE. */
export interface PmnsReq {
  /** '' for the root. */
  readonly name: string
  /** PMNS_CHILD: whether the sender requests statuses. */
  readonly wantsStatus: boolean
}

/** Encodes PMIDs: a request for names (status 0), or the reply to names. */
export function encodePmnsIds(ids: readonly Pmid[], status = 0, from = 0): Uint8Array {
  const view = newPdu(20 + 4 * ids.length, PDU_PMNS_IDS, from)
  view.setInt32(12, status)
  view.setInt32(16, ids.length)
  for (let i = 0; i < ids.length; i++) view.setInt32(20 + 4 * i, ids[i]!)
  return pduBytes(view)
}

/** Decodes PMIDs. PM_ERR_IPC for an empty list. */
export function decodePmnsIds(pdu: Uint8Array): PmnsIds {
  const r = PduReader.open(pdu, PDU_PMNS_IDS)
  const status = r.i32()
  const count = r.count(4)
  if (count === 0) r.fail('no metrics')
  const ids = new Array<Pmid>(count)
  for (let i = 0; i < count; i++) ids[i] = r.u32()
  r.end()
  return { status, ids }
}

/** Encodes names: a request for PMIDs, or a reply. Lists must not contain empty names, which 6.0.3 cannot read. */
export function encodePmnsNames(
  names: readonly string[],
  statuses?: readonly number[],
  from = 0,
): Uint8Array {
  const sizes = names.map(textSize)
  const fixed = statuses === undefined ? 4 : 8
  let length = 24
  let textBytes = 0
  for (const size of sizes) {
    length += fixed + round4(size)
    textBytes += size + 1
  }
  const view = newPdu(length, PDU_PMNS_NAMES, from)
  const bytes = pduBytes(view)
  view.setInt32(12, textBytes)
  view.setInt32(16, statuses === undefined ? 0 : names.length)
  view.setInt32(20, names.length)
  let at = 24
  for (let i = 0; i < names.length; i++) {
    if (statuses !== undefined) {
      view.setInt32(at, statuses[i]!)
      at += 4
    }
    const size = sizes[i]!
    view.setInt32(at, size)
    at = writePadding(bytes, writeText(bytes, at + 4, names[i]!, size))
  }
  return bytes
}

/** Encodes an error instead of a list of names: PCP's answer to PMNS_CHILD below an agent that is not ready. */
export function encodePmnsNamesError(status: number, from = 0): Uint8Array {
  const view = newPdu(24, PDU_PMNS_NAMES, from)
  view.setInt32(20, status)
  return pduBytes(view)
}

/** Decodes names or an error. */
export function decodePmnsNames(pdu: Uint8Array): PmnsNames {
  const r = PduReader.open(pdu, PDU_PMNS_NAMES)
  const textBytes = r.i32()
  const statusCount = r.i32()
  const count = r.i32()
  if (count < 0) {
    r.end()
    return { status: count, names: [] }
  }
  const hasStatus = statusCount !== 0
  if (hasStatus && statusCount !== count) r.fail(`${statusCount} statuses for ${count} names`)
  if (count * (hasStatus ? 8 : 4) > r.remaining) r.fail(`${count} names do not fit into ${r.remaining} bytes`)
  const names = new Array<string>(count)
  const statuses: number[] = []
  let found = 0
  for (let i = 0; i < count; i++) {
    if (hasStatus) statuses.push(r.i32())
    const length = r.count(1)
    found += length + 1
    names[i] = r.paddedText(length)
  }
  if (found !== textBytes) r.fail(`names of ${found} bytes instead of ${textBytes}`)
  r.end()
  return hasStatus ? { status: 0, names, statuses } : { status: 0, names }
}

/** Encodes a request for the children of a name, '' for the root. */
export function encodePmnsChild(name: string, wantsStatus: boolean, from = 0): Uint8Array {
  return encodeReq(PDU_PMNS_CHILD, name, wantsStatus ? 1 : 0, from)
}

/** Decodes a request for the children of a name. */
export function decodePmnsChild(pdu: Uint8Array): PmnsReq {
  return decodeReq(PDU_PMNS_CHILD, pdu)
}

/** Encodes a request for all leaves below a name, '' for the root. */
export function encodePmnsTraverse(name: string, from = 0): Uint8Array {
  return encodeReq(PDU_PMNS_TRAVERSE, name, 0, from)
}

/** Decodes a request for all leaves below a name. */
export function decodePmnsTraverse(pdu: Uint8Array): PmnsReq {
  return decodeReq(PDU_PMNS_TRAVERSE, pdu)
}

function encodeReq(type: number, name: string, subtype: number, from: number): Uint8Array {
  const size = textSize(name)
  const view = newPdu(20 + round4(size), type, from)
  view.setInt32(12, subtype)
  view.setInt32(16, size)
  const bytes = pduBytes(view)
  writePadding(bytes, writeText(bytes, 20, name, size))
  return bytes
}

function decodeReq(type: number, pdu: Uint8Array): PmnsReq {
  const r = PduReader.open(pdu, type)
  const subtype = r.i32()
  const name = r.paddedText(r.count(1))
  r.end()
  return { name, wantsStatus: subtype !== 0 }
}
