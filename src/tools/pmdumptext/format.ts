/** Formats numbers and units for pmdumptext. */
import { formatF, formatG } from '../../base/printf.ts'
import { PM_SEM_COUNTER } from '../../model/types.ts'
import { unitsStr, unpackUnits } from '../../model/units.ts'
import type { Column } from './columns.ts'
import type { Notation, PmdumptextOptions } from './options.ts'

/** Formats a number in the given notation. */
export function numberText(value: number, notation: Notation, precision: number): string {
  if (notation === 'scientific') return formatG(value, precision)
  return notation === 'fixed' ? fixedText(value) : formatF(value, precision)
}

const SUFFIXES: readonly string[] = [' ', 'K', 'M', 'G', 'T']
/** Numbers up to this fit five characters. */
const MOST = 99.95
const LEAST = -9.995
/** Smaller numbers are 0 with two decimals. */
const NOUGHT = 0.005

/** Formats a number with a suffix for thousands in six characters. */
function fixedText(value: number): string {
  if (Number.isNaN(value)) return '     ?'
  if (value > 0 && value <= NOUGHT) return ' 0.00 '
  // PCP uses seven characters here, and tables are compared with its output.
  if (value < 0 && value >= -NOUGHT) return ' 0.00  '
  let scaled = value
  for (const suffix of SUFFIXES) {
    if (scaled >= 0 ? scaled < MOST : scaled > LEAST) return `${formatF(scaled, 2).padStart(5)}${suffix}`
    scaled /= 1000
  }
  return value > 0 ? '  inf?' : ' -inf?'
}

/** Formats a cell; text is quoted. */
export function cellText(
  value: number | string | undefined,
  { notation, precision, missing }: PmdumptextOptions,
): string {
  if (value === undefined) return missing
  return typeof value === 'string' ? `"${value}"` : numberText(value, notation, precision)
}

/** Returns the units in full. Units of counters are per second, even for raw values. */
export function longUnits({ desc, scaling }: Column): string {
  const units = unitsStr(scaling.units)
  const isCounter = desc.sem === PM_SEM_COUNTER
  if (units === '') return isCounter ? '/ second' : 'none'
  return isCounter ? `${units} / second` : units
}

const SPACE: readonly string[] = ['b', 'Kb', 'Mb', 'Gb', 'Tb', 'Pb', 'Eb']
const TIME: readonly string[] = ['ns', 'us', 'msec', 's', 'm', 'h']

/** Returns abbreviated units. */
export function shortUnits({ desc, scaling }: Column): string {
  if (scaling.isUtilisation) return 'util'
  const { dimSpace, dimTime, dimCount, scaleSpace, scaleTime } = unpackUnits(scaling.units)
  const terms: readonly (readonly [number, string])[] = [
    [dimSpace, SPACE[scaleSpace] ?? '?'],
    [dimTime, TIME[scaleTime] ?? '?'],
    [dimCount, 'c'],
  ]
  const power = (dim: number, name: string): string =>
    Math.abs(dim) === 1 ? name : `${name}${Math.abs(dim)}`
  const over = terms.filter(([dim]) => dim > 0).map(([dim, name]) => power(dim, name))
  const under = terms.filter(([dim]) => dim < 0).map(([dim, name]) => `/${power(dim, name)}`)
  const text = over.join('') + under.join('') + (desc.sem === PM_SEM_COUNTER ? '/s' : '')
  return text === '' ? 'none' : text
}
