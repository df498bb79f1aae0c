/** The rows and the headings above them, as they come. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { FetchResult } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Headings } from './header.ts'
import { NOTHING, type RowStyle, rateRow, valueRow } from './rows.ts'
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
  #before: FetchResult | undefined
  #hasHeading = false
  #hasFullNames = false
  /** Does the first value of a rate get a row, which says that there is none yet? As measured. */
  #missesRate = false

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
  }

  /** Time does not go on from the result before: rates begin anew, and say so. */
  restart(): void {
    this.#before = undefined
    this.#missesRate = true
  }

  /** Writes the row of a result. */
  async add(result: FetchResult): Promise<void> {
    if (this.#stamp !== undefined) return this.#addRecorded(result, this.#stamp(result.timestamp))
    const { stdout } = this.#io
    const subject = this.#subject
    const before = this.#before
    this.#before = result
    const set = result.sets[0]!
    if (set.status < 0) return this.#fail(set.status)
    if (set.status > 0) await this.#head(set.inst)
    if (!subject.isRate) stdout.write(valueRow(subject, set, this.#style))
    else if (before !== undefined) stdout.write(rateRow(subject, before, result, this.#style))
  }

  async #addRecorded(result: FetchResult, stamp: string): Promise<void> {
    const { stdout } = this.#io
    const subject = this.#subject
    const before = this.#before
    const set = result.sets[0]
    this.#before = set !== undefined && set.status > 0 ? result : undefined
    if (this.#before === undefined) this.#hasHeading = false // the columns are named again behind a gap
    if (set === undefined) {
      stdout.write(`${stamp}  Archive logging suspended\n`)
      this.#missesRate = before === undefined
      return
    }
    if (set.status < 0) return this.#fail(set.status)
    if (set.status === 0) {
      stdout.write(`${stamp}  ${NOTHING}`)
      if (before === undefined) this.#missesRate = true
    } else {
      await this.#head(set.inst)
      if (!subject.isRate) stdout.write(stamp + valueRow(subject, set, this.#style))
      else if (before !== undefined) stdout.write(stamp + rateRow(subject, before, result, this.#style))
      else if (this.#missesRate) stdout.write(`${stamp}  ${NOTHING}`)
      this.#missesRate = before !== undefined
    }
  }

  async #fail(status: number): Promise<void> {
    const { stdout, stderr, progname } = this.#io
    await stdout.flush()
    stderr.write(`\n${progname}: ${this.#call}: ${PcpError.fromStatus(status).text}\n`)
  }

  /** Names the columns before the first values, and again when there are new instances. */
  async #head(insts: Int32Array): Promise<void> {
    const { columns, isOpen, desc } = this.#subject
    if (columns === undefined) return
    if (!this.#hasHeading) {
      const fullNames = this.#hasFullNames ? '' : this.#headings.fullNames
      this.#io.stdout.write(fullNames + this.#headings.lines(columns))
      this.#hasHeading = this.#hasFullNames = true
    } else if (isOpen && insts.some((inst) => !columns.some((column) => column.inst === inst))) {
      this.#subject.columns = await columnsOf(this.#context, desc, undefined, this.#io)
      this.#io.stdout.write(this.#headings.lines(this.#subject.columns))
    }
  }
}
