/**
 * Binary encoding of a fleet's values. docs/reference/pmproxy.md
 *
 *     0  length of the head   4  head: JSON   then three planes, each with one byte of every cell
 *
 * A cell is a 32-bit float without its lowest byte, rounded to 12 bits of mantissa (0.01 %): planes of equal significance compress to a
 * fraction. Numbers are little endian, planes start with the highest byte.
 */
import { ChartBytesError } from '../chart-bytes.ts'
import type { FleetRange, FleetRangeHead } from './answer.ts'

const PLANES = 3
/** Half of the lowest mantissa bit that is kept, and the kept bits. */
const HALF = 1 << 10
const KEPT = 0xfffff800
const NO_VALUE = 0x7fc00000

/** Encodes an answer. */
export function encodeFleetRange({ cells, ...head }: FleetRange): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(head))
  const { length } = cells
  const bytes = new Uint8Array(4 + text.length + PLANES * length)
  new DataView(bytes.buffer).setUint32(0, text.length, true)
  bytes.set(text, 4)
  const start = 4 + text.length
  const word = new Uint32Array(1)
  const number = new Float32Array(word.buffer)
  for (let i = 0; i < length; i++) {
    number[0] = cells[i]!
    const bits = Number.isNaN(cells[i]!) ? NO_VALUE : ((word[0]! + HALF) & KEPT) >>> 0
    bytes[start + i] = bits >>> 24
    bytes[start + length + i] = (bits >>> 16) & 0xff
    bytes[start + 2 * length + i] = (bits >>> 8) & 0xff
  }
  return bytes
}

/** Decodes an answer. Throws ChartBytesError for anything else. */
export function decodeFleetRange(bytes: Uint8Array<ArrayBuffer>): FleetRange {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = bytes.length < 4 ? 0 : 4 + view.getUint32(0, true)
  if (start < 4 || start > bytes.length) throw new ChartBytesError('A fleet without a head', 0)
  const head = headOf(new TextDecoder().decode(bytes.subarray(4, start)))
  const length = head.hosts.length * head.buckets
  if (bytes.length !== start + PLANES * length)
    throw new ChartBytesError('Values of a fleet are truncated', bytes.length)
  const words = new Uint32Array(length)
  for (let i = 0; i < length; i++)
    words[i] =
      ((bytes[start + i]! << 24) |
        (bytes[start + length + i]! << 16) |
        (bytes[start + 2 * length + i]! << 8)) >>>
      0
  return { ...head, cells: new Float32Array(words.buffer) }
}

function headOf(text: string): FleetRangeHead {
  try {
    const head = JSON.parse(text) as FleetRangeHead
    if (Array.isArray(head.hosts) && Number.isInteger(head.buckets) && head.buckets >= 0) return head
  } catch {} // reported below
  throw new ChartBytesError('A fleet without a head', 4)
}
