/** One source of pmstat: its line in each sample, until it ends. */
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Layout, NAME_WIDTH, rowText } from './layout.ts'
import { SourceValues } from './source-values.ts'

const NO_DATA = ' No data in the archive'

/** A host or an archive. */
export class Source {
  readonly #context: Context
  readonly #readings: SourceValues
  readonly #io: ToolIo
  readonly #name: string
  /** Did it have a line of values? */
  #hasData = false
  #isLost = false
  /** True after its last value: it is not fetched from again. */
  hasEnded = false
  /** Time of its values; undefined before the first. */
  timestamp: Timestamp | undefined

  private constructor(context: Context, readings: SourceValues, name: string, io: ToolIo) {
    this.#context = context
    this.#readings = readings
    this.#name = name
    this.#io = io
  }

  /** Takes ownership of a context; prints a message and returns undefined if it has none of the metrics. */
  static async over(
    context: Context,
    { label, suffix }: { readonly label: string; readonly suffix: boolean },
    io: ToolIo,
  ): Promise<Source | undefined> {
    const counterWrap = io.env['PCP_COUNTER_WRAP'] !== undefined
    const readings = await SourceValues.open(context, counterWrap)
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

  /** Continues after a change of time, as an archive may have values again. */
  restart(): void {
    this.hasEnded = false
  }

  /** Fetches and returns the line, synchronously if possible. Without a layout only starts the counters; an error is shown with the next line. */
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

  /** Fetches; returns the message to show without values. */
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
      this.hasEnded = this.timestamp !== undefined // only the first fetch, without rates, succeeded
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
