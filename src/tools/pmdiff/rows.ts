/** Which averages differ, and the lines that say so. pmdiff(1) */
import { formatF } from '../../base/printf.ts'

/** Averages on both sides that differ. */
export interface Row {
  readonly name: string
  readonly before: number
  readonly after: number
  /** As the report has it. */
  readonly ratio: string
}

/** Beyond these, ratios are not told apart. */
const [LARGE, SMALL] = [100, 0.001]
/** Below this, a ratio needs a third digit. */
const THREE_DIGITS = 0.01

/** The averages whose ratio is `threshold` or more, or one over that or less, the largest ratio first. */
export function rowsOf(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  threshold: number,
): Row[] {
  const rows: (Row & { readonly order: number })[] = []
  for (const [name, old] of before) {
    const now = after.get(name)
    if (now === undefined || Number.isNaN(old) || Number.isNaN(now) || (old === 0 && now === 0)) continue
    const ratio = old === 0 ? Number.POSITIVE_INFINITY : now / old
    if (old !== 0 && now !== 0 && ratio < threshold && ratio > 1 / threshold) continue
    const text = now === 0 ? '|-|' : ratioText(ratio)
    rows.push({ name, before: old, after: now, ratio: text, order: orderOf(text) })
  }
  return rows.sort((a, b) => b.order - a.order || compare(a.name, b.name))
}

function ratioText(ratio: number): string {
  if (ratio === Number.POSITIVE_INFINITY) return '|+|'
  if (ratio > LARGE) return `>${LARGE}`
  if (ratio < SMALL) return `<${formatF(SMALL, 3)}`
  return formatF(ratio, ratio < THREE_DIGITS ? 3 : 2)
}

/** Lines stand in the order of what is printed, so that equal ratios are in the order of names. */
function orderOf(ratio: string): number {
  if (ratio === '|+|') return Number.MAX_VALUE
  if (ratio === '|-|') return -1
  if (ratio.startsWith('>')) return LARGE + 1
  return ratio.startsWith('<') ? 0 : Number(ratio)
}

/** The order of bytes, which no locale changes. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Width of the averages' columns beyond their digits after the point. */
const COLUMN = 12
/** Averages above these have a digit less behind the point, up to the last: that has none left. */
const STEPS = [9, 99, 999]
/** Larger ones take the whole column. */
const FITS = 99_999_999

/** The width of a column of averages. */
export function columnWidth(precision: number): number {
  return COLUMN + precision
}

/** The line of a row. */
export function rowLine({ name, before, after, ratio }: Row, precision: number): string {
  return `${cell(before, precision)} ${cell(after, precision)}${ratioCell(ratio)}${name}\n`
}

/** An average, its point below that of others while it is small. */
function cell(value: number, precision: number): string {
  const width = columnWidth(precision)
  const above = STEPS.filter((step) => value > step).length
  if (above < STEPS.length) {
    const text = formatF(value, Math.max(0, precision - above))
    return `${text.padStart(width - above)}${' '.repeat(above)}`
  }
  const text = formatF(value, 0)
  if (value > FITS) return text.padStart(width)
  return `${text.padStart(width - precision - 1)}${' '.repeat(precision + 1)}`
}

/** Ratios with two digits have their points below each other; PCP has that of a hundred further on by one. */
function ratioCell(ratio: string): string {
  if (/\.\d\d\d$/.test(ratio)) return `${ratio.padStart(8)}  `
  return `${ratio.padStart(ratio.length > 5 ? 8 : 7)}   `
}
