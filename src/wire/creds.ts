/**
 * CREDS: protocol version and features. docs/formats/wire.md §3.2, §4.2
 *
 *     12  count     1 to 1024
 *     16  word [n]  type (bits 31-24), version (23-16), flags (15-0)
 */
import { PcpError } from '../model/errors.ts'
import { newPdu, PDU_CREDS, pduBytes } from './pdu.ts'
import { PduReader } from './reader.ts'

/** TLS. */
export const PDU_FLAG_SECURE = 0x0001
/** Compression: retired, never offered. */
export const PDU_FLAG_COMPRESS = 0x0002
/** Authentication; from an agent, a request for the credentials of clients. */
export const PDU_FLAG_AUTH = 0x0004
/** Authentication is required. */
export const PDU_FLAG_CREDS_REQD = 0x0008
/** An ERROR acknowledges the request for TLS. */
export const PDU_FLAG_SECURE_ACK = 0x0010
/** Retired, never offered. */
export const PDU_FLAG_NO_NSS_INIT = 0x0020
/** Containers; from an agent, a request for the containers of clients. */
export const PDU_FLAG_CONTAINER = 0x0040
/** A client certificate is required. */
export const PDU_FLAG_CERT_REQD = 0x0080
/** Never offered: an old release misused this bit. */
export const PDU_FLAG_BAD_LABEL = 0x0100
/** The collector answers LABEL_REQ. Announced only; clients do not request it. */
export const PDU_FLAG_LABELS = 0x0200
/** The collector answers HIGHRES_FETCH. Announced only. */
export const PDU_FLAG_HIGHRES = 0x0400
/** The collector answers DESC_IDS. Announced only. */
export const PDU_FLAG_DESCS = 0x0800

/** Protocol version of clients, collectors and agents. */
export const PDU_VERSION = 2
/** The only type of credential: version and flags. */
export const CVERSION = 1
/** Most credentials of a PDU. */
const MAX_CREDS = 1024

export interface Cred {
  readonly type: number
  readonly version: number
  readonly flags: number
}

/** Encodes CREDS with the usual single credential: protocol version and flags. `from` is the sender's process id. */
export function encodeCreds(flags: number, from = 0, version: number = PDU_VERSION): Uint8Array {
  return encodeCredList([{ type: CVERSION, version, flags }], from)
}

/** Encodes CREDS with any credentials. */
export function encodeCredList(creds: readonly Cred[], from = 0): Uint8Array {
  const view = newPdu(16 + 4 * creds.length, PDU_CREDS, from)
  view.setInt32(12, creds.length)
  creds.forEach((cred, i) => {
    view.setInt32(16 + 4 * i, (cred.type << 24) | ((cred.version & 0xff) << 16) | (cred.flags & 0xffff))
  })
  return pduBytes(view)
}

/** Decodes CREDS. */
export function decodeCreds(pdu: Uint8Array): readonly Cred[] {
  const r = PduReader.open(pdu, PDU_CREDS)
  const count = r.count(4)
  if (count < 1 || count > MAX_CREDS) r.fail(`${count} credentials, 1 to ${MAX_CREDS} are allowed`)
  const creds: Cred[] = []
  for (let i = 0; i < count; i++) {
    const word = r.u32()
    creds.push({ type: word >>> 24, version: (word >>> 16) & 0xff, flags: word & 0xffff })
  }
  r.end()
  return creds
}

/** Returns the credential that applies, the last version entry. PM_ERR_IPC if any entry has an unknown type. */
export function versionOf(creds: readonly Cred[]): Cred {
  let version: Cred | undefined
  for (const cred of creds) {
    if (cred.type !== CVERSION) throw new PcpError('PM_ERR_IPC', `Unknown credential type ${cred.type}`)
    version = cred
  }
  if (version === undefined) throw new PcpError('PM_ERR_IPC', 'No credential gives a version')
  return version
}
