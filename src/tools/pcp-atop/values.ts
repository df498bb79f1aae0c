/** Numbers as atop shows them: as many digits as fit, then a larger unit or a power of ten. pcp-atop(1) OUTPUT DESCRIPTION */

import { formatF } from '../../base/printf.ts'

/** A count in a column; one that is too wide becomes its first digits and a power of ten: `721109e3`. */
export function countText(value: number, width: number): string {
  const whole = Math.trunc(value)
  const plain = String(whole)
  if (plain.length <= width) return plain.padStart(width)
  // Two places are for `e` and the power.
  const room = Math.max(1, width - 2 - (whole < 0 ? 1 : 0))
  let power = 0
  let rest = Math.abs(whole)
  while (Math.round(rest) >= 10 ** room) {
    rest /= 10
    power++
  }
  return `${whole < 0 ? '-' : ''}${Math.round(rest)}e${power}`.padStart(width)
}

/** A count of an interval, or where `seconds` is given how many of them a second: `1350e3/s`. */
export function rateText(value: number, width: number, seconds: number | undefined): string {
  if (seconds === undefined) return countText(value, width)
  return `${countText(Math.round(value / seconds), width - 2)}/s`
}

/** The smallest unit that a size is shown in. */
export type SizeUnit = 'B' | 'K' | 'M'

const KIB = 1024
const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ['K', KIB],
  ['M', KIB ** 2],
  ['G', KIB ** 3],
  ['T', KIB ** 4],
  ['P', KIB ** 5],
]
/** From this many of a unit on the next larger one is taken: more would be too wide. */
const MOST_OF_A_UNIT = 999
/** Sizes a second have tenths below this. */
const MOST_WITH_TENTHS = 9

/** A size in bytes, six places: `12.0K`, `358.0M`, `-76.0K`, `-0.1M`; `smallest` is the unit of small ones. */
export function sizeText(bytes: number, smallest: SizeUnit): string {
  if (smallest === 'B' && bytes >= 0 && bytes <= KIB) return `${Math.trunc(bytes)}B`.padStart(6)
  const first = smallest === 'M' ? 1 : 0
  let i = first
  while (i < SIZES.length - 1 && Math.abs(bytes) >= MOST_OF_A_UNIT * SIZES[i]![1]) i++
  let text: string
  do {
    const [unit, size] = SIZES[i]!
    text = `${formatF(bytes / size, 1)}${unit}`
    // A sign takes a place: what is too wide with it is shown in the next unit.
  } while (text.length > 6 && ++i < SIZES.length)
  return text.padStart(6)
}

/** A size in bytes a second, six places: `11M/s`, `8.4M/s`, `9M/s`, `34K/s`. */
export function sizeRateText(bytes: number, seconds: number): string {
  const amount = bytes / seconds
  if (amount >= 0 && amount <= KIB) return `${Math.trunc(amount)}B/s`.padStart(6)
  let i = amount < 0 ? 1 : 0
  while (i < SIZES.length - 1 && Math.abs(amount) >= MOST_OF_A_UNIT * SIZES[i]![1]) i++
  const [unit, size] = SIZES[i]!
  const number = amount / size
  // Halves are whole ones, unlike what printf makes of them.
  const text = Math.abs(number) < MOST_WITH_TENTHS ? formatF(number, 1) : String(Math.round(number))
  return `${text}${unit}/s`.padStart(6)
}

/** Time of processors in milliseconds, six places: `44.94s`, `61m45s`, `4h29m`, `12d03h`. */
export function cpuTimeText(ms: number): string {
  const seconds = ms / 1000
  // Hundredths that are not full do not count.
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

/** A share in percent, to the nearest whole number. */
export function percentText(percent: number): string {
  return `${formatF(percent, 0)}%`
}

/** A time that passed: `10s`, `17m49s`, `2m0s`, `51d4h41m8s`. */
export function elapsedText(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m${whole % 60}s`
  const hours = Math.floor(minutes / 60)
  const days = hours < 24 ? '' : `${Math.floor(hours / 24)}d`
  return `${days}${hours % 24}h${minutes % 60}m${whole % 60}s`
}

/** A frequency in MHz, seven places: ` 186MHz`, `1.49GHz`. */
export function frequencyText(mhz: number): string {
  const whole = Math.trunc(mhz)
  if (whole < 1000) return `${whole}MHz`.padStart(7)
  const [amount, unit] = whole < 1e6 ? [whole / 1000, 'GHz'] : [whole / 1e6, 'THz']
  return `${formatF(amount, amount < 10 ? 2 : amount < 100 ? 1 : 0)}${unit}`.padStart(7)
}

/** A bandwidth in kilobits a second, nine places: ` 584 Mbps`. */
export function bandwidthText(kbits: number): string {
  const [amount, unit] =
    kbits < 10_000 ? [kbits, 'K'] : kbits < 10_000_000 ? [kbits / 1000, 'M'] : [kbits / 1e6, 'G']
  return `${String(Math.min(9999, Math.trunc(amount))).padStart(4)} ${unit}bps`
}

/** How long something took, in milliseconds, seven places: `16.2 ms`, `0.0 ns`. */
export function latencyText(ms: number): string {
  const [amount, unit] = ms >= 0.1 ? [ms, 'ms'] : ms >= 1e-4 ? [ms * 1000, 'us'] : [ms * 1e6, 'ns']
  const decimals = amount === 0 ? 1 : amount < 10 ? 2 : amount < 100 ? 1 : 0
  return `${formatF(amount, decimals).padStart(4)} ${unit}`
}
