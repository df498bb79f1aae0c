/** One source of pmstat: what its line says at each sample, until it ends. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Layout, NAME_WIDTH, rowText } from './layout.ts'
import { Readings } from './readings.ts'

const NO_DATA = ' No data in the archive'

/** A host or an archive, and its place in the report. */
export class Source {
  readonly #context: Context
  readonly #readings: Readings
  readonly #io: ToolIo
  readonly #name: string
  /** There was a line of values. */
  #hasData = false
  #isLost = false
  /** Behind its last value there is nothing to ask it any more. */
  hasEnded = false
  /** When its values are from; undefined before there are any. */
  timestamp: Timestamp | undefined

  private constructor(context: Context, readings: Readings, name: string, io: ToolIo) {
    this.#context = context
    this.#readings = readings
    this.#name = name
    this.#io = io
  }

  /** Takes a context over. Undefined, with a message, when it has none of the metrics. */
  static async over(
    context: Context,
    { label, suffix }: { readonly label: string; readonly suffix: boolean },
    io: ToolIo,
  ): Promise<Source | undefined> {
    const counterWrap = io.env['PCP_COUNTER_WRAP'] !== undefined
    const readings = await Readings.open(context, counterWrap)
    if (readings === undefined) {
      io.stderr.write(`${io.progname}: ${label}: Cannot resolve any metrics.\n`)
      await context.close()
      return undefined
    }
    const host = await context.hostname(io)
    const name = suffix ? host.slice(-NAME_WIDTH) : host.slice(0, NAME_WIDTH)
    return new Source(context, readings, name.padEnd(NAME_WIDTH), io)
  }

  get context(): Context {
    return this.#context
  }

  get countsPages(): boolean {
    return this.#readings.countsPages
  }

  /** Time has been set: an archive that was at its end may go on. */
  restart(): void {
    this.hasEnded = false
  }

  /** Fetches, and gives the line; at once where there is nothing to wait for. Without a layout, rates begin, and what is wrong shows with the next line. */
  line(layout: Layout | undefined): string | Promise<string> {
    const problem = this.#fetch()
    return problem instanceof Promise
      ? problem.then((text) => this.#line(text, layout))
      : this.#line(problem, layout)
  }

  #line(problem: string | undefined, layout: Layout | undefined): string {
    if (problem === undefined && layout !== undefined) this.#hasData = true
    const text = problem ?? (layout && rowText(this.#readings.numbers, layout)) ?? ''
    return layout?.hasNames === true ? `${this.#name}${text}\n` : `${text}\n`
  }

  /** Fetches; what there is to say when there are no values. */
  #fetch(): string | undefined | Promise<string | undefined> {
    if (this.hasEnded) return this.#hasData ? '' : NO_DATA
    if (this.#isLost) return this.#reconnect()
    try {
      const fetched = this.#readings.next(this.#io)
      if (!(fetched instanceof Promise)) return this.#took(fetched)
      return fetched.then(
        (time) => this.#took(time),
        (error: unknown) => this.#problem(error),
      )
    } catch (error) {
      return this.#problem(error)
    }
  }

  async #reconnect(): Promise<string | undefined> {
    try {
      await this.#context.reconnect({ signal: this.#io.signal })
    } catch (error) {
      return this.#problem(error)
    }
    this.#isLost = false
    return this.#fetch()
  }

  #took(time: Timestamp): undefined {
    this.timestamp = time
  }

  #problem(error: unknown): string {
    if (this.#io.signal.aborted || !(error instanceof PcpError)) throw error
    if (error.code === 'PM_ERR_EOL' && !this.#hasData) {
      this.hasEnded = this.timestamp !== undefined // the fetch that rates begin from was all there is
      return NO_DATA
    }
    if (this.#context.archive === undefined) {
      this.#isLost = true
      return ' Fetch failed. Reconnecting ...'
    }
    this.hasEnded = true
    return ` pmFetchGroup: ${error.text}`
  }

  async close(): Promise<void> {
    await this.#context.close()
  }
}
