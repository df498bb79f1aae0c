/** Copies value sets out of the record they stand in. docs/formats/archive.md §5 */
import type { PcpError } from '../model/errors.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import type { RecordView } from './record-view.ts'

/** The part of a record's buffer that the blocks of one value set take. */
export interface Span {
  readonly from: number
  readonly to: number
}

const NO_BYTES = new Uint8Array(0)
/** Blocks that take no more bytes each than this are copied in one piece, with what little may stand between them. */
const DENSE = 24

/**
 * A copy of value set `s` of a record whose columns are filled. `span` says where its blocks are when they have been checked;
 * otherwise what `fault` makes of the first one outside the record is thrown.
 */
export function copySet(
  record: RecordView,
  s: number,
  span: Span | undefined,
  fault: (what: string) => PcpError,
): ValueSet {
  const { view } = record
  const status = record.statuses[s]!
  const pmid = record.pmids[s]!
  const format = record.formats[s]!
  if (status <= 0) return emptySet(pmid, status)
  const isDense = span !== undefined && span.to - span.from <= DENSE * status
  const size = format === 0 ? 0 : isDense ? span.to - span.from : sizeOfBlocks(record, s, fault)
  // One store for all three: that of a typed array costs more to make and to free than its words to copy.
  const store = new ArrayBuffer(8 * status + ((size + 3) & ~3))
  const inst = new Int32Array(store, 0, status)
  const word = new Int32Array(store, 4 * status, status)
  for (let i = 0, at = record.pairs[s]!; i < status; i++, at += 8) {
    inst[i] = view.getInt32(at)
    word[i] = view.getInt32(at + 4)
  }
  if (format === 0) return { pmid, status, format, inst, word, bytes: NO_BYTES }
  const bytes = new Uint8Array(store, 8 * status, size)
  if (isDense) copySpan(record, word, bytes, span.from)
  else copyBlocks(record, word, bytes, fault)
  return { pmid, status, format, inst, word, bytes }
}

function sizeOfBlocks(record: RecordView, s: number, fault: (what: string) => PcpError): number {
  const { view } = record
  const pairs = record.pairs[s]!
  const behind = pairs + 8 * record.statuses[s]!
  let total = 0
  for (let at = pairs + 4; at < behind; at += 8)
    total += blockSize(record, record.blockAt(view.getInt32(at)), fault)
  return total
}

/** Copies what is from `from` on; `word`, which pointed to blocks in it, then points into the copy. */
function copySpan(record: RecordView, word: Int32Array, bytes: Uint8Array, from: number): void {
  bytes.set(record.bytes.subarray(from, from + bytes.length))
  const shift = record.blockAt(0) - from
  for (let i = 0; i < word.length; i++) word[i] = 4 * word[i]! + shift
}

/** Copies the blocks that `word` points to, one behind the other; `word` then points into the copy. */
function copyBlocks(
  record: RecordView,
  word: Int32Array,
  bytes: Uint8Array,
  fault: (what: string) => PcpError,
): void {
  let used = 0
  for (let i = 0; i < word.length; i++) {
    const from = record.blockAt(word[i]!)
    const length = blockSize(record, from, fault)
    bytes.set(record.bytes.subarray(from, from + length), used)
    word[i] = used
    used += length
  }
}

function blockSize(record: RecordView, at: number, fault: (what: string) => PcpError): number {
  const end = record.offset + record.length - 4
  const size = at >= record.offset && at + 4 <= end ? record.view.getInt32(at) & 0xffffff : 0
  if (size >= 4 && at + size <= end) return size
  throw fault(`a value block at ${at - record.offset} is outside`)
}
