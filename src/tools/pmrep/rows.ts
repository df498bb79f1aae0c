/** pmrep's report with a line for each instance and a column for each label. pmrep(1) -X */

import { NO_VALUES } from '../../model/value-columns.ts'
import { labelText } from '../lib/report/label-texts.ts'
import type { ReportMetric } from '../lib/report/metrics.ts'
import type { Reporter, Sample } from '../lib/report/report.ts'
import { compareCells } from '../lib/report/sample-filter.ts'
import type { Settings } from '../lib/report/settings.ts'
import type { Cell } from '../lib/report/values.ts'
import { cellText, fitted, NO_VALUE } from './cell.ts'
import { inOrder, shapeOf } from './columns.ts'
import { blankCell, HeadingClock, type Layout, legendLine, stampCell } from './layout.ts'

/** A column: metrics with the same label. */
interface LabelColumn {
  readonly label: string
  readonly width: number
  readonly metrics: readonly { readonly metric: ReportMetric; readonly at: number }[]
}

/** A line: an instance by name, or singular metrics. */
interface Line {
  readonly name: string
  /** Its instance number in each metric, by the metric's index. */
  readonly insts: ReadonlyMap<number, number>
}

/** Instance name of singular metrics. */
const SINGULAR = '='
/** Shown if a metric does not have the instance. */
const NOT_THERE = '~'
/** Width of the instances' column without a heading. */
const INSTANCE_WIDTH = 8

export class RowReporter implements Reporter {
  readonly #layout: Layout
  readonly #clock: HeadingClock
  readonly #isOpen: boolean
  readonly #instanceWidth: number
  #columns: readonly LabelColumn[] = []
  /** All instances, if they are fixed. */
  #lines: readonly Line[] = []
  #shown = ''

  constructor(layout: Layout) {
    const { plan } = layout
    const { settings } = plan
    this.#layout = layout
    this.#clock = new HeadingClock(layout.repeatAfter)
    this.#isOpen = settings.dynamic_header || settings.fixed_header
    this.#instanceWidth = [...(settings.colxrow ?? '')].length || INSTANCE_WIDTH
    if (settings.dynamic_header) return
    this.#columns = this.#columnsOf(plan.metrics.keys())
    if (!settings.fixed_header) this.#lines = linesOf(plan.metrics, (metric) => metric.insts, layout)
  }

  begin(): void {
    const { plan, write } = this.#layout
    if (plan.settings.dynamic_header || !plan.settings.header) return
    write(this.#headings(this.#everyLine()))
    this.#clock.restart(false)
  }

  sample(sample: Sample): void {
    const { plan, write } = this.#layout
    const { dynamic_header, header } = plan.settings
    const isDue = this.#clock.isDue()
    const lines = this.#isOpen ? presentLines(this.#layout, sample) : this.#lines
    if (dynamic_header) this.#columns = this.#columnsOf(placesWithValues(sample))
    const shown = dynamic_header ? this.#signature(lines) : ''
    const isNew = shown !== this.#shown
    this.#shown = shown
    if ((isDue || isNew) && header && this.#columns.length > 0) {
      const listed = dynamic_header ? lines : this.#everyLine()
      write(`${this.#clock.isFirst ? '' : '\n'}${this.#headings(listed)}`)
      this.#clock.restart(true)
    }
    if (lines.length === 0) write(this.#emptyLine(sample))
    else for (const line of this.#sorted(lines, sample)) write(this.#line(line, sample))
    this.#clock.printed()
  }

  end(): void {}

  /** Returns a text that changes with the headings: metrics and instances. */
  #signature(lines: readonly Line[]): string {
    const columns = this.#columns.flatMap(({ metrics }) => metrics.map(({ metric }) => metric.name))
    const names = lines.map(({ name, insts }) => `${name}\t${[...insts.keys()].join(' ')}`)
    return [...columns, ...names].join('\n')
  }

  #everyLine(): readonly Line[] {
    const { plan } = this.#layout
    return linesOf(plan.metrics, (metric) => metric.insts, this.#layout)
  }

  /** Returns the columns of the metrics at these indices. */
  #columnsOf(places: Iterable<number>): LabelColumn[] {
    const { plan } = this.#layout
    const columns = new Map<string, LabelColumn>()
    for (const at of places) {
      const metric = plan.metrics[at]!
      const known = columns.get(metric.label)
      const { width } = known ?? shapeOf(metric, plan.settings)
      columns.set(metric.label, {
        label: metric.label,
        width,
        metrics: [...(known?.metrics ?? []), { metric, at }],
      })
    }
    return [...columns.values()]
  }

  #emptyLine(sample: Sample): string {
    const { plan, delimiter } = this.#layout
    const { fixed_header, colxrow = '' } = plan.settings
    const stamp = stampCell(this.#layout, sample.time)
    // Without values headings are left out too, so the cell is only as wide as its text.
    if (!fixed_header) return `${stamp}${fitted(NO_VALUE, [...colxrow].length || NO_VALUE.length)}\n`
    const rest = this.#columns.map(({ width }) => delimiter + fitted(NOT_THERE, width)).join('')
    return `${stamp}${fitted(NO_VALUE, this.#instanceWidth)}${rest}\n`
  }

  #line(line: Line, sample: Sample): string {
    const { delimiter, plan } = this.#layout
    let text = stampCell(this.#layout, sample.time) + fitted(line.name, this.#instanceWidth)
    for (const { metrics, width } of this.#columns) {
      text += delimiter
      const member = metrics.find(({ at }) => line.insts.has(at))
      if (member === undefined) text += fitted(NOT_THERE, width)
      else {
        const { metric, at } = member
        const shape = { ...shapeOf(metric, plan.settings), width }
        text += fitted(cellText(cellAt(sample, metric, at, line.insts.get(at)!), shape, delimiter), width)
      }
    }
    return `${text}\n`
  }

  /** Sorts by the metrics of -6, in their order; lines without a value are last. */
  #sorted(lines: readonly Line[], sample: Sample): readonly Line[] {
    const { plan } = this.#layout
    const order = new Set<Line>()
    for (const { name, isAscending } of sortKeys(plan.settings)) {
      const at = plan.metrics.findIndex((metric) => metric.name === name)
      const metric = plan.metrics[at]!
      const valued = lines.flatMap((line) => {
        const cell = line.insts.has(at) ? cellAt(sample, metric, at, line.insts.get(at)!) : undefined
        return cell === undefined ? [] : [{ line, cell }]
      })
      valued.sort((a, b) => (isAscending ? compareCells(a.cell, b.cell) : compareCells(b.cell, a.cell)))
      for (const { line } of valued) order.add(line)
    }
    for (const line of lines) order.add(line)
    return [...order]
  }

  #headings(lines: readonly Line[]): string {
    const { plan, delimiter, labels } = this.#layout
    const { colxrow = '', separate_header, unitinfo, include_labels } = plan.settings
    const row = (first: string, text: (column: LabelColumn, i: number) => string): string => {
      const cells = this.#columns.map((column, i) => fitted(text(column, i), column.width))
      return `${blankCell(this.#layout)}${[fitted(first, this.#instanceWidth), ...cells].join(delimiter)}\n`
    }
    if (separate_header) return `${this.#legend(lines)}\n${row('', (_, i) => String(i + 1))}`
    let text = row(colxrow, ({ label }) => label)
    if (include_labels)
      text += row('', ({ metrics: [first] }) => labelText(labels.get(first!.metric.name), -1))
    if (unitinfo) text += row('', ({ metrics: [first] }) => first!.metric.units.text)
    return text
  }

  #legend(lines: readonly Line[]): string {
    const { plan, labels } = this.#layout
    const { unitinfo, fixed_header, include_labels } = plan.settings
    const digits = String(this.#columns.length).length + 1
    let text = ''
    for (const [i, { metrics }] of this.#columns.entries()) {
      for (const { metric, at } of metrics) {
        const members = lines.filter(({ insts }) => insts.has(at))
        const instances = metric.hasInstances && !fixed_header ? members.map(({ name }) => name) : [undefined]
        for (const instance of instances) {
          text += legendLine(i + 1, digits, {
            name: metric.name,
            instance,
            unit: unitinfo ? metric.units.text : undefined,
          })
          if (include_labels)
            text += `[${String(i + 1).padStart(digits)}] - ${labelText(labels.get(metric.name), -1)}\n`
        }
      }
    }
    return text
  }
}

/** Returns the metrics of -6, and whether to sort them in ascending order. */
export function sortKeys({
  sort_metric,
}: Settings): readonly { readonly name: string; readonly isAscending: boolean }[] {
  const keys = sort_metric?.split(',') ?? []
  return keys.map((key) => ({ name: key.replace(/^-/, ''), isAscending: key.startsWith('-') }))
}

function cellAt({ values }: Sample, { hasInstances }: ReportMetric, at: number, inst: number): Cell {
  const cells = values[at] ?? NO_VALUES
  return cells.at(hasInstances ? cells.find(inst) : 0)
}

/** Returns the indices of metrics with values. */
function placesWithValues({ values }: Sample): number[] {
  return [...values.keys()].filter((at) => values[at]!.hasValues())
}

/** Returns a line for every existing value. */
function presentLines(layout: Layout, { values }: Sample): Line[] {
  const present = (metric: ReportMetric, at: number): number[] => {
    const cells = values[at] ?? NO_VALUES
    const found = cells.valueIndices().map((i) => ({ inst: cells.insts[i]! }))
    return inOrder(found, metric, layout.plan.settings).map(({ inst }) => inst)
  }
  return linesOf(layout.plan.metrics, present, layout)
}

/** Returns the lines of instances by name, in the order of the metrics. */
function linesOf(
  metrics: readonly ReportMetric[],
  instsOf: (metric: ReportMetric, at: number) => readonly number[],
  { plan }: Layout,
): Line[] {
  const lines = new Map<string, { readonly name: string; readonly insts: Map<number, number> }>()
  for (const [at, metric] of metrics.entries()) {
    for (const inst of instsOf(metric, at)) {
      const name = metric.hasInstances ? plan.nameOf(metric, inst) : SINGULAR
      const line = lines.get(name) ?? { name, insts: new Map<number, number>() }
      line.insts.set(at, inst)
      lines.set(name, line)
    }
  }
  return [...lines.values()]
}
