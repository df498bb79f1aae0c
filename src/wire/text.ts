/**
 * Help text. docs/formats/wire.md §3.10
 *
 *     TEXT_REQ  12 ident (PMID or indom)   16 type bits
 *     TEXT      12 ident (unreliable)   16 length   20 text, padded
 */
import { newPdu, PDU_TEXT, PDU_TEXT_REQ, pduBytes, round4, textSize, writePadding, writeText } from './pdu.ts'
import { PduReader } from './reader.ts'

/** Requests the one-line text. */
export const PM_TEXT_ONELINE = 1
/** Requests the full help. */
export const PM_TEXT_HELP = 2
/** The ident is a PMID; takes precedence over PM_TEXT_INDOM. */
export const PM_TEXT_PMID = 4
/** The ident is an indom. */
export const PM_TEXT_INDOM = 8

/** A decoded TEXT_REQ. */
export interface TextReq {
  /** PMID or indom, unsigned. */
  readonly ident: number
  /** PM_TEXT_* bits. */
  readonly type: number
}

/** A decoded TEXT. */
export interface TextPdu {
  /** Must not be checked: PCP on little-endian machines sends it byte-swapped. */
  readonly ident: number
  /** May be empty. */
  readonly text: string
}

/** Encodes a request for a text. */
export function encodeTextReq(ident: number, type: number, from = 0): Uint8Array {
  const view = newPdu(20, PDU_TEXT_REQ, from)
  view.setInt32(12, ident)
  view.setInt32(16, type)
  return pduBytes(view)
}

/** Decodes a request for a text. */
export function decodeTextReq(pdu: Uint8Array): TextReq {
  const r = PduReader.open(pdu, PDU_TEXT_REQ)
  const ident = r.u32()
  const type = r.i32()
  r.end()
  return { ident, type }
}

/** Encodes a text. */
export function encodeTextReply(ident: number, text: string, from = 0): Uint8Array {
  const size = textSize(text)
  const view = newPdu(20 + round4(size), PDU_TEXT, from)
  view.setInt32(12, ident)
  view.setInt32(16, size)
  const bytes = pduBytes(view)
  writePadding(bytes, writeText(bytes, 20, text, size))
  return bytes
}

/** Decodes a text. */
export function decodeTextReply(pdu: Uint8Array): TextPdu {
  const r = PduReader.open(pdu, PDU_TEXT)
  const ident = r.u32()
  const text = r.paddedText(r.count(1))
  r.end()
  return { ident, text }
}
