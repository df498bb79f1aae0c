/** Values of one metric in one record as doubles, each with the number of its instance. */
import type { RecordView } from '../../archive/record-view.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../../model/types.ts'
import type { InstanceSlots } from '../lib/instance-slots.ts'

const HIGH = 0x1_0000_0000
/** Lengths of value blocks that hold one number. */
const WIDE_BLOCK = 12
const NARROW_BLOCK = 8

/** Columns that a record's values go through; they grow as needed. */
export class Decoded {
  /** Values, and the slots of their instances. */
  values: Float64Array = new Float64Array(64)
  slots: Int32Array = new Int32Array(64)

  /** Decodes value set `s`. False when a value cannot be one of this type, or lies outside the record. */
  decode(record: RecordView, s: number, type: number, instances: InstanceSlots): boolean {
    const count = record.statuses[s]!
    if (count > this.values.length) {
      this.values = new Float64Array(count * 2)
      this.slots = new Int32Array(count * 2)
    }
    this.#findSlots(record, s, count, instances)
    return record.formats[s] === PM_VAL_INSITU
      ? this.#decodeWords(record, s, count, type)
      : this.#decodeBlocks(record, s, count, type)
  }

  #findSlots(record: RecordView, s: number, count: number, instances: InstanceSlots): void {
    const { view } = record
    const { slots } = this
    let { insts, length } = instances
    for (let i = 0, at = record.pairs[s]!; i < count; i++, at += 8) {
      const inst = view.getInt32(at)
      if (i < length && insts[i] === inst) slots[i] = i
      else {
        slots[i] = instances.slotOf(inst)
        insts = instances.insts
        length = instances.length
      }
    }
  }

  #decodeWords({ view, pairs }: RecordView, s: number, count: number, type: number): boolean {
    const { values } = this
    let at = pairs[s]! + 4
    if (type === PM_TYPE_U32) for (let i = 0; i < count; i++, at += 8) values[i] = view.getUint32(at)
    else if (type === PM_TYPE_32) for (let i = 0; i < count; i++, at += 8) values[i] = view.getInt32(at)
    else if (type === PM_TYPE_FLOAT) for (let i = 0; i < count; i++, at += 8) values[i] = view.getFloat32(at)
    // Numbers of 64 bits cannot stand in a word: nobody knows what is meant, and the reference counts nothing.
    else values.fill(Number.NaN, 0, count)
    return true
  }

  /** Blocks of old archives may have no type; the descriptor says it. */
  #decodeBlocks(record: RecordView, s: number, count: number, type: number): boolean {
    const { view, offset } = record
    const { values } = this
    const size = type === PM_TYPE_FLOAT ? NARROW_BLOCK : WIDE_BLOCK
    const head = (type << 24) | size
    // Blocks are counted in words from 8 bytes before the record, and lie inside it.
    const base = offset - 8
    const end = offset + record.length - 4 - size
    const start = record.pairs[s]! + 4
    for (let i = 0, at = start; i < count; i++, at += 8) {
      const block = base + 4 * view.getInt32(at)
      if (block < start || block > end) return false
      const found = view.getInt32(block)
      if (found !== head && found !== size) return false
      if (type === PM_TYPE_DOUBLE) values[i] = view.getFloat64(block + 4)
      else if (type === PM_TYPE_U64) values[i] = view.getUint32(block + 4) * HIGH + view.getUint32(block + 8)
      else if (type === PM_TYPE_64) values[i] = view.getInt32(block + 4) * HIGH + view.getUint32(block + 8)
      else if (type === PM_TYPE_FLOAT) values[i] = view.getFloat32(block + 4)
      else return false
    }
    return true
  }
}

/** Do the value blocks of set `s` lie inside the record? For values that nobody decodes. */
export function blocksFit(
  { view, offset, length, pairs, formats, statuses }: RecordView,
  s: number,
): boolean {
  if (formats[s] === PM_VAL_INSITU) return true
  const end = offset + length - 4
  for (let i = statuses[s]!, at = pairs[s]! + 4; i > 0; i--, at += 8) {
    const block = offset - 8 + 4 * view.getInt32(at)
    if (block < at || block + 4 > end || block + (view.getInt32(block) & 0xffffff) > end) return false
  }
  return true
}
