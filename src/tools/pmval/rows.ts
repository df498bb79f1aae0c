/** Prints rows of values with headings. */
import { NumberColumns } from '../../archive/number-columns.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import { type PrintOptions, printValue, quotedText } from '../../model/print.ts'
import { Counters, rateUnits } from '../../model/rate.ts'
import { PM_TYPE_32, PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../model/types.ts'
import type { ValueColumns } from '../../model/value-columns.ts'
import { makeSet } from '../../model/value-writer.ts'
import type { Context } from '../../pmapi/context.ts'
import type { ColumnCursor } from '../../pmapi/value-rows.ts'
import type { ToolIo } from '../lib/tool.ts'
import { formatReal } from './format.ts'
import type { Headings } from './header.ts'
import type { RowContent, SampleLoop } from './sample-loop.ts'
import { columnsOf, type ShownMetric } from './subject.ts'

/** Format of values. */
export interface RowStyle {
  readonly width: number
  readonly precision: number | undefined
  readonly print: PrintOptions
  /** Treat a decreased counter as having wrapped once. */
  readonly counterWrap: boolean
}

/** Layout of rows. */
export interface RowLayout {
  readonly headings: Headings
  readonly style: RowStyle
  /** Formats the times of archive rows. */
  readonly stamp: ((time: Timestamp) => string) | undefined
  /** Name of the PMAPI call in error messages. */
  readonly call: string
}

/** Printed instead of a row without values. */
const NOTHING = 'No values available\n'
/** Printed instead of a row for a mark record. */
export const SUSPENDED = 'Archive logging suspended\n'

/** Writes a row for each sample. */
export class Rows {
  readonly #context: Context
  readonly #subject: ShownMetric
  readonly #rows: ColumnCursor
  readonly #loop: SampleLoop
  readonly #layout: RowLayout
  readonly #io: ToolIo
  readonly #isNumber: boolean
  readonly #isReal: boolean
  readonly #isLong: boolean
  readonly #factor: number
  /** Of the last sample: all values, and its numbers in column order. */
  readonly #values: ValueColumns
  #numbers: NumberColumns
  /** Counters of the previous sample, and its time. */
  readonly #counters: Counters
  #beforeSec = 0
  /** Instances known to have columns. */
  #insts: Int32Array | undefined
  /** Were headings printed since the last gap? */
  #hasHeading = false
  #hasFullNames = false

  /** `rows` yields the samples. */
  constructor(
    context: Context,
    subject: ShownMetric,
    rows: ColumnCursor,
    loop: SampleLoop,
    layout: RowLayout,
    io: ToolIo,
  ) {
    const { type, units } = subject.desc
    this.#context = context
    this.#subject = subject
    this.#rows = rows
    this.#loop = loop
    this.#layout = layout
    this.#io = io
    this.#isNumber = type >= PM_TYPE_32 && type <= PM_TYPE_DOUBLE
    this.#isReal = type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
    this.#isLong = type === PM_TYPE_64 || type === PM_TYPE_U64
    this.#factor = rateUnits(units).factor
    this.#values = rows.columns[0]!
    this.#numbers = this.#numbersOf(subject)
    this.#counters = new Counters(subject.columns?.length ?? 1, type, layout.style.counterWrap)
  }

  /** Writes the row of the newest sample, synchronously if possible. */
  add(time: Timestamp): Promise<void> | undefined {
    const { status } = this.#values
    if (status < 0) return this.#fail(status)
    if (status > 0 && this.#hasHeading && !this.#hasColumns())
      return this.#addColumns().then((heading) => this.#write(time, heading))
    this.#write(time, status > 0 ? this.#heading() : '')
    return undefined
  }

  async #fail(status: number): Promise<void> {
    this.#loop.next(status)
    this.#counters.forget()
    this.#hasHeading = false
    const { stdout, stderr, progname } = this.#io
    await stdout.flush()
    stderr.write(`\n${progname}: ${this.#layout.call}: ${PcpError.fromStatus(status).text}\n`)
  }

  /** Returns the headings if they are due. */
  #heading(): string {
    const { columns } = this.#subject
    if (columns === undefined || this.#hasHeading) return ''
    const { headings } = this.#layout
    const fullNames = this.#hasFullNames ? '' : headings.fullNames
    this.#hasHeading = this.#hasFullNames = true
    return fullNames + headings.lines(columns)
  }

  /** Does each selected instance have a column? */
  #hasColumns(): boolean {
    const { isOpen } = this.#subject
    const { insts } = this.#values
    if (!isOpen || insts === this.#insts) return true
    if (!insts.every((inst) => this.#isShown(inst))) return false
    this.#insts = insts
    return true
  }

  #isShown(inst: number): boolean {
    return this.#subject.columns!.some((column) => column.inst === inst)
  }

  /** Adds columns for new instances; returns new headings. */
  async #addColumns(): Promise<string> {
    const before = instsOf(this.#subject)
    this.#subject.columns = await columnsOf(this.#context, this.#subject.desc, undefined, this.#io)
    this.#counters.rearrange(instsOf(this.#subject).map((inst) => before.indexOf(inst)))
    this.#numbers = this.#numbersOf(this.#subject)
    return this.#layout.headings.lines(this.#subject.columns)
  }

  #numbersOf(subject: ShownMetric): NumberColumns {
    return new NumberColumns([{ desc: subject.desc, insts: instsOf(subject) }], [this.#values])
  }

  #write(time: Timestamp, heading: string): void {
    const { stamp } = this.#layout
    const isMark = this.#rows.sets?.length === 0
    const shown = this.#loop.next(isMark ? undefined : this.#values.status)
    if (!this.#loop.hadValues) this.#hasHeading = false // repeat the headings after a gap
    if (this.#isNumber) this.#numbers.refresh()
    const growth = this.#subject.isRate ? this.#counters.read(this.#numbers) : undefined
    // Difference of two rounded times, as in the reference, which affects the last digit.
    const sec = toSeconds(time)
    const elapsed = sec - this.#beforeSec
    this.#beforeSec = sec
    const text = this.#row(shown, growth, elapsed)
    if (text !== '') this.#io.stdout.write(heading + (stamp?.(time) ?? '') + text)
    else if (heading !== '') this.#io.stdout.write(heading)
  }

  /** Formats a row without its time; '' for no row. */
  #row(shown: RowContent, growth: Float64Array | undefined, elapsed: number): string {
    if (shown === 'none') return ''
    if (shown === 'nothing' || shown === 'suspended') {
      const margin = this.#layout.stamp === undefined ? '' : '  '
      return margin + (shown === 'nothing' ? NOTHING : SUSPENDED)
    }
    if (growth !== undefined && !this.#isNumber)
      throw new PcpError('PM_ERR_TYPE', 'Cannot compute the rate of a counter without numeric values')
    const { columns, isOpen } = this.#subject
    const between = columns === undefined ? '' : ' '
    let row = ''
    const numbers = this.#numbers
    for (let i = 0; i < numbers.has.length; i++)
      row +=
        (growth === undefined ? this.#value(numbers, i) : this.#rate(numbers, i, growth[i]!, elapsed)) +
        between
    row += '\n'
    return growth === undefined && isOpen && columns !== undefined ? row + this.#warnings() : row
  }

  #value(numbers: NumberColumns, i: number): string {
    if (!this.#isNumber || numbers.has[i] === 0) return this.#printed(i)
    const { width, precision } = this.#layout.style
    const value = numbers.values[i]!
    if (this.#isReal) return formatReal(value, width, precision)
    const isExact = !this.#isLong || Number.isSafeInteger(value)
    return String(isExact ? value : numbers.exact(i)).padStart(width)
  }

  #rate(numbers: NumberColumns, i: number, growth: number, elapsed: number): string {
    const { width, precision } = this.#layout.style
    if (numbers.has[i] === 0 || !this.#counters.hadValue(i)) return '?'.padStart(width)
    if (Number.isNaN(growth)) return '!'.padStart(width)
    return formatReal((growth / elapsed) * this.#factor, width, precision)
  }

  /** Formats a value that is not a number of the metric's type: text, an aggregate, or another type. */
  #printed(i: number): string {
    const { desc, columns } = this.#subject
    const { width, print } = this.#layout.style
    const place = columns === undefined ? 0 : this.#values.find(columns[i]!.inst, i)
    const text = this.#values.at(place)
    if (typeof text === 'string') return quotedText(text, width, print)
    const set = this.#rows.sets?.[0]
    return set === undefined || place < 0
      ? '?'.padStart(width)
      : printValue(set, place, desc.type, width, print)
  }

  /** Returns a warning for each value whose instance is unknown. */
  #warnings(): string {
    const { desc } = this.#subject
    const { print } = this.#layout.style
    const values = this.#values
    if (values.insts === this.#insts) return ''
    const set = this.#rows.sets?.[0]
    let lines = ''
    for (let i = 0; i < values.size; i++) {
      const inst = values.insts[i]!
      if (this.#isShown(inst)) continue
      const shown = set ?? makeSet(desc.pmid, desc.type, [inst], [values.at(i) ?? 0])
      const text = printValue(shown, set === undefined ? 0 : i, desc.type, 1, print)
      lines += `Warning: value=${text}, but instance=${inst} is unknown\n`
    }
    return lines
  }
}

function instsOf({ columns }: ShownMetric): readonly number[] {
  return columns?.map(({ inst }) => inst) ?? [PM_IN_NULL]
}
