/** The rows of values. */
import { toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { type PrintOptions, printValue } from '../../model/print.ts'
import { counterGrowth, rateUnits } from '../../model/rate.ts'
import { PM_TYPE_DOUBLE, PM_TYPE_FLOAT } from '../../model/types.ts'
import { extract, extractNumber } from '../../model/value-set.ts'
import type { FetchResult, ValueSet } from '../../model/values.ts'
import { formatReal } from './format.ts'
import type { Subject } from './subject.ts'

/** How rows look. */
export interface RowStyle {
  readonly width: number
  readonly precision: number | undefined
  readonly print: PrintOptions
  /** A counter that decreased went round once. */
  readonly counterWrap: boolean
}

/** In place of a row without values. */
export const NOTHING = 'No values available\n'
/** In place of a row of a mark. */
export const SUSPENDED = 'Archive logging suspended\n'

/** The row of one fetch: its values as they are. */
export function valueRow(subject: Subject, set: ValueSet, style: RowStyle): string {
  const { columns, desc } = subject
  const { width, precision, print } = style
  const isReal = desc.type === PM_TYPE_FLOAT || desc.type === PM_TYPE_DOUBLE
  const cell = (i: number): string =>
    isReal
      ? formatReal(extractNumber(set, i, desc.type), width, precision)
      : printValue(set, i, desc.type, width, print)
  if (columns === undefined) return `${cell(0)}\n`
  let row = ''
  for (const [c, { inst }] of columns.entries()) {
    const i = placeOf(set, inst, c)
    row += `${i < 0 ? '?'.padStart(width) : cell(i)} `
  }
  row += '\n'
  if (!subject.isOpen) return row
  for (const [i, inst] of set.inst.entries()) {
    if (columns[i]?.inst === inst || columns.some((column) => column.inst === inst)) continue
    row += `Warning: value=${printValue(set, i, desc.type, 1, print)}, but instance=${inst} is unknown\n`
  }
  return row
}

/** The row of rates from one fetch to the next. */
export function rateRow(subject: Subject, before: FetchResult, now: FetchResult, style: RowStyle): string {
  const [earlier, set] = [before.sets[0]!, now.sets[0]!]
  const { columns, desc } = subject
  const { width, precision, counterWrap } = style
  // Of two rounded times, as in the reference: it shows in the last digit.
  const elapsed = toSeconds(now.timestamp) - toSeconds(before.timestamp)
  const { factor } = rateUnits(desc.units)
  const cell = (i: number, k: number): string => {
    if (i < 0 || k < 0) return '?'.padStart(width)
    const growth = counterGrowth(
      numeric(earlier, k, desc.type),
      numeric(set, i, desc.type),
      desc.type,
      counterWrap,
    )
    if (growth === undefined) return '!'.padStart(width)
    return formatReal((growth / elapsed) * factor, width, precision)
  }
  // Archives may number the one value of a metric without instances.
  if (columns === undefined) return `${cell(0, 0)}\n`
  let row = ''
  for (const [c, { inst }] of columns.entries())
    row += `${cell(placeOf(set, inst, c), placeOf(earlier, inst, c))} `
  return `${row}\n`
}

/** Where an instance is in a set, mostly at `guess`; -1: nowhere. */
function placeOf({ inst }: ValueSet, wanted: number, guess: number): number {
  return inst[guess] === wanted ? guess : inst.indexOf(wanted)
}

function numeric(set: ValueSet, i: number, type: number): number | bigint {
  const value = extract(set, i, type)
  if (typeof value === 'number' || typeof value === 'bigint') return value
  throw new PcpError('PM_ERR_TYPE', 'A counter whose values are no numbers has no rate')
}
