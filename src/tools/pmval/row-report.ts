/** The rows and the headings above them, as they come. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { FetchResult } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Headings } from './header.ts'
import { RecordedRows } from './recorded-rows.ts'
import { NOTHING, type RowStyle, rateRow, SUSPENDED, valueRow } from './rows.ts'
import { columnsOf, type Subject } from './subject.ts'

/** Writes a row a result. */
export class Rows {
  readonly #context: Context
  readonly #subject: Subject
  readonly #headings: Headings
  readonly #style: RowStyle
  readonly #stamp: ((time: Timestamp) => string) | undefined
  readonly #io: ToolIo
  readonly #call: string
  readonly #recorded: RecordedRows
  #before: FetchResult | undefined
  /** Instances that were found to have columns. */
  #insts: Int32Array | undefined
  #hasHeading = false
  #hasFullNames = false

  /** `stamp`: what rows from archives begin with. `call`: what failures are said to be of. */
  constructor(
    context: Context,
    subject: Subject,
    headings: Headings,
    style: RowStyle,
    stamp: ((time: Timestamp) => string) | undefined,
    io: ToolIo,
    call: string,
  ) {
    this.#context = context
    this.#subject = subject
    this.#headings = headings
    this.#style = style
    this.#stamp = stamp
    this.#io = io
    this.#call = call
    this.#recorded = new RecordedRows(subject.isRate)
  }

  /** Time does not go on from the result before: rates begin anew, and say so. */
  restart(): void {
    this.#before = undefined
    this.#recorded.restart()
  }

  /** Writes the row of a result. A promise only where there is something to wait for. */
  add(result: FetchResult): Promise<void> | undefined {
    const set = result.sets[0]
    if (set !== undefined && set.status < 0) return this.#fail(result, set.status)
    if (set === undefined || set.status === 0 || this.#head(set.inst)) {
      this.#write(result)
      return undefined
    }
    return this.#addColumns().then(() => this.#write(result))
  }

  #write(result: FetchResult): void {
    const { stdout } = this.#io
    const subject = this.#subject
    const before = this.#before
    const set = result.sets[0]
    if (this.#stamp !== undefined) this.#writeRecorded(result, this.#stamp(result.timestamp))
    else {
      this.#before = result
      if (!subject.isRate) stdout.write(valueRow(subject, set!, this.#style))
      else if (before !== undefined) stdout.write(rateRow(subject, before, result, this.#style))
    }
  }

  #writeRecorded(result: FetchResult, stamp: string): void {
    const { stdout } = this.#io
    const subject = this.#subject
    const before = this.#before
    const set = result.sets[0]
    const shown = this.#recorded.next(set?.status)
    this.#before = this.#recorded.hadValues ? result : undefined
    if (this.#before === undefined) this.#hasHeading = false // the columns are named again behind a gap
    if (shown === 'suspended') stdout.write(`${stamp}  ${SUSPENDED}`)
    else if (shown === 'nothing') stdout.write(`${stamp}  ${NOTHING}`)
    else if (shown === 'values') stdout.write(stamp + valueRow(subject, set!, this.#style))
    else if (shown === 'rates') stdout.write(stamp + rateRow(subject, before!, result, this.#style))
  }

  async #fail(result: FetchResult, status: number): Promise<void> {
    const isRecorded = this.#stamp !== undefined
    this.#before = isRecorded ? undefined : result
    if (isRecorded) {
      this.#recorded.next(status)
      this.#hasHeading = false
    }
    const { stdout, stderr, progname } = this.#io
    await stdout.flush()
    stderr.write(`\n${progname}: ${this.#call}: ${PcpError.fromStatus(status).text}\n`)
  }

  /** Names the columns before the first values. False where there are new instances, which have none yet. */
  #head(insts: Int32Array): boolean {
    const { columns, isOpen } = this.#subject
    if (columns === undefined) return true
    if (!this.#hasHeading) {
      const fullNames = this.#hasFullNames ? '' : this.#headings.fullNames
      this.#io.stdout.write(fullNames + this.#headings.lines(columns))
      this.#hasHeading = this.#hasFullNames = true
      return true
    }
    if (!isOpen || insts === this.#insts) return true
    if (!insts.every((inst) => columns.some((column) => column.inst === inst))) return false
    this.#insts = insts
    return true
  }

  /** Gives new instances columns, and names all of them again. */
  async #addColumns(): Promise<void> {
    this.#subject.columns = await columnsOf(this.#context, this.#subject.desc, undefined, this.#io)
    this.#io.stdout.write(this.#headings.lines(this.#subject.columns))
  }
}
