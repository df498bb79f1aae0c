/** The layout of pcp iostat. pcp-iostat(1) */
import { formatF, rightJustify } from '../../base/printf.ts'
import type { DiskStatistics } from './figures.ts'

/** A column: heading, width without decimals (for precisions 0, 1 and others), decimals beyond the precision. */
interface Column {
  readonly heading: string
  readonly widths: readonly [number, number, number]
  readonly extraDigits: number
}

const column = (heading: string, widths: Column['widths'], extraDigits = 0): Column => ({
  heading,
  widths,
  extraDigits,
})

/** In the order of the figures. */
export const COLUMNS: readonly Column[] = [
  column('rrqm/s', [6, 5, 5]),
  column('wrqm/s', [6, 5, 5]),
  column('r/s', [5, 5, 5]),
  column('w/s', [4, 4, 4]),
  column('rkB/s', [6, 6, 6]),
  column('wkB/s', [6, 6, 6]),
  column('avgrq-sz', [8, 7, 6], 1),
  column('avgqu-sz', [8, 7, 6], 1),
  column('await', [5, 5, 5]),
  column('r_await', [7, 6, 5]),
  column('w_await', [7, 6, 5]),
  column('%util', [5, 5, 5]),
]

const STAMP_WIDTH = 24
const DEVICE_WIDTH = 12

/** Formats a report with a number of decimals. */
export class Table {
  readonly #precision: number
  readonly #showsTime: boolean

  constructor(precision: number, showsTime: boolean) {
    this.#precision = precision
    this.#showsTime = showsTime
  }

  /** Returns the heading. */
  heading(): string {
    const cells = COLUMNS.map(({ heading, widths }) => rightJustify(heading, this.#width(widths)))
    return this.#showsTime ? this.#line('# Timestamp', 'Device', cells) : this.#line('', '# Device', cells)
  }

  /** Formats a line; question marks without figures. `stamp` is printed if times are shown. */
  row(stamp: string, device: string, figures: DiskStatistics | undefined): string {
    const cells = COLUMNS.map(({ widths, extraDigits }, i) => {
      const text = figures === undefined ? '?' : formatF(figures[i]!, this.#precision + extraDigits)
      return rightJustify(text, this.#width(widths))
    })
    return this.#line(stamp, device, cells)
  }

  #width([none, one, more]: Column['widths']): number {
    const precision = this.#precision
    return precision + (precision === 0 ? none : precision === 1 ? one : more)
  }

  #line(stamp: string, device: string, cells: readonly string[]): string {
    const begin = this.#showsTime ? `${stamp.padEnd(STAMP_WIDTH)} ` : ''
    return `${begin}${device.padEnd(DEVICE_WIDTH)} ${cells.join(' ')}\n`
  }
}
