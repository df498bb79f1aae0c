/** The rows and the headings above them, as they come. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { FetchResult } from '../../model/values.ts'
import type { Context } from '../../pmapi/context.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Headings } from './header.ts'
import { NOTHING, type RowStyle, rateRow, SUSPENDED, valueRow } from './rows.ts'
import type { SampleLoop } from './sample-loop.ts'
import { columnsOf, type Subject } from './subject.ts'

/** How rows are laid out. */
export interface RowLayout {
  readonly headings: Headings
  readonly style: RowStyle
  /** What rows from archives begin with. */
  readonly stamp: ((time: Timestamp) => string) | undefined
  /** What failures are said to be of. */
  readonly call: string
}

/** Writes a row a result. */
export class Rows {
  readonly #context: Context
  readonly #subject: Subject
  readonly #loop: SampleLoop
  readonly #layout: RowLayout
  readonly #io: ToolIo
  #before: FetchResult | undefined
  /** Instances that were found to have columns. */
  #insts: Int32Array | undefined
  #hasHeading = false
  #hasFullNames = false

  constructor(context: Context, subject: Subject, loop: SampleLoop, layout: RowLayout, io: ToolIo) {
    this.#context = context
    this.#subject = subject
    this.#loop = loop
    this.#layout = layout
    this.#io = io
  }

  /** Writes the row of a result. A promise only where there is something to wait for. */
  add(result: FetchResult): Promise<void> | undefined {
    const set = result.sets[0]
    if (set !== undefined && set.status < 0) return this.#fail(set.status)
    if (set === undefined || set.status === 0 || this.#head(set.inst)) {
      this.#write(result)
      return undefined
    }
    return this.#addColumns().then(() => this.#write(result))
  }

  #write(result: FetchResult): void {
    const { stdout } = this.#io
    const { style, stamp } = this.#layout
    const subject = this.#subject
    const before = this.#before
    const set = result.sets[0]
    const shown = this.#loop.next(set?.status)
    this.#before = this.#loop.hadValues ? result : undefined
    if (this.#before === undefined) this.#hasHeading = false // the columns are named again behind a gap
    const time = stamp?.(result.timestamp) ?? ''
    const note = time === '' ? '' : `${time}  `
    if (shown === 'suspended') stdout.write(note + SUSPENDED)
    else if (shown === 'nothing') stdout.write(note + NOTHING)
    else if (shown === 'values') stdout.write(time + valueRow(subject, set!, style))
    else if (shown === 'rates') stdout.write(time + rateRow(subject, before!, result, style))
  }

  async #fail(status: number): Promise<void> {
    this.#loop.next(status)
    this.#before = undefined
    this.#hasHeading = false
    const { stdout, stderr, progname } = this.#io
    await stdout.flush()
    stderr.write(`\n${progname}: ${this.#layout.call}: ${PcpError.fromStatus(status).text}\n`)
  }

  /** Names the columns before the first values. False where there are new instances, which have none yet. */
  #head(insts: Int32Array): boolean {
    const { columns, isOpen } = this.#subject
    if (columns === undefined) return true
    if (!this.#hasHeading) {
      const fullNames = this.#hasFullNames ? '' : this.#layout.headings.fullNames
      this.#io.stdout.write(fullNames + this.#layout.headings.lines(columns))
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
    this.#io.stdout.write(this.#layout.headings.lines(this.#subject.columns))
  }
}
