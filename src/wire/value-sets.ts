/**
 * Value sets and value blocks in RESULT PDUs and archive records. docs/formats/wire.md §5
 *
 *     set    0  pmid
 *            4  values: count, 0 for none, negative for an error
 *            8  format (only with values): 0 in situ, 1 or 2 block
 *           12  [values]  inst, word: the value, or the position of its block in words
 *     block  0  type (1 byte), length including these 4 bytes, without padding (3 bytes)
 *            4  data, padded to whole words
 *
 * All sets come first, then one block per value, in value order.
 */
import { emptySet, type ValueSet } from '../model/values.ts'
import { round4, writePadding } from './pdu.ts'
import type { PduReader } from './reader.ts'

const PM_VAL_INSITU = 0
const SET_BYTES = 8
/** Blocks up to this size are copied byte by byte, which is faster than making views. */
const SMALL_BLOCK = 48

/** Returns the length of the block at `at`, including its header, without padding. */
function blockLength(bytes: Uint8Array, at: number): number {
  return (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Returns the bytes of `sets` with their blocks. */
export function valueSetsSize(sets: readonly ValueSet[]): number {
  let size = 0
  for (let s = 0; s < sets.length; s++) {
    const set = sets[s]!
    size += SET_BYTES
    if (set.status <= 0) continue
    size += 4 + 8 * set.status
    if (set.format === PM_VAL_INSITU) continue
    const { bytes, word } = set
    for (let i = 0; i < set.status; i++) size += round4(blockLength(bytes, word[i]!))
  }
  return size
}

/**
 * Writes `sets` at `at`, followed by their blocks; `valueSetsSize` bytes must be available. Returns the offset after
 * the last block. Positions of blocks are relative to `origin`, the start of the PDU or record.
 */
export function writeValueSets(
  view: DataView,
  out: Uint8Array,
  at: number,
  sets: readonly ValueSet[],
  origin = 0,
): number {
  let blockAt = at
  for (let s = 0; s < sets.length; s++) {
    const { status } = sets[s]!
    blockAt += status > 0 ? SET_BYTES + 4 + 8 * status : SET_BYTES
  }
  for (let s = 0; s < sets.length; s++) {
    const set = sets[s]!
    const { status, inst, word } = set
    view.setInt32(at, set.pmid)
    view.setInt32(at + 4, status)
    at += SET_BYTES
    if (status <= 0) continue
    view.setInt32(at, set.format)
    at += 4
    const isInSitu = set.format === PM_VAL_INSITU
    for (let i = 0; i < status; i++) {
      view.setInt32(at, inst[i]!)
      if (isInSitu) {
        view.setInt32(at + 4, word[i]!)
      } else {
        view.setInt32(at + 4, (blockAt - origin) >> 2)
        blockAt = writeBlock(out, blockAt, set.bytes, word[i]!)
      }
      at += 8
    }
  }
  return blockAt
}

function writeBlock(out: Uint8Array, at: number, from: Uint8Array, offset: number): number {
  const length = blockLength(from, offset)
  if (length <= SMALL_BLOCK) for (let i = 0; i < length; i++) out[at + i] = from[offset + i]!
  else out.set(from.subarray(offset, offset + length), at)
  at += length
  return (at & 3) === 0 ? at : writePadding(out, at)
}

/**
 * Reads `count` sets and their blocks to the end of the reader, which they must fill exactly. The sets borrow the
 * reader's bytes: `word` becomes the byte offset of each block in them.
 */
export function readValueSets(r: PduReader, count: number, origin = 0): ValueSet[] {
  const { bytes, view } = r
  const sets = new Array<ValueSet>(count)
  let blocks = 0
  for (let s = 0; s < count; s++) {
    const pmid = r.u32()
    const status = r.i32()
    if (status <= 0) {
      sets[s] = emptySet(pmid, status)
      continue
    }
    const format = r.i32()
    if (format < 0 || format > 2) r.fail(`unknown value format ${format}`)
    if (status * 8 > r.remaining) r.fail(`${status} values exceed the remaining ${r.remaining} bytes`)
    const inst = new Int32Array(status)
    const word = new Int32Array(status)
    let at = r.offset
    for (let i = 0; i < status; i++) {
      inst[i] = view.getInt32(at)
      word[i] = view.getInt32(at + 4)
      at += 8
    }
    r.offset = at
    sets[s] = { pmid, status, format, inst, word, bytes }
    if (format !== PM_VAL_INSITU) blocks += status
  }
  if (blocks > 0) locateBlocks(r, sets, origin)
  else r.end()
  return sets
}

/** Converts word positions to byte offsets, and checks that the blocks fill the rest. */
function locateBlocks(r: PduReader, sets: readonly ValueSet[], origin: number): void {
  const { bytes } = r
  const start = r.offset
  let used = 0
  for (const set of sets) {
    if (set.status <= 0 || set.format === PM_VAL_INSITU) continue
    const { word } = set
    for (let i = 0; i < word.length; i++) {
      const at = origin + word[i]! * 4
      if (at < start || at + 4 > bytes.length) r.fail(`a value block at byte ${at} is out of bounds`)
      const length = blockLength(bytes, at)
      if (length < 4 || at + round4(length) > bytes.length)
        r.fail(`a value block of ${length} bytes at byte ${at} is out of bounds`)
      used += round4(length)
      word[i] = at
    }
  }
  if (used !== bytes.length - start)
    r.fail(`${used} bytes of value blocks instead of ${bytes.length - start}`)
}
