/** pmrep's report as comma-separated values. pmrep(1) -o csv */
import { encodeText } from '../../base/text.ts'
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { NO_VALUES } from '../../model/value-columns.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { utcOffset } from '../lib/report/stamps.ts'
import { putCsvCell, quoted } from './cell-bytes.ts'
import { allColumns, areSame, type Column, ColumnPlaces, presentColumns } from './columns.ts'
import { HeadingClock, type Layout, LineBuffer } from './layout.ts'

export class CsvReporter implements Reporter {
  readonly #layout: Layout
  readonly #clock: HeadingClock
  readonly #places = new ColumnPlaces()
  readonly #lines: LineBuffer
  readonly #between: Uint8Array
  #columns: readonly Column[]
  #before: Timestamp | undefined

  constructor(layout: Layout) {
    const { plan } = layout
    this.#layout = layout
    this.#lines = new LineBuffer(layout)
    this.#between = encodeText(layout.delimiter)
    // Repeat headings only if they can change, as readers expect a single heading line.
    this.#clock = new HeadingClock(plan.settings.dynamic_header ? layout.repeatAfter : undefined)
    this.#columns = plan.settings.dynamic_header ? [] : allColumns(plan)
  }

  begin(): void {
    const { settings } = this.#layout.plan
    if (settings.dynamic_header || !settings.header) return
    this.#lines.text.text(this.#heading())
    this.#lines.flush()
  }

  sample({ time, values }: Sample): void {
    const { plan, delimiter } = this.#layout
    const { dynamic_header, header } = plan.settings
    const isDue = this.#clock.isDue()
    if (dynamic_header) {
      const columns = presentColumns(plan, values)
      const isNew = !areSame(columns, this.#columns)
      this.#columns = columns
      if ((isNew || isDue) && columns.length > 0 && header) {
        this.#lines.text.text(this.#heading())
        this.#clock.restart(true)
      }
    }
    const { text } = this.#lines
    text.text(this.#prefix(time))
    const columns = this.#columns
    const places = this.#places.of(columns, values)
    const times = plan.settings.include_labels ? 2 : 1
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!
      const cells = values[column.at] ?? NO_VALUES
      // As in 6.0.3, with labels each value is written twice.
      for (let n = 0; n < times; n++) {
        text.raw(this.#between)
        putCsvCell(text, cells, places[i]!, column, delimiter)
      }
    }
    this.#lines.end()
  }

  end(): void {
    this.#lines.flush()
  }

  #heading(): string {
    const { plan, delimiter, labels } = this.#layout
    const { extcsv, include_labels, csv_unitinfo } = plan.settings
    const names = ['Time']
    for (const { metric, inst, instance } of this.#columns) {
      const unit = csv_unitinfo && metric.units.text !== '' ? ` (${metric.units.text})` : ''
      names.push(quoted(metric.hasInstances ? `${metric.name}-${instance}${unit}` : `${metric.name}${unit}`))
      // A comma would end the cell.
      if (include_labels)
        names.push(quoted(withoutCommas(labelText(labels.get(metric.name), inst), delimiter)))
    }
    // As in the reference, commas are used here even with another delimiter.
    return `${extcsv ? 'Host,Interval,' : ''}${names.join(delimiter)}\n`
  }

  #prefix(time: Timestamp): string {
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
