/**
 * ATTR: an attribute of a connection, or a SASL payload. docs/formats/wire.md §3.3, §7.4
 *
 *     12  key
 *     16  value, up to the end of the PDU, unpadded
 */
import { decodeText, encodeText } from '../base/text.ts'
import { newPdu, PDU_ATTR, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** A SASL payload. */
export const PCP_ATTR_NONE = 0
/** Name of an authenticated user. */
export const PCP_ATTR_USERNAME = 5
/** Numeric user id, as text. */
export const PCP_ATTR_USERID = 11
/** Numeric group id, as text. */
export const PCP_ATTR_GROUPID = 12
/** An unidentified user of this machine; empty. */
export const PCP_ATTR_LOCAL = 13
/** Process id, as text. */
export const PCP_ATTR_PROCESSID = 14
/** Name of a container. */
export const PCP_ATTR_CONTAINER = 15

/** Values must be shorter than this. */
const MAX_VALUE = 4096

/** A decoded ATTR. */
export interface Attr {
  readonly key: number
  /** Borrows the PDU. Ends with a NUL in PDUs to agents. */
  readonly value: Uint8Array
}

/** Encodes an ATTR with an unmodified `value`; for agents use `encodeAgentAttr`. */
export function encodeAttr(key: number, value: string | Uint8Array, from = 0): Uint8Array {
  const data = typeof value === 'string' ? encodeText(value) : value
  const view = newPdu(16 + data.length, PDU_ATTR, from)
  view.setInt32(12, key)
  const bytes = pduBytes(view)
  bytes.set(data, 16)
  return bytes
}

/** Encodes an ATTR to an agent: text with a NUL. `from` is the client's slot. */
export function encodeAgentAttr(key: number, value: string, from: number): Uint8Array {
  return encodeAttr(key, `${value}\0`, from)
}

/** Decodes an ATTR. PM_ERR_IPC for a value of 4096 bytes or more. */
export function decodeAttr(pdu: Uint8Array): Attr {
  const r = PduReader.open(pdu, PDU_ATTR)
  const key = r.i32()
  if (r.remaining >= MAX_VALUE) r.fail(`a value of ${r.remaining} bytes, the limit is ${MAX_VALUE - 1}`)
  return { key, value: r.take(r.remaining) }
}

/** Returns the value as text, without a trailing NUL. */
export function attrText(attr: Attr): string {
  const { value } = attr
  return decodeText(value, 0, value.at(-1) === 0 ? value.length - 1 : value.length)
}
