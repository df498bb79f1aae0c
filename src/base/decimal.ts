/**
 * Doubles as decimal digits, exactly rounded as printf rounds them (half to even), for the usual range of values.
 * A product with a power of ten is the exact sum of two doubles, so no case is a guess.
 */

/** The parts of a decimal number: `whole` before the point, `fraction` of `places` digits after it. */
export interface DecimalParts {
  whole: number
  fraction: number
  places: number
}

/** Powers of ten that a double holds exactly. */
const POWERS: Float64Array = Float64Array.from({ length: 23 }, (_, i) => Number(`1e${i}`))
/** From here on not every integer is a double. */
const EXACT = 2 ** 53
/** Multiplying by this splits a double into halves whose products are exact. */
const SPLITTER = 2 ** 27 + 1
/** Products below this are rounded by less than `DOUBT`. */
const EASY = 2 ** 40
/** This close to a half only exact arithmetic can decide how to round. */
const DOUBT = 1e-3
/** `%g` writes smaller numbers with an exponent. */
const SMALLEST = 1e-4

/**
 * Rounds `value` to `digits` (at most 16) significant digits. Returns false, without filling in `parts`, for numbers that `%g` writes
 * with an exponent or that exceed this arithmetic, including negative zero, infinities and NaN.
 */
export function splitDecimal(value: number, digits: number, parts: DecimalParts): boolean {
  const size = Math.abs(value)
  if (!(size >= SMALLEST && size < EXACT)) {
    parts.whole = 0
    parts.fraction = 0
    return Object.is(value, 0)
  }
  const whole = Math.floor(size)
  if (whole > 0) {
    const before = digitsOf(whole)
    if (before > digits) return false
    if (whole === size) {
      parts.whole = whole
      parts.fraction = 0
      return true
    }
    // Rounding up may add a digit before the point; the fraction is zero then.
    return scale(whole, size - whole, digits - before, parts) && parts.whole < POWERS[digits]!
  }
  const leading = size >= 0.1 ? 0 : size >= 0.01 ? 1 : size >= 0.001 ? 2 : 3
  return scale(0, size, digits + leading, parts)
}

/** Rounds `value` to `places` (at most 22) digits after the point. Returns false, without filling in `parts`, as `splitDecimal` does. */
export function splitFixed(value: number, places: number, parts: DecimalParts): boolean {
  const size = Math.abs(value)
  if (!(size < EXACT) || places > 15 || Object.is(value, -0)) return false
  const whole = Math.floor(size)
  return scale(whole, size - whole, places, parts)
}

/** Returns `|value| * 10^places`, rounded, if below 2^40; -1 for larger numbers, negative zero, and if exact arithmetic is needed. */
export function scaledInteger(value: number, places: number): number {
  const product = Math.abs(value) * POWERS[places]!
  if (!(product < EASY)) return -1
  const floor = Math.floor(product)
  const rest = product - floor
  if (Math.abs(rest - 0.5) < DOUBT || (product === 0 && Object.is(value, -0))) return -1
  return rest > 0.5 ? floor + 1 : floor
}

/** Counts the digits of a natural number below 2^53. */
export function digitsOf(value: number): number {
  let digits = 1
  while (digits < 16 && value >= POWERS[digits]!) digits++
  return digits
}

/** Fills in `whole` and `fraction * 10^places`, rounded; false when that product is too large to be exact. */
function scale(whole: number, fraction: number, places: number, parts: DecimalParts): boolean {
  const power = POWERS[places]!
  const product = fraction * power
  if (product >= EXACT) return false
  const error = productError(fraction, power, product)
  let floor = Math.floor(product)
  let rest = product - floor
  if (rest + error < 0) {
    floor--
    rest += 1
  }
  // `rest - 0.5` is exact where it matters, so the sign of the sum is that of the exact difference.
  const beyondHalf = rest - 0.5 + error
  if (beyondHalf > 0 || (beyondHalf === 0 && isOdd(places === 0 ? whole : floor))) floor++
  parts.places = places
  if (floor === power) {
    parts.whole = whole + 1
    parts.fraction = 0
  } else {
    parts.whole = whole
    parts.fraction = floor
  }
  return true
}

/** Returns the exact rounding error of `product` as `a * b`. */
function productError(a: number, b: number, product: number): number {
  const aScaled = SPLITTER * a
  const aHigh = aScaled - (aScaled - a)
  const aLow = a - aHigh
  const bScaled = SPLITTER * b
  const bHigh = bScaled - (bScaled - b)
  const bLow = b - bHigh
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

function isOdd(value: number): boolean {
  return value % 2 === 1
}
