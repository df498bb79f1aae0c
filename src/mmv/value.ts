/** A value in a file of memory-mapped values. docs/formats/mmv.md */
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../model/types.ts'
import type { Value } from '../model/values.ts'
import { IS_LITTLE, MMV_TYPE_ELAPSED, STRING_SIZE, textAt } from './layout.ts'

/** How values are interpreted. */
export interface ValueRules {
  /** NaN, all bits set and the empty string mean no value. */
  readonly hasSentinels: boolean
  /** Microseconds since the epoch, for sections being timed. */
  readonly nowUs: () => number
}

/** Reads a value at an offset returned by `parseMmv`; undefined for no value. */
export function readValue(view: DataView, at: number, type: number, rules: ValueRules): Value | undefined {
  const { hasSentinels } = rules
  switch (type) {
    case PM_TYPE_FLOAT:
    case PM_TYPE_DOUBLE: {
      const value = type === PM_TYPE_FLOAT ? view.getFloat32(at, IS_LITTLE) : view.getFloat64(at, IS_LITTLE)
      return hasSentinels && Number.isNaN(value) ? undefined : value
    }
    case PM_TYPE_STRING: {
      const offset = Number(view.getBigInt64(at + 8, IS_LITTLE))
      if (offset < 0 || offset >= view.byteLength) return undefined
      const text = textAt(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), offset, STRING_SIZE)
      return hasSentinels && text === '' ? undefined : text
    }
    default:
      if (hasSentinels && view.getBigInt64(at, IS_LITTLE) === -1n) return undefined
      return readInteger(view, at, type, rules)
  }
}

function readInteger(view: DataView, at: number, type: number, { nowUs }: ValueRules): Value | undefined {
  switch (type) {
    case PM_TYPE_32:
      return view.getInt32(at, IS_LITTLE)
    case PM_TYPE_U32:
      return view.getUint32(at, IS_LITTLE)
    case PM_TYPE_64:
      return short(view.getBigInt64(at, IS_LITTLE))
    case PM_TYPE_U64:
      return short(view.getBigUint64(at, IS_LITTLE))
    case MMV_TYPE_ELAPSED: {
      const extra = view.getBigInt64(at + 8, IS_LITTLE)
      const open = extra < 0n ? BigInt(nowUs()) + extra : 0n
      return short(view.getBigInt64(at, IS_LITTLE) + open)
    }
    default:
      return undefined
  }
}

/** A number if that is exact. */
function short(value: bigint): Value {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
