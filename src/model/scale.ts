/** Conversion of values between scales. pmConvScale(3) */
import { PcpError } from './errors.ts'
import { fitInteger } from './extract-value.ts'
import {
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_U32,
  PM_TYPE_U64,
  typeStr,
} from './types.ts'
import { PM_EXTRA_TEMPERATURE, PM_SPACE_EBYTE, type Units, unitsStr, unpackUnits } from './units.ts'

/** Size of each time scale in units of the one before. */
const TIME_STEPS: readonly bigint[] = [1n, 1000n, 1000n, 1000n, 60n, 60n]
const EXTRA_SCALES: readonly number[] = [0, 3, 3, 3, 4]
/** Factors are 64-bit in the reference, where larger ones overflow. */
const LIMIT = 2n ** 64n
/** The largest integer of both 32-bit types. */
const LARGEST_32 = 0x7fff_ffff

/** An affine map: value' = (value + before) * mult / div + after. */
interface Affine {
  readonly before: number
  readonly mult: number
  readonly div: number
  readonly after: number
}

/** Conversions between Celsius, Fahrenheit and Kelvin, from row to column. */
const TEMPERATURES: readonly (readonly (Affine | undefined)[])[] = [
  [undefined, { before: 0, mult: 9, div: 5, after: 32 }, { before: 0, mult: 1, div: 1, after: 273.15 }],
  [{ before: -32, mult: 5, div: 9, after: 0 }, undefined, { before: -32, mult: 5, div: 9, after: 273.15 }],
  [
    { before: -273.15, mult: 1, div: 1, after: 0 },
    { before: -273.15, mult: 9, div: 5, after: 32 },
    undefined,
  ],
]

/**
 * Converts a value of numeric `type` from units `from` to units `to` (units words); integers are rounded half up.
 * PM_ERR_CONV if the dimensions differ, the type is not numeric, the value is not of its type or a factor does not fit
 * 64 bits; PM_ERR_UNIT for unknown scales; PM_ERR_TRUNC and PM_ERR_SIGN if the result does not fit the type.
 * @see pmConvScale(3)
 */
export function convScale(type: number, value: number | bigint, from: number, to: number): number | bigint {
  const plan = planOf(from, to)
  const scaled = applyRatio(type, value, plan)
  const { source, target } = plan
  return source.extraScale === target.extraScale
    ? scaled
    : applyAffine(type, scaled, extraMap(source, target))
}

/** Precomputed factors for one pair of units words. */
interface Plan {
  readonly from: number
  readonly to: number
  readonly source: Units
  readonly target: Units
  /** value' = value * mult / div. */
  readonly mult: bigint
  readonly div: bigint
  /** The same factors as doubles. */
  readonly multNumber: number
  readonly divNumber: number
}

/** Recent plans, by hash of their units words: columns are converted value by value. */
const PLANS: (Plan | undefined)[] = new Array<undefined>(64).fill(undefined)

function planOf(from: number, to: number): Plan {
  const place = (Math.imul(from, 0x9e3779b1) ^ Math.imul(to, 0x85ebca6b)) >>> 26
  const known = PLANS[place]
  if (known !== undefined && known.from === from && known.to === to) return known
  const plan = makePlan(from, to)
  PLANS[place] = plan
  return plan
}

function makePlan(from: number, to: number): Plan {
  const source = withDimension(unpackUnits(from))
  const target = withDimension(unpackUnits(to))
  if (
    source.dimSpace !== target.dimSpace ||
    source.dimTime !== target.dimTime ||
    source.dimCount !== target.dimCount ||
    source.extraUnit !== target.extraUnit
  ) {
    throw new PcpError('PM_ERR_CONV', `No conversion from ${inWords(from)} to ${inWords(to)}`)
  }
  const { mult, div } = ratio(source, target)
  return { from, to, source, target, mult, div, multNumber: Number(mult), divNumber: Number(div) }
}

/** No dimension means count: 'none' and 'count' convert into each other. */
function withDimension(units: Units): Units {
  return units.dimSpace === 0 && units.dimTime === 0 && units.dimCount === 0
    ? { ...units, dimCount: 1 }
    : units
}

function inWords(word: number): string {
  return unitsStr(word) || 'none'
}

function ratio(source: Units, target: Units): { mult: bigint; div: bigint } {
  let mult = 1n
  let div = 1n
  const add = (factor: bigint, exponent: number): void => {
    if (exponent > 0) mult *= factor ** BigInt(exponent)
    else div *= factor ** BigInt(-exponent)
  }
  if (source.dimSpace !== 0) {
    if (source.scaleSpace > PM_SPACE_EBYTE || target.scaleSpace > PM_SPACE_EBYTE) throw noScale('space')
    add(1024n, source.dimSpace * (source.scaleSpace - target.scaleSpace))
  }
  if (source.dimTime !== 0) {
    const [from, to] = [source.scaleTime, target.scaleTime]
    if (from >= TIME_STEPS.length || to >= TIME_STEPS.length) throw noScale('time')
    for (let i = to + 1; i <= from; i++) add(TIME_STEPS[i]!, source.dimTime)
    for (let i = from + 1; i <= to; i++) add(TIME_STEPS[i]!, -source.dimTime)
  }
  add(10n, source.dimCount * (source.scaleCount - target.scaleCount))
  if (div >= LIMIT) throw new PcpError('PM_ERR_CONV', 'The scales are too far apart to convert')
  return mult % div === 0n ? { mult: mult / div, div: 1n } : { mult, div }
}

function noScale(dimension: string): PcpError {
  return new PcpError('PM_ERR_UNIT', `Unknown ${dimension} scale in units`)
}

function applyRatio(type: number, value: number | bigint, plan: Plan): number | bigint {
  switch (type) {
    case PM_TYPE_32:
    case PM_TYPE_U32:
    case PM_TYPE_64:
    case PM_TYPE_U64:
      return (
        (typeof value === 'number' ? scaledExactly(type, value, plan) : undefined) ??
        scaledWide(type, value, plan)
      )
    case PM_TYPE_FLOAT:
      return Math.fround(
        Number(value) * Math.fround(Math.fround(plan.multNumber) / Math.fround(plan.divNumber)),
      )
    case PM_TYPE_DOUBLE:
      return Number(value) * (plan.multNumber / plan.divNumber)
    default:
      throw new PcpError('PM_ERR_CONV', `Values of type ${typeStr(type)} cannot be scaled`)
  }
}

/** Returns the result if doubles compute it exactly and it fits every integer type; otherwise undefined. */
function scaledExactly(type: number, value: number, { multNumber, divNumber }: Plan): number | undefined {
  // While the dividend is below 2^53, the quotient cannot be rounded up to an integer.
  const size = value * multNumber + Math.floor(divNumber / 2)
  if (!(size >= 0 && size <= Number.MAX_SAFE_INTEGER) || !Number.isInteger(value)) return undefined
  const result = Math.floor(size / divNumber)
  return result <= LARGEST_32 || type === PM_TYPE_64 || type === PM_TYPE_U64 ? result : undefined
}

function scaledWide(type: number, value: number | bigint, { mult, div }: Plan): number | bigint {
  if (typeof value === 'number' && !Number.isInteger(value))
    throw new PcpError('PM_ERR_CONV', `${value} is not a value of type ${typeStr(type)}`)
  return fitInteger((BigInt(value) * mult + div / 2n) / div, type)
}

function extraMap(source: Units, target: Units): Affine {
  const unit = source.extraUnit
  const scales = EXTRA_SCALES[unit]
  const [from, to] = [source.extraScale, target.extraScale]
  if (scales === undefined || unit < 1 || from < 1 || from > scales || to < 1 || to > scales) {
    throw noScale('extra unit')
  }
  if (unit === PM_EXTRA_TEMPERATURE) return TEMPERATURES[from - 1]![to - 1]!
  const factor = 1000 ** Math.abs(to - from)
  return { before: 0, mult: to > from ? factor : 1, div: to > from ? 1 : factor, after: 0 }
}

function applyAffine(type: number, value: number | bigint, map: Affine): number | bigint {
  const result = ((Number(value) + map.before) * map.mult) / map.div + map.after
  if (type === PM_TYPE_DOUBLE) return result
  if (type === PM_TYPE_FLOAT) return Math.fround(result)
  return fitInteger(BigInt(Math.trunc(result)), type)
}
