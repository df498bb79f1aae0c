/** PDU types, header and text. docs/formats/wire.md §1, §2 */
import { encodeText } from '../base/text.ts'

/** Status, error, handshake challenge, state change or end of context. */
export const PDU_ERROR = 0x7000
/** Values; to a collector or an agent, a store. */
export const PDU_RESULT = 0x7001
/** Instance profile of a client. */
export const PDU_PROFILE = 0x7002
/** Request for values. */
export const PDU_FETCH = 0x7003
/** Request for one descriptor. */
export const PDU_DESC_REQ = 0x7004
/** One descriptor. */
export const PDU_DESC = 0x7005
/** Query of an instance domain. */
export const PDU_INSTANCE_REQ = 0x7006
/** Instances of a domain. */
export const PDU_INSTANCE = 0x7007
/** Request for help text. */
export const PDU_TEXT_REQ = 0x7008
/** Help text. */
export const PDU_TEXT = 0x7009
/** Retired; collectors answer PM_ERR_IPC. */
export const PDU_CONTROL_REQ = 0x700a
/** Version and feature selection. */
export const PDU_CREDS = 0x700c
/** List of PMIDs: request for names, or reply to names. */
export const PDU_PMNS_IDS = 0x700d
/** List of names: request for PMIDs, or reply. */
export const PDU_PMNS_NAMES = 0x700e
/** Request for the children of a name. */
export const PDU_PMNS_CHILD = 0x700f
/** Request for all leaves below a name. */
export const PDU_PMNS_TRAVERSE = 0x7010
/** Attribute of a connection, or a SASL payload. */
export const PDU_ATTR = 0x7011
/** Request for labels. */
export const PDU_LABEL_REQ = 0x7012
/** Label sets. */
export const PDU_LABEL = 0x7013
/** Request for values with a nanosecond timestamp. */
export const PDU_HIGHRES_FETCH = 0x7014
/** Values with a nanosecond timestamp. */
export const PDU_HIGHRES_RESULT = 0x7015
/** Request for many descriptors. */
export const PDU_DESC_IDS = 0x7016
/** Many descriptors. */
export const PDU_DESCS = 0x7017
/** Logging control, to pmlogger. */
export const PDU_LOG_CONTROL = 0x8000
/** Status of a pmlogger, control protocol 2. */
export const PDU_LOG_STATUS_V2 = 0x8001
/** Request to pmlogger: new volume, status, sync. */
export const PDU_LOG_REQUEST = 0x8002
/** Status of a pmlogger, control protocol 3. */
export const PDU_LOG_STATUS = 0x8003

/** Bytes of the header: length, type, from. */
export const PDU_HEADER = 12
/** Default limit of a collector for PDUs from clients. */
export const MAX_CLIENT_PDU = 65536

const NAMES: Readonly<Record<number, string>> = {
  [PDU_ERROR]: 'ERROR',
  [PDU_RESULT]: 'RESULT',
  [PDU_PROFILE]: 'PROFILE',
  [PDU_FETCH]: 'FETCH',
  [PDU_DESC_REQ]: 'DESC_REQ',
  [PDU_DESC]: 'DESC',
  [PDU_INSTANCE_REQ]: 'INSTANCE_REQ',
  [PDU_INSTANCE]: 'INSTANCE',
  [PDU_TEXT_REQ]: 'TEXT_REQ',
  [PDU_TEXT]: 'TEXT',
  [PDU_CONTROL_REQ]: 'CONTROL_REQ',
  [PDU_CREDS]: 'CREDS',
  [PDU_PMNS_IDS]: 'PMNS_IDS',
  [PDU_PMNS_NAMES]: 'PMNS_NAMES',
  [PDU_PMNS_CHILD]: 'PMNS_CHILD',
  [PDU_PMNS_TRAVERSE]: 'PMNS_TRAVERSE',
  [PDU_ATTR]: 'ATTR',
  [PDU_LABEL_REQ]: 'LABEL_REQ',
  [PDU_LABEL]: 'LABEL',
  [PDU_HIGHRES_FETCH]: 'HIGHRES_FETCH',
  [PDU_HIGHRES_RESULT]: 'HIGHRES_RESULT',
  [PDU_DESC_IDS]: 'DESC_IDS',
  [PDU_DESCS]: 'DESCS',
  [PDU_LOG_CONTROL]: 'LOG_CONTROL',
  [PDU_LOG_STATUS_V2]: 'LOG_STATUS_V2',
  [PDU_LOG_REQUEST]: 'LOG_REQUEST',
  [PDU_LOG_STATUS]: 'LOG_STATUS',
}

/** Returns the name of a PDU type without its prefix; unknown types in hexadecimal. @see __pmPDUTypeStr(3) */
export function pduName(type: number): string {
  return NAMES[type] ?? `0x${(type >>> 0).toString(16)}`
}

/** Reads a signed 32-bit big-endian word. The caller checks bounds. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Returns the length in a PDU's header. */
export function pduLength(pdu: Uint8Array): number {
  return wordAt(pdu, 0)
}

/** Returns the type of a whole PDU: PDU_*. */
export function pduType(pdu: Uint8Array): number {
  return wordAt(pdu, 4)
}

/** Returns the sender field of a whole PDU: to agents the client's slot, in CREDS the process id, otherwise unused. */
export function pduFrom(pdu: Uint8Array): number {
  return wordAt(pdu, 8)
}

/** Small PDUs share larger buffers, which are never reused: a separate buffer costs five times as much as a view. */
const SHARED_BYTES = 16384
const MAX_SHARED = 1024
let shared = new ArrayBuffer(0)
let sharedUsed = 0

/** Makes a PDU of `length` bytes, zero except for its header. Returns a view to write the rest; it may share its buffer. */
export function newPdu(length: number, type: number, from: number): DataView<ArrayBuffer> {
  const view = length > MAX_SHARED ? new DataView(new ArrayBuffer(length)) : shareBuffer(length)
  view.setInt32(0, length)
  view.setInt32(4, type)
  view.setInt32(8, from)
  return view
}

function shareBuffer(length: number): DataView<ArrayBuffer> {
  if (sharedUsed + length > shared.byteLength) {
    shared = new ArrayBuffer(SHARED_BYTES)
    sharedUsed = 0
  }
  const view = new DataView(shared, sharedUsed, length)
  sharedUsed += length
  return view
}

/** Returns the bytes of a PDU from `newPdu`. */
export function pduBytes(view: DataView<ArrayBuffer>): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

/** Rounds up to a multiple of 4. */
export function round4(length: number): number {
  return (length + 3) & ~3
}

/** Returns the bytes of `text` on the wire, without padding. */
export function textSize(text: string): number {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return encodeText(text).length
  return text.length
}

/** Writes `text` of `size` bytes (`textSize`); returns the offset after it. */
export function writeText(bytes: Uint8Array, at: number, text: string, size: number): number {
  if (size === text.length) for (let i = 0; i < size; i++) bytes[at + i] = text.charCodeAt(i)
  else bytes.set(encodeText(text), at)
  return at + size
}

const PAD = 0x7e

/** Pads with '~' to the next word boundary, as PCP does; returns the offset after it. */
export function writePadding(bytes: Uint8Array, at: number): number {
  while ((at & 3) !== 0) bytes[at++] = PAD
  return at
}
