/** Numbers and padding as C's printf formats them. JavaScript rounds exact ties away from zero, C to even. */

/** Formats `%.{precision}g`: `precision` significant digits, in fixed or exponent form, without trailing zeros. */
export function formatG(value: number, precision = 6): string {
  if (!Number.isFinite(value)) return notFinite(value)
  const digits = Math.max(1, precision)
  // Integers that fit print unchanged: most values that tools show.
  if (Number.isSafeInteger(value) && Math.abs(value) < 10 ** digits) return signed(value, String(value))
  const rounded = exponential(value, digits - 1)
  const at = rounded.indexOf('e')
  const exponent = Number(rounded.slice(at + 1))
  return exponent < -4 || exponent >= digits
    ? withoutZeros(rounded.slice(0, at)) + cExponent(exponent)
    : withoutZeros(formatF(value, digits - 1 - exponent))
}

/** Formats `%.{precision}e`: one digit, a point, `precision` digits, an exponent of at least two digits. */
export function formatE(value: number, precision = 6): string {
  if (!Number.isFinite(value)) return notFinite(value)
  const rounded = exponential(value, precision)
  const at = rounded.indexOf('e')
  return rounded.slice(0, at) + cExponent(Number(rounded.slice(at + 1)))
}

/** Formats `%.{precision}f`, `precision` at most 99. */
export function formatF(value: number, precision = 6): string {
  const power = POWERS[precision]
  const size = Math.abs(value)
  if (power !== undefined && size < EXACT) {
    const units = Math.floor(size)
    const scaled = (size - units) * power
    const whole = Math.floor(scaled)
    const rest = scaled - whole
    // Far from a tie the digits of integers are enough: a third of the time of toFixed.
    if (Math.abs(rest - 0.5) > TIE) {
      const decimals = rest > 0.5 ? whole + 1 : whole
      const sign = value < 0 || Object.is(value, -0) ? '-' : ''
      return (
        sign +
        (decimals === power ? fixedText(units + 1, 0, precision) : fixedText(units, decimals, precision))
      )
    }
  }
  if (!Number.isFinite(value)) return notFinite(value)
  // toFixed switches to exponents at 1e21; from there on every double is an integer.
  if (Math.abs(value) >= 1e21) return BigInt(value) + (precision === 0 ? '' : `.${'0'.repeat(precision)}`)
  const longer = value.toFixed(precision + 1)
  const isTie = longer.endsWith('5') && isExactly(value.toFixed(100), longer)
  return signed(value, isTie ? tieToEven(longer, value.toFixed(precision)) : value.toFixed(precision))
}

/** Powers of ten by number of decimals. */
const POWERS: readonly number[] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]
/** Numbers below this have an exact integer part; their decimals are off by far less than TIE. */
const EXACT = 2 ** 53
const TIE = 1e-5

/** Returns a number with so many decimals, which are an integer below that power of ten. */
function fixedText(units: number, decimals: number, precision: number): string {
  return precision === 0 ? String(units) : `${units}.${String(decimals).padStart(precision, '0')}`
}

/** Pads on the left to `width` bytes of UTF-8, as `%*s` does. */
export function rightJustify(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - byteWidth(text))) + text
}

/** Returns the length of text in UTF-8; an escaped byte (`base/text.ts`) counts as one. */
export function byteWidth(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit < 0xd800 || unit >= 0xe000) bytes += 2
    else if (unit >= 0xdc80 && unit <= 0xdcff) continue
    else if (unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2 // two units, four bytes
      i++
    } else bytes += 2 // encoded as U+FFFD
  }
  return bytes
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/** Like toExponential, with C's rounding. */
function exponential(value: number, precision: number): string {
  const rounded = value.toExponential(precision)
  const longer = value.toExponential(precision + 1)
  const at = longer.indexOf('e')
  if (longer[at - 1] !== '5' || !isExactly(value.toExponential(100), longer.slice(0, at))) {
    return signed(value, rounded)
  }
  // Only a last digit 9 carries into the exponent, and then rounding up gives the even neighbour.
  const end = rounded.indexOf('e')
  return signed(value, tieToEven(longer.slice(0, at), rounded.slice(0, end)) + rounded.slice(end))
}

/** Returns whether an exact expansion (100 decimals are enough) continues `prefix` with zeros only. */
function isExactly(expansion: string, prefix: string): boolean {
  return expansion.startsWith(prefix) && /^0*(?:e|$)/.test(expansion.slice(prefix.length))
}

/** Returns the even one of a tie's neighbours: `longer` without its final 5, or `up`. */
function tieToEven(longer: string, up: string): string {
  const down = longer.slice(0, longer[longer.length - 2] === '.' ? -2 : -1)
  return Number(down[down.length - 1]) % 2 === 0 ? down : up
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

function cExponent(exponent: number): string {
  const size = Math.abs(exponent)
  return `e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`
}

/** JavaScript drops the sign of a negative zero, C keeps it. */
function signed(value: number, text: string): string {
  return Object.is(value, -0) ? `-${text}` : text
}

function notFinite(value: number): string {
  return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf'
}
