/** pmrep's default report: a line a sample, a column for each instance of each metric. pmrep(1) */

import { ByteText } from '../../base/byte-text.ts'
import { encodeText } from '../../base/text.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { fitted, NO_VALUE } from './cell.ts'
import { putCell } from './cell-bytes.ts'
import { allColumns, areSame, CellFinder, type Column, presentColumns } from './columns.ts'
import { blankCell, HeadingClock, type Layout, legendLine, stampCell } from './layout.ts'

const NEWLINE = 0x0a

/** Prints the table. */
export class TableReporter implements Reporter {
  readonly #layout: Layout
  readonly #clock: HeadingClock
  readonly #finder = new CellFinder()
  readonly #text = new ByteText(4096)
  readonly #between: Uint8Array
  #columns: readonly Column[]

  constructor(layout: Layout) {
    this.#layout = layout
    this.#between = encodeText(layout.delimiter)
    this.#clock = new HeadingClock(layout.repeatAfter)
    this.#columns = layout.plan.settings.dynamic_header ? [] : allColumns(layout.plan)
  }

  begin(): void {
    const { plan, write } = this.#layout
    if (plan.settings.dynamic_header || !plan.settings.header) return
    write(headings(this.#layout, this.#columns))
    this.#clock.restart(false)
  }

  sample(sample: Sample): void {
    const { plan, write, writeBytes } = this.#layout
    const isDue = this.#clock.isDue()
    const columns = plan.settings.dynamic_header ? presentColumns(plan, sample.readings) : this.#columns
    const isNew = plan.settings.dynamic_header && !areSame(columns, this.#columns)
    this.#columns = columns
    if (columns.length === 0) {
      write(`${stampCell(this.#layout, sample)}${fitted(NO_VALUE, emptyWidth(this.#layout))}\n`)
      this.#clock.printed()
      return
    }
    if ((isDue || isNew) && plan.settings.header) {
      write(`${this.#clock.isFirst ? '' : '\n'}${headings(this.#layout, columns)}`)
      this.#clock.restart(true)
    }
    writeBytes(this.#row(sample))
    this.#clock.printed()
  }

  end(): void {}

  /** A line, borrowed until the next one. */
  #row(sample: Sample): Uint8Array {
    const { delimiter } = this.#layout
    const text = this.#text
    text.clear()
    text.text(stampCell(this.#layout, sample))
    const columns = this.#columns
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!
      if (i > 0) text.raw(this.#between)
      putCell(text, this.#finder.cell(i, column, sample.readings), column, delimiter)
    }
    text.byte(NEWLINE)
    return text.written()
  }
}

/** Width of the one cell of a line that has no values. */
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
