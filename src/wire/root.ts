/** Protocol of the root agent's socket. docs/formats/root.md */
import { decodeText, encodeText } from '../base/text.ts'
import { PcpError } from '../model/errors.ts'

/** The greeting, and its feature bits. */
export const PDUROOT_INFO = 0x9000
export const PDUROOT_FEATURE_HOSTNAME = 1
export const PDUROOT_FEATURE_PROCESSID = 2
export const PDUROOT_FEATURE_CGROUP = 4
/** Requests; the type of a reply is one higher. */
export const PDUROOT_HOSTNAME_REQ = 0x9001
export const PDUROOT_PROCESSID_REQ = 0x9003
export const PDUROOT_CGROUPNAME_REQ = 0x9005

const VERSION = 2
const HEADER = 16
const BODY = HEADER + 8
const MAX_NAME = 4096

/** A request or reply about one container. */
export interface RootPdu {
  readonly type: number
  /** 0, or a negative error. */
  readonly status: number
  readonly pid: number
  readonly name: string
}

/** Encodes the greeting. */
export function encodeRootInfo(features: number): Uint8Array {
  return encode(PDUROOT_INFO, 0, features, new Uint8Array(0))
}

/** Encodes a request or reply. */
export function encodeRootPdu({ type, status, pid, name }: RootPdu): Uint8Array {
  return encode(type, status, pid, encodeText(name))
}

function encode(type: number, status: number, first: number, name: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(BODY + name.length)
  const view = new DataView(bytes.buffer)
  for (const [at, word] of [type, bytes.length, status, VERSION, first, name.length].entries())
    view.setInt32(at * 4, word, IS_LITTLE)
  bytes.set(name, BODY)
  return bytes
}

/** Returns the length of the PDU at the start of `bytes`; undefined until that is known. PM_ERR_IPC for anything else. */
export function rootPduLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < HEADER) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const length = view.getInt32(4, IS_LITTLE)
  const version = view.getInt32(12, IS_LITTLE)
  if (version !== VERSION) throw wrong(`version ${version} is not ${VERSION}`)
  if (length < BODY || length > BODY + MAX_NAME) throw wrong(`a length of ${length}`)
  return length
}

/** Decodes a whole PDU. PM_ERR_IPC if a name exceeds the PDU. */
export function decodeRootPdu(bytes: Uint8Array): RootPdu {
  const length = rootPduLength(bytes)
  if (length !== bytes.length) throw wrong(`${bytes.length} bytes for a length of ${length}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const size = view.getInt32(HEADER + 4, IS_LITTLE)
  if (size < 0 || size > length - BODY) throw wrong(`a name of ${size} bytes in ${length}`)
  return {
    type: view.getInt32(0, IS_LITTLE),
    status: view.getInt32(8, IS_LITTLE),
    pid: view.getInt32(HEADER, IS_LITTLE),
    name: decodeText(bytes, BODY, BODY + size),
  }
}

/** Host byte order: both ends are on one machine. */
const IS_LITTLE: boolean = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

function wrong(what: string): PcpError {
  return new PcpError('PM_ERR_IPC', `Malformed message on the socket of the root agent: ${what}`)
}
