/** Selects and formats averages that differ. pmdiff(1) */
import { formatF } from '../../base/printf.ts'

/** Averages that differ. */
export interface Row {
  readonly name: string
  readonly before: number
  readonly after: number
  /** As printed. */
  readonly ratio: string
}

/** Ratios outside this range are shown as the limit. */
const [LARGE, SMALL] = [100, 0.001]
/** Ratios below this are shown with a third digit. */
const THREE_DIGITS = 0.01

/** Returns the averages with a ratio of at least `threshold`, or at most its inverse, by descending ratio. */
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

/** Sorts by the printed ratio, so that rows with equal ratios are sorted by name. */
function orderOf(ratio: string): number {
  if (ratio === '|+|') return Number.MAX_VALUE
  if (ratio === '|-|') return -1
  if (ratio.startsWith('>')) return LARGE + 1
  return ratio.startsWith('<') ? 0 : Number(ratio)
}

/** Compares byte order, independent of the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Width of a column without the digits after the point. */
const COLUMN = 12
/** Above each of these, an average has one decimal digit less. */
const STEPS = [9, 99, 999]
/** Larger averages use the whole column. */
const FITS = 99_999_999

/** Returns the width of a column of averages. */
export function columnWidth(precision: number): number {
  return COLUMN + precision
}

/** Formats a row. */
export function rowLine({ name, before, after, ratio }: Row, precision: number): string {
  return `${cell(before, precision)} ${cell(after, precision)}${ratioCell(ratio)}${name}\n`
}

/** Formats an average; decimal points of small ones are aligned. */
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

/** Aligns ratios with two digits at the decimal point; like PCP, one of a hundred is a column further right. */
function ratioCell(ratio: string): string {
  if (/\.\d\d\d$/.test(ratio)) return `${ratio.padStart(8)}  `
  return `${ratio.padStart(ratio.length > 5 ? 8 : 7)}   `
}
