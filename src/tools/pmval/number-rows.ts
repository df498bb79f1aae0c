/** Rows of a metric of numbers over a whole archive: out of columns, without a value set on the way. */
import type { NumberColumns } from '../../archive/number-columns.ts'
import type { NumberRows } from '../../archive/source.ts'
import { type Timestamp, toSeconds } from '../../base/timestamp.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import { Counters, rateUnits } from '../../model/rate.ts'
import { PM_TYPE_64, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../model/types.ts'
import type { Context } from '../../pmapi/context.ts'
import { samples } from '../../pmapi/samples.ts'
import { hasRecordedRows } from '../../pmapi/value-rows.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import type { ToolIo } from '../lib/tool.ts'
import { formatReal } from './format.ts'
import type { Headings } from './header.ts'
import { NOTHING, type RowStyle } from './rows.ts'
import type { SampleLoop, Shown } from './sample-loop.ts'
import type { Schedule } from './schedule.ts'
import { columnsOf, type Subject } from './subject.ts'

/** How rows are laid out. */
export interface NumberLayout {
  readonly headings: Headings
  readonly style: RowStyle
  /** What rows begin with. */
  readonly stamp: (time: Timestamp) => string
}

/** Are there columns of the metric: does an archive have it, as numbers, each instance once, and does -D not ask about fetches? */
export function hasNumberRows(context: Context, { desc, columns }: Subject): boolean {
  if (columns?.length === 0 || !hasRecordedRows(context, [desc])) return false
  return columns === undefined || new Set(columns.map(({ inst }) => inst)).size === columns.length
}

/** Shows values at the schedule's interval until the loop has all its samples. The rows are those of `Rows`. */
export async function showNumbers(
  context: Context,
  subject: Subject,
  { intervalSec, origin, finish }: Schedule,
  loop: SampleLoop,
  layout: NumberLayout,
  io: ToolIo,
): Promise<void> {
  const archive = context.archive!
  const open = (): NumberRows =>
    archive.rows([{ desc: subject.desc, insts: instsOf(subject) }], context.profile)
  let rows = open()
  const sampled = samples(context, {
    origin,
    intervalSec,
    take: () => rows.next(),
    isBeyond: (time) => compareTimes(time, finish) > 0,
    call: io,
    flush: () => io.stdout.flush(),
  })
  const text = new NumberText(subject, loop, layout)
  while (loop.begin()) {
    const answer = sampled.next()
    const time = answer instanceof Promise ? await answer : answer
    if (time === undefined) return
    if (subject.isOpen && text.hasHeading && hasOthers(rows.columns)) {
      // The archive grew meanwhile: new instances get columns, and all of them are named again.
      const before = instsOf(subject)
      subject.columns = await columnsOf(context, subject.desc, undefined, io)
      io.stdout.write(layout.headings.lines(subject.columns))
      text.rearrange(before)
      archive.setMode('interpolate', time, intervalSec)
      rows = open()
      rows.next()
    }
    io.stdout.write(text.row(time, rows.columns))
  }
}

function instsOf({ columns }: Subject): readonly number[] {
  return columns?.map(({ inst }) => inst) ?? [PM_IN_NULL]
}

/** Are there values of instances without a column? */
function hasOthers({ counts, has }: NumberColumns): boolean {
  let known = 0
  for (let i = 0; i < has.length; i++) known += has[i]!
  return counts[0]! > known
}

/** The text of row after row. */
class NumberText {
  readonly #subject: Subject
  readonly #layout: NumberLayout
  readonly #loop: SampleLoop
  readonly #factor: number
  readonly #isReal: boolean
  readonly #isLong: boolean
  /** Have the columns been named since there were no values? */
  hasHeading = false
  #hasFullNames = false
  /** What rates begin from, and when that was. */
  readonly #counters: Counters
  #beforeSec = 0

  constructor(subject: Subject, loop: SampleLoop, layout: NumberLayout) {
    const { type, units } = subject.desc
    this.#subject = subject
    this.#layout = layout
    this.#loop = loop
    this.#factor = rateUnits(units).factor
    this.#isReal = type === PM_TYPE_FLOAT || type === PM_TYPE_DOUBLE
    this.#isLong = type === PM_TYPE_64 || type === PM_TYPE_U64
    this.#counters = new Counters(subject.columns?.length ?? 1, type, layout.style.counterWrap)
  }

  /** Takes what was before along to the subject's columns now; `insts` are those of the columns there were. */
  rearrange(insts: readonly number[]): void {
    this.#counters.rearrange(instsOf(this.#subject).map((inst) => insts.indexOf(inst)))
  }

  /** The row of a moment, with the names of columns above it where they are due. */
  row(time: Timestamp, columns: NumberColumns): string {
    const count = columns.counts[0]!
    const heading = count > 0 ? this.#heading() : ''
    const shown = this.#loop.next(count)
    if (!this.#loop.hadValues) this.hasHeading = false
    const growth = this.#subject.isRate ? this.#counters.read(columns) : undefined
    // Of two rounded times, as in the reference: it shows in the last digit.
    const elapsed = toSeconds(time) - this.#beforeSec
    this.#beforeSec = toSeconds(time)
    const text = shown === 'nothing' ? `  ${NOTHING}` : this.#cells(columns, growth, elapsed, shown)
    return text === '' ? heading : heading + this.#layout.stamp(time) + text
  }

  #heading(): string {
    const { columns } = this.#subject
    if (columns === undefined || this.hasHeading) return ''
    const { headings } = this.#layout
    const fullNames = this.#hasFullNames ? '' : headings.fullNames
    this.hasHeading = this.#hasFullNames = true
    return fullNames + headings.lines(columns)
  }

  /** The cells of a row; '' for no row. */
  #cells(columns: NumberColumns, growth: Float64Array | undefined, elapsed: number, shown: Shown): string {
    if (shown !== 'values' && shown !== 'rates') return ''
    const between = this.#subject.columns === undefined ? '' : ' '
    let row = ''
    for (let i = 0; i < columns.has.length; i++)
      row +=
        (growth === undefined ? this.#value(columns, i) : this.#rate(columns, i, growth[i]!, elapsed)) +
        between
    return `${row}\n`
  }

  #value(columns: NumberColumns, i: number): string {
    const { width, precision } = this.#layout.style
    if (columns.has[i] === 0) return '?'.padStart(width)
    if (this.#isReal) return formatReal(columns.values[i]!, width, precision)
    return String(this.#integer(columns, i)).padStart(width)
  }

  #rate(columns: NumberColumns, i: number, growth: number, elapsed: number): string {
    const { width, precision } = this.#layout.style
    if (columns.has[i] === 0 || !this.#counters.had(i)) return '?'.padStart(width)
    if (Number.isNaN(growth)) return '!'.padStart(width)
    return formatReal((growth / elapsed) * this.#factor, width, precision)
  }

  /** A value without rounding. */
  #integer(columns: NumberColumns, i: number): number | bigint {
    const value = columns.values[i]!
    return this.#isLong && !Number.isSafeInteger(value) ? columns.exact(i, this.#subject.desc.type) : value
  }
}
