/** Formats dstat's values: numbers that fit their column, with a letter for the unit. pcp-dstat(5) */
import { formatF } from '../../base/printf.ts'
import type { Cell } from '../lib/report/values.ts'
import type { PrintType } from './plugins.ts'
import type { Theme } from './theme.ts'

/** Format of a column's values. */
export interface CellStyle {
  readonly width: number
  readonly printType: PrintType
  readonly colorStep: number | undefined
  /** Values are sizes: the base is 1024, and bytes have a letter too. */
  readonly isSpace: boolean
  /** No letter after the number. */
  readonly isBare: boolean
  /** Show sizes in bits. */
  readonly isBits: boolean
}

const SPACE = ['B', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y']
const BITS = ['b', ...SPACE.slice(1)]
const COUNT = [' ', ...SPACE.slice(1)]
/** Percent. */
const WHOLE = 100
/** A column of this width has no room for a letter. */
const NO_LETTER_WIDTH = 3

/** Formats a value in the width of its column, with colours. Negative values become a dash, except percentages, where they are rounding errors of 0. */
export function cellText(cell: Cell, style: CellStyle, theme: Theme): string {
  const { width, printType } = style
  if (cell === undefined) return theme.missing + ' '.repeat(width)
  if (typeof cell === 'string') return theme.text + theme.data(cell).slice(0, width).padEnd(width)
  const value = Number(cell)
  if (!Number.isFinite(value)) return theme.missing + ' '.repeat(width)
  if (printType === 't') return minutesText(value, width, theme)
  if (value < 0 && printType !== 'p') {
    const dash = hasLetter(style) ? `${'-'.padStart(width - 1)} ` : '-'.padStart(width)
    return theme.error + dash + theme.reset
  }
  return numberText(Math.max(0, value), style, theme)
}

function hasLetter({ width, colorStep, isBare }: CellStyle): boolean {
  return colorStep === undefined && !isBare && width > NO_LETTER_WIDTH
}

function numberText(value: number, style: CellStyle, theme: Theme): string {
  const { width, printType, isSpace, isBits } = style
  const toBits = isBits && isSpace && printType === 'b'
  const base = isSpace && !toBits ? 1024 : 1000
  const isLettered = hasLetter(style)
  const room = isLettered ? width - 1 : width
  const amount = toBits ? value * 8 : value
  const { text, power } =
    amount === 0
      ? { text: '0', power: 0 }
      : printType === 'f'
        ? fractionText(amount, room, base)
        : wholeText(amount, room, base)
  if (text === '0') return theme.zero + '0'.padStart(room) + (isLettered ? ' ' : '')
  const letters = toBits ? BITS : isSpace ? SPACE : COUNT
  // Values below 1 have no letter.
  const letter = roundEven(amount) === 0 ? ' ' : theme.unit + (letters[power] ?? '*')
  return colorOf(value, power, style, theme) + text.padStart(room) + (isLettered ? letter : '')
}

function colorOf(value: number, power: number, { printType, colorStep }: CellStyle, theme: Theme): string {
  if (printType === 'p' && roundEven(value) >= WHOLE) return theme.done
  if (colorStep !== undefined && colorStep !== 0) return theme.step(Math.trunc(value / colorStep))
  return printType === 'p' ? theme.text : theme.step(power)
}

/** Divides by the base until the value fits; returns the number of divisions. */
function wholeText(value: number, room: number, base: number): { text: string; power: number } {
  let power = 0
  for (let rest = value; ; rest /= base, power++) {
    const text = String(roundEven(rest))
    if (text.length <= room) return { text, power }
  }
}

/** Formats with as many decimals as fit. */
function fractionText(value: number, room: number, base: number): { text: string; power: number } {
  let rest = value
  let power = 0
  while (String(Math.trunc(rest)).length > room) {
    rest /= base
    power++
  }
  for (let decimals = room - String(Math.trunc(rest)).length - 1; decimals > 0; decimals--) {
    const text = formatF(rest, decimals)
    if (text.length <= room) return { text, power }
  }
  return { text: formatF(rest, 0), power }
}

/** Rounds half to even, as Python does. */
function roundEven(value: number): number {
  const floor = Math.floor(value)
  const part = value - floor
  if (part !== 0.5) return Math.round(value)
  return floor % 2 === 0 ? floor : floor + 1
}

function minutesText(minutes: number, width: number, theme: Theme): string {
  const hours = Math.floor(minutes / 60)
  const days = Math.floor(hours / 24)
  const weeks = Math.floor(days / 7)
  const forms = [`${hours}h${String(Math.floor(minutes % 60)).padStart(2, '0')}`, `${days}d`, `${weeks}w`]
  const at = forms.findIndex((form) => form.length <= width)
  return theme.text + (forms[at] ?? forms[2]!).slice(0, width).padStart(width)
}

/** Centers a text and cuts it to a width. An odd blank is placed as by Python's `center`. */
export function centered(text: string, width: number): string {
  const cut = text.slice(0, width)
  const pad = width - cut.length
  if (pad <= 0) return cut
  const left = (pad >> 1) + (pad & width & 1)
  return ' '.repeat(left) + cut + ' '.repeat(pad - left)
}
