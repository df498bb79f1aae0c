/** pmrep's report for programs: comma-separated values. pmrep(1) -o csv */
import { ByteText } from '../../base/byte-text.ts'
import { encodeText } from '../../base/text.ts'
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { utcOffset } from '../lib/report/stamps.ts'
import type { Cell } from '../lib/report/values.ts'
import { allColumns, areSame, CellFinder, type Column, presentColumns } from './columns.ts'
import { HeadingClock, type Layout } from './layout.ts'

const NEWLINE = 0x0a

/** Prints CSV. */
export class CsvReporter implements Reporter {
  readonly #layout: Layout
  readonly #clock: HeadingClock
  readonly #finder = new CellFinder()
  readonly #text = new ByteText(4096)
  readonly #between: Uint8Array
  #columns: readonly Column[]
  #before: Timestamp | undefined

  constructor(layout: Layout) {
    const { plan } = layout
    this.#layout = layout
    this.#between = encodeText(layout.delimiter)
    // Headings are repeated only where they may change: elsewhere a reader takes the first line for them.
    this.#clock = new HeadingClock(plan.settings.dynamic_header ? layout.repeatAfter : undefined)
    this.#columns = plan.settings.dynamic_header ? [] : allColumns(plan)
  }

  begin(): void {
    const { plan, write } = this.#layout
    if (!plan.settings.dynamic_header && plan.settings.header) write(this.#heading())
  }

  sample(sample: Sample): void {
    const { plan, write, writeBytes, delimiter } = this.#layout
    const { dynamic_header, header } = plan.settings
    const isDue = this.#clock.isDue()
    if (dynamic_header) {
      const columns = presentColumns(plan, sample.readings)
      const isNew = !areSame(columns, this.#columns)
      this.#columns = columns
      if ((isNew || isDue) && columns.length > 0 && header) {
        write(this.#heading())
        this.#clock.restart(true)
      }
    }
    const text = this.#text
    text.clear()
    text.text(this.#prefix(sample))
    const columns = this.#columns
    const times = plan.settings.include_labels ? 2 : 1
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!
      const cell = this.#finder.cell(i, column, sample.readings)
      // Below its labels a value stands again, as in 6.0.3.
      for (let n = 0; n < times; n++) {
        text.raw(this.#between)
        putCsvCell(text, cell, column, delimiter)
      }
    }
    text.byte(NEWLINE)
    writeBytes(text.written())
  }

  end(): void {}

  #heading(): string {
    const { plan, delimiter, labels } = this.#layout
    const { extcsv, include_labels, csv_unitinfo } = plan.settings
    const names = ['Time']
    for (const { metric, inst, instance } of this.#columns) {
      const unit = csv_unitinfo && metric.units.text !== '' ? ` (${metric.units.text})` : ''
      names.push(quoted(metric.hasInstances ? `${metric.name}-${instance}${unit}` : `${metric.name}${unit}`))
      // A comma would end the column.
      if (include_labels)
        names.push(quoted(withoutCommas(labelText(labels.get(metric.name), inst), delimiter)))
    }
    // Commas here whatever the delimiter is, as in the reference.
    return `${extcsv ? 'Host,Interval,' : ''}${names.join(delimiter)}\n`
  }

  #prefix({ time }: Sample): string {
    const { plan, stamps, delimiter } = this.#layout
    const stamp = stamps.text(time)
    if (!plan.settings.extcsv) return stamp
    const elapsed = this.#before === undefined ? 0 : Math.floor(secondsBetween(this.#before, time) + 0.5)
    this.#before = time
    return [plan.host, String(elapsed), `${stamp} ${utcOffset(plan.zone, time.sec)}`].join(delimiter)
  }
}

function withoutCommas(text: string, delimiter: string): string {
  return delimiter === ',' ? text.replaceAll(',', ';') : text
}

function quoted(text: string): string {
  return `"${text}"`
}

/** Nothing where there is no value; numbers without a string on the way. */
function putCsvCell(to: ByteText, cell: Cell, { isReal, precision }: Column, delimiter: string): void {
  if (cell === undefined) return
  if (typeof cell === 'string') {
    const line = cell.replaceAll(/["\n]/g, ' ')
    to.text(quoted(delimiter.trim() === '' ? line : line.replaceAll(delimiter, '_')))
  } else if (isReal) to.fixed(Number(cell), precision)
  else if (typeof cell === 'number' && Number.isSafeInteger(cell)) to.int(cell)
  else to.text(String(cell))
}
