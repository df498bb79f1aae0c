/** Formats numbers to fit: as many digits as possible, then a larger unit or a power of ten. pcp-atop(1) OUTPUT DESCRIPTION */

import { formatF } from '../../base/printf.ts'

/** Formats a count; one too wide becomes its first digits and a power of ten: `721109e3`. */
export function countText(value: number, width: number): string {
  const whole = Math.trunc(value)
  const plain = String(whole)
  if (plain.length <= width) return plain.padStart(width)
  // Two columns are for `e` and the power.
  const room = Math.max(1, width - 2 - (whole < 0 ? 1 : 0))
  let power = 0
  let rest = Math.abs(whole)
  while (Math.round(rest) >= 10 ** room) {
    rest /= 10
    power++
  }
  return `${whole < 0 ? '-' : ''}${Math.round(rest)}e${power}`.padStart(width)
}

/** Formats a count of an interval, or with `seconds` a rate: `1350e3/s`. */
export function rateText(value: number, width: number, seconds: number | undefined): string {
  if (seconds === undefined) return countText(value, width)
  return `${countText(Math.round(value / seconds), width - 2)}/s`
}

/** The smallest unit of a size. */
export type SizeUnit = 'B' | 'K' | 'M'

const KIB = 1024
const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ['K', KIB],
  ['M', KIB ** 2],
  ['G', KIB ** 3],
  ['T', KIB ** 4],
  ['P', KIB ** 5],
]
/** A larger number takes the next unit, as it would be too wide. */
const MOST_OF_A_UNIT = 999
/** Rates above this have no decimal. */
const MOST_WITH_TENTHS = 9

/** Formats bytes in six columns: `12.0K`, `358.0M`, `-76.0K`, `-0.1M`; `smallest` is the smallest unit. */
export function sizeText(bytes: number, smallest: SizeUnit): string {
  if (smallest === 'B' && bytes >= 0 && bytes <= KIB) return `${Math.trunc(bytes)}B`.padStart(6)
  const first = smallest === 'M' ? 1 : 0
  let i = first
  while (i < SIZES.length - 1 && Math.abs(bytes) >= MOST_OF_A_UNIT * SIZES[i]![1]) i++
  let text: string
  do {
    const [unit, size] = SIZES[i]!
    text = `${formatF(bytes / size, 1)}${unit}`
    // A sign takes a column, and may require the next unit.
  } while (text.length > 6 && ++i < SIZES.length)
  return text.padStart(6)
}

/** Formats bytes a second in six columns: `11M/s`, `8.4M/s`, `9M/s`, `34K/s`. */
export function sizeRateText(bytes: number, seconds: number): string {
  const amount = bytes / seconds
  if (amount >= 0 && amount <= KIB) return `${Math.trunc(amount)}B/s`.padStart(6)
  let i = amount < 0 ? 1 : 0
  while (i < SIZES.length - 1 && Math.abs(amount) >= MOST_OF_A_UNIT * SIZES[i]![1]) i++
  const [unit, size] = SIZES[i]!
  const number = amount / size
  // Unlike in printf, halves are rounded up.
  const text = Math.abs(number) < MOST_WITH_TENTHS ? formatF(number, 1) : String(Math.round(number))
  return `${text}${unit}/s`.padStart(6)
}

/** Formats milliseconds of processor time in six columns: `44.94s`, `61m45s`, `4h29m`, `12d03h`. */
export function cpuTimeText(ms: number): string {
  const seconds = ms / 1000
  // Hundredths are rounded down.
  if (seconds < 100) return `${formatF(Math.trunc(ms / 10) / 100, 2)}s`.padStart(6)
  const whole = Math.round(seconds)
  const minutes = Math.floor(whole / 60)
  if (minutes < 100) return pair(minutes, 'm', whole % 60, 's')
  const allMinutes = Math.round(whole / 60)
  const hours = Math.floor(allMinutes / 60)
  if (hours < 100) return pair(hours, 'h', allMinutes % 60, 'm')
  const allHours = Math.round(allMinutes / 60)
  return pair(Math.floor(allHours / 24), 'd', allHours % 24, 'h')
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large}${largeUnit}${String(small).padStart(2, '0')}${smallUnit}`.padStart(6)
}

/** Formats a percentage, rounded to an integer. */
export function percentText(percent: number): string {
  return `${formatF(percent, 0)}%`
}

/** Formats elapsed time: `10s`, `17m49s`, `2m0s`, `51d4h41m8s`. */
export function elapsedText(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m${whole % 60}s`
  const hours = Math.floor(minutes / 60)
  const days = hours < 24 ? '' : `${Math.floor(hours / 24)}d`
  return `${days}${hours % 24}h${minutes % 60}m${whole % 60}s`
}

/** Formats a frequency in MHz in seven columns: ` 186MHz`, `1.49GHz`. */
export function frequencyText(mhz: number): string {
  const whole = Math.trunc(mhz)
  if (whole < 1000) return `${whole}MHz`.padStart(7)
  const [amount, unit] = whole < 1e6 ? [whole / 1000, 'GHz'] : [whole / 1e6, 'THz']
  return `${formatF(amount, amount < 10 ? 2 : amount < 100 ? 1 : 0)}${unit}`.padStart(7)
}

/** Formats kilobits a second in nine columns: ` 584 Mbps`. */
export function bandwidthText(kbits: number): string {
  const [amount, unit] =
    kbits < 10_000 ? [kbits, 'K'] : kbits < 10_000_000 ? [kbits / 1000, 'M'] : [kbits / 1e6, 'G']
  return `${String(Math.min(9999, Math.trunc(amount))).padStart(4)} ${unit}bps`
}

/** Formats milliseconds in seven columns: `16.2 ms`, `0.0 ns`. */
export function latencyText(ms: number): string {
  const [amount, unit] = ms >= 0.1 ? [ms, 'ms'] : ms >= 1e-4 ? [ms * 1000, 'us'] : [ms * 1e6, 'ns']
  const decimals = amount === 0 ? 1 : amount < 10 ? 2 : amount < 100 ? 1 : 0
  return `${formatF(amount, decimals).padStart(4)} ${unit}`
}
