/**
 * Keeps one part of `npm start` running: restarts it with back-off when it ends, and reports it. docs/decisions/supervision.md
 *
 *     start ──► starting ──► running ──ends──► waiting ──► starting...
 *                  └──────────fails──────────────▲
 */
import { Retry, type RetryTimes } from '../base/retry.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { PartProcess } from './part-process.ts'

/** Options of a supervised part. */
export interface SupervisorOptions<R> {
  /** Name of the part, as the user reads it. */
  readonly name: string
  /** Starts a process. */
  readonly open: () => PartProcess<R>
  /** Prints a line for the user. */
  readonly say: (line: string) => void
  /** Called with the report and the id of each process that has started. */
  readonly onStarted?: (report: R, pid: number | undefined) => void
  /** Called with the reason when the part does not run and will be restarted. */
  readonly onFailed?: (why: string) => void
  readonly times?: RetryTimes
  /** Milliseconds after which a part counts as stable, which resets the back-off. Default: a minute. */
  readonly settledMs?: number
}

const SETTLED_MS = 60_000

export class Supervisor<R> {
  readonly #options: SupervisorOptions<R>
  readonly #retry: Retry
  #process: PartProcess<R> | undefined
  #settled: ReturnType<typeof setTimeout> | undefined
  /** Last failure printed. */
  #lastPrinted = ''
  #stopping: Promise<void> | undefined

  constructor(options: SupervisorOptions<R>) {
    this.#options = options
    this.#retry = new Retry(() => void this.#again(), options.times)
  }

  /** Starts the part and keeps it running. Resolves to its report, or the error of the first attempt. */
  async start(): Promise<Outcome<R>> {
    const outcome = await this.#attempt()
    if (outcome instanceof PcpError) this.#lastPrinted = outcome.message
    return outcome
  }

  /** Stops the part for good. Idempotent. */
  stop(): Promise<void> {
    this.#retry.close()
    clearTimeout(this.#settled)
    this.#stopping ??= this.#process?.stop() ?? Promise.resolve()
    return this.#stopping
  }

  async #again(): Promise<void> {
    const { name, say } = this.#options
    const outcome = await this.#attempt()
    if (this.#stopping !== undefined) return
    if (!(outcome instanceof PcpError)) {
      say(`${name}: running again`)
      this.#lastPrinted = ''
    } else if (outcome.code !== 'ECHILD' && outcome.message !== this.#lastPrinted) {
      this.#lastPrinted = outcome.message
      say(`${name}: cannot start: ${outcome.message}; retrying`)
    }
  }

  async #attempt(): Promise<Outcome<R>> {
    const { open, onStarted, settledMs = SETTLED_MS } = this.#options
    let process: PartProcess<R>
    try {
      process = open()
    } catch (error) {
      // fork(2) throws some errors synchronously, e.g. out of memory.
      this.#retry.schedule()
      return PcpError.from(error)
    }
    this.#process = process
    void process.ended.then((how) => this.#ended(process, how))
    try {
      const report = await process.started
      onStarted?.(report, process.pid)
      this.#settled = setTimeout(() => this.#retry.succeeded(), settledMs)
      this.#settled.unref()
      return report
    } catch (error) {
      return PcpError.from(error)
    }
  }

  async #ended(process: PartProcess<R>, how: string): Promise<void> {
    const { name, say } = this.#options
    clearTimeout(this.#settled)
    this.#process = undefined
    const failure = await process.started.then(
      () => undefined,
      (error: unknown) => PcpError.from(error),
    )
    if (this.#stopping !== undefined) return
    const waitMs = this.#retry.schedule()
    this.#options.onFailed?.(failure === undefined || failure.code === 'ECHILD' ? how : failure.message)
    // A failed start prints its own message.
    if (failure !== undefined && failure.code !== 'ECHILD') return
    const seconds = Math.round(waitMs / 1000)
    say(`${name}: ${how}; restarting${seconds === 0 ? '' : ` in ${seconds} s`}`)
  }
}
