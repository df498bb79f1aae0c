/** Conversion of values to rates, other units and other types. pmExtendFetchGroup_item(3), docs/reference/client-library.md */
import { formatE } from '../base/printf.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PcpError } from '../model/errors.ts'
import { convertValue, fitInteger } from '../model/extract-value.ts'
import { parseUnits } from '../model/parse-units.ts'
import { rateUnits } from '../model/rate.ts'
import { convScale } from '../model/scale.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_STRING, typeStr } from '../model/types.ts'
import { unpackUnits } from '../model/units.ts'
import type { Value } from '../model/values.ts'

/** How to convert a metric's values. */
export interface ConversionOptions {
  /**
   * `'instant'`: unchanged. `'rate'`: change per second. Units such as `'Kbyte/min'`: converted to these, as a rate if
   * their time dimension is one less than the metric's. Default: counters as change per second, others unchanged.
   */
  readonly scale?: string | undefined
  /** PM_TYPE_* that values are converted to. Default: DOUBLE for rates and scaled values, else the metric's own type. */
  readonly type?: number | undefined
  /**
   * Without given units, convert rates of times to seconds per second (utilisation). Otherwise such rates keep the metric's
   * scale, e.g. milliseconds per second, as in PCP's fetch groups.
   */
  readonly isUtilisation?: boolean
}

/** Planned conversion of one metric's values. */
export interface Conversion {
  readonly desc: MetricDesc
  readonly type: number
  readonly isRate: boolean
  /** Values or rates need no further conversion. */
  readonly isPlain: boolean
  /** Units of the results (`pmUnits` word), before `scaling.multiplier`. */
  readonly units: number
  readonly scaling: Scaling | undefined
}

/** Conversion of units, after a factor that converts a rate's time unit to seconds. */
interface Scaling {
  readonly factor: number
  readonly from: number
  readonly to: number
  readonly multiplier: number
}

/**
 * Plans the conversion of a metric's values. PM_ERR_TYPE for types that are neither numbers nor text, PM_ERR_CONV for
 * invalid or incompatible units.
 */
export function planConversion(
  desc: MetricDesc,
  { scale, type, isUtilisation = false }: ConversionOptions,
): Conversion {
  if (!isScalarType(desc.type) || (type !== undefined && !isScalarType(type)))
    throw new PcpError(
      'PM_ERR_TYPE',
      `No conversion from ${typeStr(desc.type)} to ${typeStr(type ?? desc.type)}`,
    )
  if (scale === 'instant' || (scale === undefined && desc.sem !== PM_SEM_COUNTER))
    return unconverted(desc, type)
  if (desc.type === PM_TYPE_STRING) throw noConversion(`text has no ${scale}`)
  if (scale === undefined || scale === 'rate') return asRate(desc, isUtilisation, type)
  const rate = rateUnits(desc.units)
  const { units, multiplier } = parseUnits(scale)
  const isRate = !sameDimensions(desc.units, units)
  if (isRate && !sameDimensions(rate.units, units))
    throw noConversion(`"${scale}" are not units of such a metric`)
  const from = isRate ? rate.units : desc.units
  convScale(PM_TYPE_DOUBLE, 1, from, units) // throws if not possible
  const scaling = { factor: isRate ? rate.factor : 1, from, to: units, multiplier }
  return { desc, type: type ?? PM_TYPE_DOUBLE, isRate, isPlain: false, units, scaling }
}

/** Plans to return values unchanged, whatever their type. */
export function unconverted(desc: MetricDesc, type: number = desc.type): Conversion {
  return {
    desc,
    type,
    isRate: false,
    isPlain: type === desc.type,
    units: desc.units,
    scaling: undefined,
  }
}

/** Plans to return changes per second. */
export function asRate(desc: MetricDesc, isUtilisation: boolean, type: number = PM_TYPE_DOUBLE): Conversion {
  const { units, factor } = rateUnits(desc.units)
  const scaling = isUtilisation ? { factor, from: units, to: units, multiplier: 1 } : undefined
  const isPlain = type === PM_TYPE_DOUBLE && (!isUtilisation || factor === 1)
  return { desc, type, isRate: true, isPlain, units, scaling }
}

/**
 * Converts a value as planned; with planned rates the value is the change per second. PM_ERR_TYPE for text that is not a
 * number, PM_ERR_TRUNC and PM_ERR_SIGN if the value does not fit.
 */
export function applyConversion({ desc, type, isRate, isPlain, scaling }: Conversion, value: Value): Value {
  if (isPlain) return value
  if (typeof value === 'string') return type === PM_TYPE_STRING ? value : parseNumber(value, type)
  if (typeof value === 'object') throw noConversion('bytes cannot be converted')
  if (scaling === undefined) return asType(value, isRate ? PM_TYPE_DOUBLE : desc.type, type)
  const { factor, from, to, multiplier } = scaling
  const inSeconds = Number(value) * factor
  const scaled = from === to ? inSeconds : Number(convScale(PM_TYPE_DOUBLE, inSeconds, from, to))
  return type === PM_TYPE_DOUBLE ? scaled * multiplier : asType(scaled * multiplier, PM_TYPE_DOUBLE, type)
}

function asType(value: number | bigint, from: number, to: number): Value {
  if (to !== PM_TYPE_STRING) return convertValue(value, from, to)
  if (from === PM_TYPE_FLOAT) return formatE(Number(value), 9)
  return from === PM_TYPE_DOUBLE ? formatE(Number(value), 17) : String(value)
}

/** Parses a whole text like strtol(3) and strtod(3); empty text is zero. */
function parseNumber(text: string, type: number): Value {
  const trimmed = text.trimStart()
  const isReal = type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
  if (trimmed === '') return 0
  const pattern = isReal ? /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i : /^[+-]?\d+$/
  if (!pattern.test(trimmed)) throw new PcpError('PM_ERR_TYPE', `"${text}" is not a number`)
  return isReal
    ? convertValue(Number(trimmed), PM_TYPE_DOUBLE, type)
    : fitInteger(BigInt(trimmed.replace(/^\+/, '')), type)
}

function isScalarType(type: number): boolean {
  return type >= 0 && type <= PM_TYPE_STRING
}

function sameDimensions(a: number, b: number): boolean {
  const [left, right] = [unpackUnits(a), unpackUnits(b)]
  return (
    left.dimSpace === right.dimSpace && left.dimTime === right.dimTime && left.dimCount === right.dimCount
  )
}

function noConversion(why: string): PcpError {
  return new PcpError('PM_ERR_CONV', `No conversion: ${why}`)
}
