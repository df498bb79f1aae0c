/** Encodes a value of a record, in the common cases without making objects of it. */
import type { RecordView } from '../../archive/record-view.ts'
import { formatE } from '../../base/printf.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../../model/types.ts'
import { BLOCK_HEADER, extract } from '../../model/value-set.ts'
import type { CommandBuffer } from './command-buffer.ts'
import { storedText } from './values.ts'

const TWO_32 = 2 ** 32
/** Upper half of integers that are exact as numbers, and have no sign. */
const EXACT_HIGH = 2 ** 21

/** Adds value `i` of set `s` as an argument; the record has been checked. PM_ERR_CONV if its type is not that of the metric. */
export function writeValue(
  buffer: CommandBuffer,
  record: RecordView,
  s: number,
  i: number,
  type: number,
): void {
  if (
    record.formats[s] === PM_VAL_INSITU
      ? writeWord(buffer, record, s, i, type)
      : writeBlock(buffer, record, s, i, type)
  )
    return
  buffer.argument(storedText(extract(record.toSet(s), i, type), type))
}

function writeWord(buffer: CommandBuffer, record: RecordView, s: number, i: number, type: number): boolean {
  const at = record.pairs[s]! + 8 * i + 4
  if (type === PM_TYPE_U32) buffer.integer(record.view.getUint32(at))
  else if (type === PM_TYPE_32) buffer.integer(record.view.getInt32(at))
  else if (type === PM_TYPE_FLOAT) buffer.argument(formatE(record.view.getFloat32(at)))
  else return false
  return true
}

function writeBlock(buffer: CommandBuffer, record: RecordView, s: number, i: number, type: number): boolean {
  const { view } = record
  const block = record.blockAt(view.getInt32(record.pairs[s]! + 8 * i + 4))
  const at = block + BLOCK_HEADER
  if (record.blockSize(block) !== BLOCK_HEADER + 8 || view.getUint8(block) !== type) return false
  const high = view.getUint32(at)
  if (type === PM_TYPE_DOUBLE) buffer.argument(formatE(view.getFloat64(at)))
  else if ((type === PM_TYPE_U64 || type === PM_TYPE_64) && high < EXACT_HIGH)
    buffer.integer(high * TWO_32 + view.getUint32(at + 4))
  else return false
  return true
}
