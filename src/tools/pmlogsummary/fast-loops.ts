/**
 * Value sets taken in one loop each, straight from the record, for what archives are full of: all instances of the record before in
 * the same order, numbers in ordinary blocks. What is else goes through `decode.ts`, which takes more than twice as long.
 */
import type { RecordView } from '../../archive/record-view.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_U32, PM_TYPE_U64, PM_VAL_INSITU } from '../../model/types.ts'
import type { Columns } from './columns.ts'

const HIGH = 0x1_0000_0000
/** Bytes of a block with one 64-bit number. */
const BLOCK = 12
const U64_HEAD = (PM_TYPE_U64 << 24) | BLOCK
const DOUBLE_HEAD = (PM_TYPE_DOUBLE << 24) | BLOCK

/**
 * Takes the values of value set `s`, `seconds` after those before, as long as each is of the instance that has its place and is what
 * the loop is for. Returns how many it took. The set has as many values as there are instances.
 */
export type FastLoop = (
  record: RecordView,
  s: number,
  insts: Int32Array,
  columns: Columns,
  seconds: number,
) => number

/** The loop for a metric, if there is one. */
export function fastLoop({ type, sem }: MetricDesc): FastLoop | undefined {
  if (sem !== PM_SEM_COUNTER) return type === PM_TYPE_DOUBLE ? takeDoubles : undefined
  return type === PM_TYPE_U32 ? takeWordCounters : type === PM_TYPE_U64 ? takeBlockCounters : undefined
}

/** Counters of 32 bits without sign. */
function takeWordCounters(
  { view, pairs, formats }: RecordView,
  s: number,
  insts: Int32Array,
  { last, length }: Columns,
): number {
  if (formats[s] !== PM_VAL_INSITU) return 0
  let i = 0
  for (let at = pairs[s]!; i < length; i++, at += 8) {
    if (insts[i] !== view.getInt32(at)) break
    const value = view.getUint32(at + 4)
    if (value < last[i]!) break
    last[i] = value
  }
  return i
}

/** Counters of 64 bits without sign. */
function takeBlockCounters(
  { view, pairs, formats, offset, length: size }: RecordView,
  s: number,
  insts: Int32Array,
  { last, length }: Columns,
): number {
  if (formats[s] === PM_VAL_INSITU) return 0
  const start = pairs[s]!
  const end = offset + size - 4 - BLOCK
  let i = 0
  for (let at = start; i < length; i++, at += 8) {
    if (insts[i] !== view.getInt32(at)) break
    const block = offset - 8 + 4 * view.getInt32(at + 4)
    if (block < start || block > end || view.getInt32(block) !== U64_HEAD) break
    const value = view.getUint32(block + 4) * HIGH + view.getUint32(block + 8)
    if (value < last[i]!) break
    last[i] = value
  }
  return i
}

/** Doubles that are no counters. */
function takeDoubles(
  { view, pairs, formats, offset, length: size }: RecordView,
  s: number,
  insts: Int32Array,
  { last, area, length }: Columns,
  seconds: number,
): number {
  if (formats[s] === PM_VAL_INSITU) return 0
  const start = pairs[s]!
  const end = offset + size - 4 - BLOCK
  let i = 0
  for (let at = start; i < length; i++, at += 8) {
    if (insts[i] !== view.getInt32(at)) break
    const block = offset - 8 + 4 * view.getInt32(at + 4)
    if (block < start || block > end || view.getInt32(block) !== DOUBLE_HEAD) break
    const value = view.getFloat64(block + 4)
    if (Number.isNaN(value)) break
    area[i] = area[i]! + last[i]! * seconds
    last[i] = value
  }
  return i
}
