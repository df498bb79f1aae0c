/** Words for types and semantics in documents. pcp2json(1) -x */
import type { MetricDesc } from '../../../model/desc.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../../model/types.ts'

const TYPES: ReadonlyMap<number, string> = new Map([
  [PM_TYPE_32, '32-bit signed'],
  [PM_TYPE_U32, '32-bit unsigned'],
  [PM_TYPE_64, '64-bit signed'],
  [PM_TYPE_U64, '64-bit unsigned'],
  [PM_TYPE_FLOAT, '32-bit float'],
  [PM_TYPE_DOUBLE, '64-bit float'],
  [PM_TYPE_STRING, 'string'],
])

export function typeName({ type }: MetricDesc): string {
  return TYPES.get(type) ?? 'unknown'
}

export function semanticsName({ sem }: MetricDesc): string {
  if (sem === PM_SEM_COUNTER) return 'counter'
  return sem === PM_SEM_DISCRETE ? 'discrete' : 'instant'
}
