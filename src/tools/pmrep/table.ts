/** pmrep's default report: a line for each sample, a column for each instance of each metric. pmrep(1) */

import { encodeText } from '../../base/text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { NO_VALUES, type ValueColumns } from '../../model/value-columns.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { fitted, NO_VALUE } from './cell.ts'
import { putCell } from './cell-bytes.ts'
import { allColumns, areSame, type Column, ColumnPlaces, presentColumns } from './columns.ts'
import { blankCell, HeadingClock, type Layout, LineBuffer, legendLine, stampCell } from './layout.ts'

export class TableReporter implements Reporter {
  readonly #layout: Layout
  readonly #clock: HeadingClock
  readonly #places = new ColumnPlaces()
  readonly #lines: LineBuffer
  readonly #between: Uint8Array
  #columns: readonly Column[]

  constructor(layout: Layout) {
    this.#layout = layout
    this.#lines = new LineBuffer(layout)
    this.#between = encodeText(layout.delimiter)
    this.#clock = new HeadingClock(layout.repeatAfter)
    this.#columns = layout.plan.settings.dynamic_header ? [] : allColumns(layout.plan)
  }

  begin(): void {
    const { settings } = this.#layout.plan
    if (settings.dynamic_header || !settings.header) return
    this.#lines.text.text(headings(this.#layout, this.#columns))
    this.#lines.flush()
    this.#clock.restart(false)
  }

  sample({ time, values }: Sample): void {
    const { plan } = this.#layout
    const isDynamic = plan.settings.dynamic_header
    const columns = isDynamic ? presentColumns(plan, values) : this.#columns
    const isNew = isDynamic && !areSame(columns, this.#columns)
    this.#columns = columns
    this.#print(time, values, isNew)
  }

  end(): void {
    this.#lines.flush()
  }

  #print(time: Timestamp, readings: readonly ValueColumns[], isNew: boolean): void {
    const { text } = this.#lines
    const { plan, delimiter } = this.#layout
    const columns = this.#columns
    const isDue = this.#clock.isDue()
    if ((isDue || isNew) && plan.settings.header && columns.length > 0) {
      text.text(`${this.#clock.isFirst ? '' : '\n'}${headings(this.#layout, columns)}`)
      this.#clock.restart(true)
    }
    text.text(stampCell(this.#layout, time))
    if (columns.length === 0) text.text(fitted(NO_VALUE, emptyWidth(this.#layout)))
    const places = this.#places.of(columns, readings)
    for (let i = 0; i < columns.length; i++) {
      if (i > 0) text.raw(this.#between)
      const column = columns[i]!
      putCell(text, readings[column.at] ?? NO_VALUES, places[i]!, column, delimiter)
    }
    this.#lines.end()
    this.#clock.printed()
  }
}

/** Returns the width of the single cell in a line without values. */
function emptyWidth({ plan: { settings } }: Layout): number {
  return settings.width_force || settings.width || (settings.separate_header ? 8 : NO_VALUE.length)
}

function headings(layout: Layout, columns: readonly Column[]): string {
  const { plan, delimiter, labels } = layout
  const { separate_header, instinfo, include_labels, unitinfo } = plan.settings
  if (separate_header) return legend(layout, columns)
  const line = (text: (column: Column) => string): string =>
    `${blankCell(layout)}${columns.map((column) => fitted(text(column), column.width)).join(delimiter)}\n`
  let lines = line(({ metric }) => metric.label)
  if (instinfo && plan.metrics.some(({ hasInstances }) => hasInstances))
    lines += line(({ metric, instance }) => (metric.hasInstances ? instance : delimiter))
  if (include_labels) lines += line(({ metric, inst }) => labelText(labels.get(metric.name), inst))
  if (unitinfo) lines += line(({ metric }) => metric.units.text)
  return lines
}

function legend(layout: Layout, columns: readonly Column[]): string {
  const { plan, delimiter, labels } = layout
  const { unitinfo, include_labels } = plan.settings
  const digits = String(columns.length).length + 1
  let lines = ''
  for (const [i, { metric, inst, instance }] of columns.entries()) {
    lines += legendLine(i + 1, digits, {
      name: metric.name,
      instance: metric.hasInstances ? instance : undefined,
      unit: unitinfo ? metric.units.text : undefined,
    })
    if (include_labels)
      lines += `[${String(i + 1).padStart(digits)}] - ${labelText(labels.get(metric.name), inst)}\n`
  }
  const numbers = columns.map(({ width }, i) => fitted(String(i + 1), width)).join(delimiter)
  return `${lines}\n${blankCell(layout)}${numbers}\n`
}
