/**
 * Binary encoding of columns for charts. docs/reference/pmproxy.md
 *
 *     0  length of the head   4  head: JSON, padded with blanks   8n  lists of numbers
 *
 * Integers and numbers (64 bits) are little endian, so that browsers use them without copying. The head is a `ChartRange` with the
 * lengths of its lists instead of the lists; NaN means no value.
 */
import type { ErrorCode } from '../model/errors.ts'
import type { ChartRange } from './chart-answer.ts'

const SIZE = 8

/** Encodes an answer. */
export function encodeChartRange({ lists, ...rest }: ChartRange): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(JSON.stringify({ ...rest, lists: lists.map(({ length }) => length) }))
  const start = Math.ceil((4 + head.length) / SIZE) * SIZE
  const bytes = new Uint8Array(lists.reduce((sum, { length }) => sum + SIZE * length, start))
  const view = new DataView(bytes.buffer)
  view.setUint32(0, start - 4, true)
  bytes.set(head, 4)
  bytes.fill(0x20, 4 + head.length, start)
  let at = start
  for (const list of lists)
    for (let i = 0; i < list.length; i++, at += SIZE) view.setFloat64(at, list[i]!, true)
  return bytes
}

/**
 * Thrown for bytes that cannot be decoded. It has a code like a PcpError but is a separate class: the page decodes columns before it draws
 * anything, and the table of all codes is 5 KB.
 */
export class ChartBytesError extends Error {
  readonly code: ErrorCode = 'PM_ERR_IPC'
  /** Offset of the error. */
  readonly offset: number

  constructor(what: string, offset: number) {
    super(`${what} at byte ${offset}`)
    this.name = 'ChartBytesError'
    this.offset = offset
  }
}

/** Decodes an answer. Throws ChartBytesError for anything else. */
export function decodeChartRange(bytes: Uint8Array<ArrayBuffer>): ChartRange {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const start = bytes.length < 4 ? 0 : 4 + view.getUint32(0, true)
  if (start < 4 || start > bytes.length) throw new ChartBytesError('Columns without a head', 0)
  const head = headOf(new TextDecoder().decode(bytes.subarray(4, start)))
  let at = start
  const lists = head.lists.map((length) => {
    if (!(Number.isInteger(length) && length >= 0 && length <= (bytes.length - at) / SIZE))
      throw new ChartBytesError('Columns are truncated', at)
    const list = new Float64Array(length)
    for (let i = 0; i < length; i++, at += SIZE) list[i] = view.getFloat64(at, true)
    return list
  })
  return { ...head, lists }
}

type Head = Omit<ChartRange, 'lists'> & { readonly lists: readonly number[] }

function headOf(text: string): Head {
  try {
    const head = JSON.parse(text) as Head
    if (Array.isArray(head.lists)) return head
  } catch {} // reported below
  throw new ChartBytesError('Columns without a head', 4)
}
