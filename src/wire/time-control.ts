/** Messages of PCP's time control, in the byte order of this machine. docs/formats/time-control.md */
import { decodeText, encodeText } from '../base/text.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'

/** First port on which a time control listens. */
export const TIME_CONTROL_PORT = 43_334

/** Commands. */
export const TIME_SET = 0x001
export const TIME_STEP = 0x002
export const TIME_TZ = 0x004
export const TIME_VCRMODE = 0x008
export const TIME_VCRMODE_DRAG = 0x010
export const TIME_GUISHOW = 0x020
export const TIME_GUIHIDE = 0x040
export const TIME_BOUNDS = 0x080
export const TIME_ACK = 0x100

/** Sources of time. */
export const TIME_HOST = 0
export const TIME_ARCHIVE = 1

/** Directions of time. */
export const TIME_STOP = 0
export const TIME_FORWARD = 1
export const TIME_BACKWARD = 2

export interface TimeMessage {
  readonly command: number
  readonly source: number
  readonly state: number
  /** 0 step, 1 normal, 2 fast. */
  readonly mode: number
  /** Time between steps; never negative. */
  readonly delta: Timestamp
  readonly position: Timestamp
  /** Bounds of an archive. */
  readonly start: Timestamp
  readonly end: Timestamp
  /** Only with SET, TZ and BOUNDS. */
  readonly zone?: { readonly name: string; readonly label: string }
}

const MAGIC = 0x54494d45
const HEADER = 88
const MOST_DATA = 4096
const TIMES = { delta: 24, position: 40, start: 56, end: 72 } as const
const IS_LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

/** Encodes a message. Times are truncated to microseconds. */
export function encodeTimeMessage(message: TimeMessage): Uint8Array {
  const { zone } = message
  const data = zone === undefined ? new Uint8Array(0) : encodeText(`${zone.name}\0${zone.label}\0`)
  const bytes = new Uint8Array(HEADER + data.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, IS_LITTLE)
  view.setUint32(4, bytes.length, IS_LITTLE)
  view.setUint32(8, message.command, IS_LITTLE)
  view.setInt32(12, message.source, IS_LITTLE)
  view.setInt32(16, message.state, IS_LITTLE)
  view.setInt32(20, message.mode, IS_LITTLE)
  for (const [name, at] of Object.entries(TIMES)) {
    const { sec, nsec } = message[name as keyof typeof TIMES]
    view.setBigInt64(at, BigInt(Number.isFinite(sec) ? sec : 0), IS_LITTLE)
    view.setBigInt64(at + 8, BigInt(Math.floor(nsec / 1000)), IS_LITTLE)
  }
  bytes.set(data, HEADER)
  return bytes
}

function decode(bytes: Uint8Array): TimeMessage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const time = (at: number): Timestamp => ({
    sec: Number(view.getBigInt64(at, IS_LITTLE)),
    nsec: Number(view.getBigInt64(at + 8, IS_LITTLE)) * 1000,
  })
  const [name, label] = decodeText(bytes.subarray(HEADER)).split('\0')
  return {
    command: view.getUint32(8, IS_LITTLE),
    source: view.getInt32(12, IS_LITTLE),
    state: view.getInt32(16, IS_LITTLE),
    mode: view.getInt32(20, IS_LITTLE),
    delta: time(TIMES.delta),
    position: time(TIMES.position),
    start: time(TIMES.start),
    end: time(TIMES.end),
    ...(label === undefined ? {} : { zone: { name: name!, label } }),
  }
}

/** Reassembles messages from chunks of any size. */
export class TimeMessages {
  #rest: Uint8Array = new Uint8Array(0)

  /** Returns the messages that are complete now. PM_ERR_IPC for anything else, after which the stream is unusable. */
  add(chunk: Uint8Array): TimeMessage[] {
    const bytes = new Uint8Array(this.#rest.length + chunk.length)
    bytes.set(this.#rest)
    bytes.set(chunk, this.#rest.length)
    const view = new DataView(bytes.buffer)
    const messages: TimeMessage[] = []
    let at = 0
    while (bytes.length - at >= 8) {
      const magic = view.getUint32(at, IS_LITTLE)
      const length = view.getUint32(at + 4, IS_LITTLE)
      if (magic !== MAGIC || length < HEADER || length > HEADER + MOST_DATA)
        throw new PcpError(
          'PM_ERR_IPC',
          `Malformed time control message: magic 0x${magic.toString(16)}, length ${length}`,
        )
      if (bytes.length - at < length) break
      messages.push(decode(bytes.subarray(at, at + length)))
      at += length
    }
    this.#rest = bytes.subarray(at)
    return messages
  }
}
