/** Formats values with suitable units and prefixes. */
import { rateUnits } from '../../model/rate.ts'
import { unitsStr, unpackUnits } from '../../model/units.ts'
import { parseUnitsOrThrow } from '../../model/units-grammar.ts'

/** Kind of number; it decides how values are abbreviated. */
export type MeasureKind = 'bytes' | 'seconds' | 'share' | 'number'

/** How values of a metric are formatted. */
export interface Measure {
  readonly kind: MeasureKind
  /** Factor from a raw value to the base unit: bytes, seconds, a share of 1, or the number itself. */
  readonly factor: number
  /** Text after a number and its prefix: `/s`, or units without a shorter name. */
  readonly suffix: string
}

const BYTES: readonly string[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
const COUNTS: readonly string[] = ['', 'k', 'M', 'G', 'T', 'P', 'E']
const SECONDS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
]
const NANOSECONDS: readonly number[] = [1e-9, 1e-6, 1e-3, 1, 60, 3600]
/** Metrics of different dimensions cannot share an axis. */
const NONE: Measure = { kind: 'number', factor: 1, suffix: '' }

/** Semantics of a counter converted to a rate per second, with units to match. PCP has no name for it. */
export const RATE = 'rate'

/** Units and factor of a counter's rate per second. */
export interface RateOf {
  readonly units: string
  readonly factor: number
}

/** Returns the units of a counter's rate per second and the factor to convert to them. Unknown units get ` / sec` appended. */
export function rateOf(units: string): RateOf {
  const word = wordOf(units)
  if (word === undefined) return { units: `${units} / sec`, factor: 1 }
  const rate = rateUnits(word)
  return { units: unitsStr(rate.units) || 'none', factor: rate.factor }
}

function wordOf(units: string): number | undefined {
  if (units === 'none' || units === '') return 0
  try {
    const read = parseUnitsOrThrow(units)
    return read.multiplier === 1 ? read.units : undefined
  } catch {
    return undefined
  }
}

/** Returns the measure of a metric from its units in PCP's notation and its semantics, including `RATE`. */
export function measureOf(units: string, sem: string): Measure {
  const word = wordOf(units)
  if (word === undefined) return { ...NONE, suffix: ` ${units}` }
  // Only the rate of a time has no dimension: seconds per second.
  return measureOfUnits(word, 1, sem === RATE)
}

function measureOfUnits(word: number, factor: number, isShare: boolean): Measure {
  const { dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount, extraUnit } = unpackUnits(word)
  // A time or size for each operation, of a derived metric.
  if (
    extraUnit === 0 &&
    dimCount === -1 &&
    (dimTime === 1 ? dimSpace === 0 : dimTime === 0 && dimSpace === 1)
  ) {
    const each = factor / 10 ** scaleCount
    return dimTime === 1
      ? { kind: 'seconds', factor: each * (NANOSECONDS[scaleTime] ?? 1), suffix: '' }
      : { kind: 'bytes', factor: each * 1024 ** scaleSpace, suffix: '' }
  }
  if (
    extraUnit !== 0 ||
    dimSpace < 0 ||
    dimSpace > 1 ||
    dimCount < 0 ||
    dimCount > 1 ||
    dimSpace + dimCount > 1
  )
    return { ...NONE, factor, suffix: ` ${unitsStr(word)}` }
  const scale = factor * 1024 ** (dimSpace * scaleSpace) * 10 ** (dimCount * scaleCount)
  if (dimTime === 0) {
    if (dimSpace === 1) return { kind: 'bytes', factor: scale, suffix: '' }
    return { kind: isShare ? 'share' : 'number', factor: scale, suffix: '' }
  }
  const second = NANOSECONDS[scaleTime] ?? 1
  if (dimTime === -1)
    return { kind: dimSpace === 1 ? 'bytes' : 'number', factor: scale / second, suffix: '/s' }
  if (dimTime === 1 && dimSpace + dimCount === 0)
    return { kind: 'seconds', factor: factor * second, suffix: '' }
  return { ...NONE, factor, suffix: ` ${unitsStr(word)}` }
}

/** Returns the measure of dimensionless numbers known to be shares; other measures are unchanged. */
export function asShare(measure: Measure, unit: 'percent' | 'share' | undefined): Measure {
  if (unit === undefined || measure.kind !== 'number' || measure.suffix !== '') return measure
  return { kind: 'share', factor: measure.factor * (unit === 'percent' ? 0.01 : 1), suffix: '' }
}

/** Checks whether values of both can share an axis. */
export function isSameMeasure(a: Measure, b: Measure): boolean {
  return a.kind === b.kind && a.suffix === b.suffix
}

/** A unit and its divisor, chosen so that values of a given size are readable. */
export interface Step {
  readonly divisor: number
  readonly unit: string
}

/** Returns the unit for an axis whose largest value is `size` base units. */
export function stepFor({ kind, suffix }: Measure, size: number): Step {
  const magnitude = Math.abs(size)
  switch (kind) {
    case 'share':
      return { divisor: 0.01, unit: '%' }
    case 'seconds': {
      const found = SECONDS.find(([seconds]) => magnitude >= seconds) ?? SECONDS[3]!
      const [divisor, unit] = magnitude === 0 ? SECONDS[3]! : found
      return { divisor, unit }
    }
    case 'bytes': {
      const power = powerOf(magnitude, 1024, BYTES.length)
      return { divisor: 1024 ** power, unit: `${BYTES[power]!}${suffix}` }
    }
    default: {
      const power = powerOf(magnitude, 1000, COUNTS.length)
      return { divisor: 1000 ** power, unit: `${COUNTS[power]!}${suffix}` }
    }
  }
}

function powerOf(magnitude: number, base: number, count: number): number {
  if (!(magnitude >= base)) return 0
  return Math.min(count - 1, Math.floor(Math.log(magnitude) / Math.log(base) + 1e-9))
}

/** Formats a value in base units: `1.25 MiB/s`, `34 %`. A missing value is a dash. */
export function showValue(measure: Measure, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  const { divisor, unit } = stepFor(measure, value)
  const number = value / divisor
  // Digits of a measure do not depend on its value: they would jump, as from 2.30 % to 2 %. Counts are whole.
  const isWhole = number === 0 || ((unit === '' || unit === 'B') && Number.isInteger(number))
  return withUnit(showNumber(number, isWhole), unit)
}

/** Formats a limit, whose digits are all known: `85 %`. */
export const showLimit = (measure: Measure, value: number): string =>
  showValue(measure, value).replace(/\.0+ /, ' ')

/** Joins a number and its unit. */
export function withUnit(number: string, unit: string): string {
  return unit === '' || unit.startsWith(' ') ? `${number}${unit}` : `${number} ${unit}`
}

/** Formats a number with three digits, a whole one with all digits. */
export function showNumber(value: number, isWhole: boolean = Number.isInteger(value)): string {
  const magnitude = Math.abs(value)
  if (magnitude >= 1e6 || (magnitude > 0 && magnitude < 1e-3)) return value.toPrecision(3)
  if (magnitude >= 100 || isWhole) return value.toFixed(0)
  // 99.97 is 100, not 100.0, and 9.996 is 10.0: rounding can add a digit.
  return value.toFixed(magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2)
}
