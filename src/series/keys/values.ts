/** Values as text in samples. */
import { exactInteger } from '../../base/exact-integer.ts'
import { formatE } from '../../base/printf.ts'
import { statusOf } from '../../model/errors.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_HIGHRES_EVENT,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_TYPE_UNKNOWN,
  typeStr,
} from '../../model/types.ts'
import type { Value } from '../../model/values.ts'

/** The text that PCP stores for aggregates and events. */
const NOT_STORED = String(statusOf('PM_ERR_NYI'))

/** Returns a value as PCP stores it. */
export function storedText(value: Value, type: number): string {
  if (typeof value === 'number')
    return type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE ? formatE(value) : String(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'string') return `"${value}"`
  return NOT_STORED
}

/** Returns a stored value: a number where its type is one. */
export function storedValue(text: string, type: number): Value {
  switch (type) {
    case PM_TYPE_32:
    case PM_TYPE_U32:
    case PM_TYPE_FLOAT:
    case PM_TYPE_DOUBLE:
      return Number(text)
    case PM_TYPE_64:
    case PM_TYPE_U64:
      return /^-?\d+$/.test(text) ? exactInteger(text) : Number(text)
    case PM_TYPE_STRING:
      return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
    default:
      return text
  }
}

/** Returns the name of a type in descriptors. */
export function storedType(type: number): string {
  return type === PM_TYPE_NOSUPPORT ? UNSUPPORTED : typeStr(type).toLowerCase()
}

const UNSUPPORTED = 'unsupported'
/** Types have consecutive numbers, from PM_TYPE_NOSUPPORT. */
const TYPES: ReadonlyMap<string, number> = new Map(
  Array.from({ length: PM_TYPE_HIGHRES_EVENT - PM_TYPE_NOSUPPORT + 1 }, (_, i) => {
    const type = i + PM_TYPE_NOSUPPORT
    return [storedType(type), type]
  }),
)

/** Returns the type of a descriptor. */
export function typeOf(stored: string): number {
  return TYPES.get(stored) ?? PM_TYPE_UNKNOWN
}
