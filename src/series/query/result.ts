/** Series with values: of a selector, a function or an operator. */
import { formatE, formatF } from '../../base/printf.ts'
import { atomStr } from '../../model/print.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_STRING, PM_TYPE_U64 } from '../../model/types.ts'
import type { Value } from '../../model/values.ts'
import type { Sample, SeriesDesc } from '../store.ts'

/** How values are written: as recorded, or as %e or %.6f. */
export type ValueFormat = 'recorded' | 'e' | 'f'

/** A series with samples. */
export interface SeriesResult {
  /** Of the series, or of the expression. */
  readonly id: string
  /** Of the series that was read. */
  readonly operand: string
  readonly desc: SeriesDesc
  readonly format: ValueFormat
  /** The result of a function or operator. */
  readonly isComputed: boolean
  readonly samples: readonly Sample[]
}

/** Returns a value as PCP stores and shows it. */
export function valueText(
  value: Value,
  { format, desc: { type } }: Pick<SeriesResult, 'format' | 'desc'>,
): string {
  if (typeof value === 'string') return type === PM_TYPE_STRING ? `"${value}"` : value
  if (value instanceof Uint8Array) return atomStr(value, type)
  if (format === 'f') return formatF(Number(value), 6)
  if (format === 'e') return Number.isNaN(Number(value)) ? '-nan' : formatE(Number(value))
  return type > PM_TYPE_U64 && type <= PM_TYPE_DOUBLE ? formatE(Number(value)) : String(value)
}

/** Returns a value as a number; NaN for text. */
export function numberOf(value: Value): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : Number.NaN
}
