/**
 * LOG_STATUS (control protocol 3) and LOG_STATUS_V2 (2): the state of a pmlogger. docs/formats/wire.md §3.13
 *
 *     LOG_STATUS     12 start   24 last   36 now   48 state   52 volume   56 size (64)   64 six lengths   88 six texts
 *                    a time is seconds low word, seconds high word, nanoseconds; texts end with a NUL, which is counted,
 *                    length 0 means absent; padded together
 *     LOG_STATUS_V2  12 ~~~~   16 start   24 last   32 now (sec, usec)   40 state   44 volume   48 size (64)
 *                    56 host [64]   120 fqdn [64]   184 collector zone [40]   224 logger zone [40], NUL filled
 */
import type { Timestamp } from '../base/timestamp.ts'
import {
  newPdu,
  PDU_LOG_STATUS,
  PDU_LOG_STATUS_V2,
  pduBytes,
  round4,
  textSize,
  writePadding,
  writeText,
} from './pdu.ts'
import { PduReader } from './reader.ts'

/** State of a pmlogger. */
export interface LogStatus {
  /** Start of the archive. */
  readonly start: Timestamp
  /** Last record. */
  readonly last: Timestamp
  readonly now: Timestamp
  readonly state: number
  readonly volume: number
  /** Bytes of the current volume. */
  readonly size: number
  /** Host name of the collector. */
  readonly pmcdHost?: string
  /** Address used to reach the collector. */
  readonly pmcdFqdn?: string
  readonly pmcdTimezone?: string
  /** Version 3 only. */
  readonly pmcdZoneinfo?: string
  readonly loggerTimezone?: string
  /** Version 3 only. */
  readonly loggerZoneinfo?: string
}

const TEXTS = [
  'pmcdHost',
  'pmcdFqdn',
  'pmcdTimezone',
  'pmcdZoneinfo',
  'loggerTimezone',
  'loggerZoneinfo',
] as const satisfies readonly (keyof LogStatus)[]

const V2_LENGTH = 264
const V2_FIELDS = [
  ['pmcdHost', 56, 64],
  ['pmcdFqdn', 120, 64],
  ['pmcdTimezone', 184, 40],
  ['loggerTimezone', 224, 40],
] as const satisfies readonly (readonly [keyof LogStatus, number, number])[]

const FIRST_TEXT = 88

/** Encodes LOG_STATUS. */
export function encodeLogStatus(status: LogStatus, from = 0): Uint8Array {
  const sizes = TEXTS.map((key) => (status[key] === undefined ? 0 : textSize(status[key]) + 1))
  const length = round4(sizes.reduce((sum, size) => sum + size, FIRST_TEXT))
  const view = newPdu(length, PDU_LOG_STATUS, from)
  const bytes = pduBytes(view)
  ;[status.start, status.last, status.now].forEach((time, i) => {
    const at = 12 + 12 * i
    view.setInt32(at, time.sec)
    view.setInt32(at + 4, Math.floor(time.sec / 2 ** 32))
    view.setInt32(at + 8, time.nsec)
  })
  view.setInt32(48, status.state)
  view.setInt32(52, status.volume)
  writeSize(view, 56, status.size)
  let at = FIRST_TEXT
  TEXTS.forEach((key, i) => {
    const size = sizes[i]!
    view.setInt32(64 + 4 * i, size)
    if (size > 0) writeText(bytes, at, status[key]!, size - 1)
    at += size
  })
  writePadding(bytes, at)
  return bytes
}

/** Decodes LOG_STATUS. */
export function decodeLogStatus(pdu: Uint8Array): LogStatus {
  const r = PduReader.open(pdu, PDU_LOG_STATUS)
  const start = readTime(r)
  const last = readTime(r)
  const now = readTime(r)
  const state = r.i32()
  const volume = r.i32()
  const size = r.i64()
  const sizes = TEXTS.map(() => r.count(1))
  const texts: { -readonly [Key in (typeof TEXTS)[number]]?: string } = {}
  TEXTS.forEach((key, i) => {
    const length = sizes[i]!
    if (length > 0) texts[key] = withoutNul(r, length)
  })
  r.offset = round4(r.offset)
  r.end()
  return { start, last, now, state, volume, size, ...texts }
}

/** Encodes LOG_STATUS_V2, truncating long texts. */
export function encodeLogStatusV2(status: LogStatus, from = 0): Uint8Array {
  const view = newPdu(V2_LENGTH, PDU_LOG_STATUS_V2, from)
  const bytes = pduBytes(view)
  bytes.fill(0x7e, 12, 16)
  ;[status.start, status.last, status.now].forEach((time, i) => {
    view.setInt32(16 + 8 * i, time.sec)
    view.setInt32(20 + 8 * i, Math.floor(time.nsec / 1000))
  })
  view.setInt32(40, status.state)
  view.setInt32(44, status.volume)
  writeSize(view, 48, status.size)
  for (const [key, at, width] of V2_FIELDS) {
    let text = status[key] ?? ''
    while (textSize(text) >= width) text = text.slice(0, -1)
    writeText(bytes, at, text, textSize(text))
  }
  return bytes
}

/** Decodes LOG_STATUS_V2. */
export function decodeLogStatusV2(pdu: Uint8Array): LogStatus {
  const r = PduReader.open(pdu, PDU_LOG_STATUS_V2)
  r.i32()
  const [start, last, now] = [0, 1, 2].map(() => {
    const sec = r.i32()
    return { sec, nsec: r.i32() * 1000 }
  }) as [Timestamp, Timestamp, Timestamp]
  const state = r.i32()
  const volume = r.i32()
  const size = r.i64()
  const texts: { -readonly [Key in (typeof V2_FIELDS)[number][0]]?: string } = {}
  for (const [key, , width] of V2_FIELDS) texts[key] = withoutNul(r, width)
  r.end()
  return { start, last, now, state, volume, size, ...texts }
}

function writeSize(view: DataView, at: number, size: number): void {
  view.setInt32(at, Math.floor(size / 2 ** 32))
  view.setInt32(at + 4, size)
}

function readTime(r: PduReader): Timestamp {
  const low = r.u32()
  const high = r.i32()
  return { sec: high * 2 ** 32 + low, nsec: r.i32() }
}

/** Reads text from a field of `width` bytes, up to its NUL. */
function withoutNul(r: PduReader, width: number): string {
  const text = r.text(width)
  const nul = text.indexOf('\0')
  return nul < 0 ? text : text.slice(0, nul)
}
