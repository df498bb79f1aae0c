/**
 * Keeps one part of `npm start` alive: restarts it with back-off when it ends, and prints that. docs/decisions/supervision.md
 *
 *     start ──► starting ──► running ──ends──► waiting ──► starting...
 *                  └──────────fails──────────────▲
 */
import { Retry, type RetryTimes } from '../base/retry.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { PartProcess } from './part-process.ts'
import type { PartName } from './parts.ts'

/** Settings of one supervised part. */
export interface SupervisorOptions<R> {
  readonly name: PartName
  /** Starts a process. */
  readonly open: () => PartProcess<R>
  /** A line for the user. */
  readonly say: (line: string) => void
  /** Called with each report of a process that has started. */
  readonly onStarted?: (report: R) => void
  readonly times?: RetryTimes
  /** Milliseconds after which a part that runs counts as well: its next end is the first again. Default: a minute. */
  readonly settledMs?: number
}

const SETTLED_MS = 60_000

/** One part. */
export class Supervisor<R> {
  readonly #options: SupervisorOptions<R>
  readonly #retry: Retry
  #process: PartProcess<R> | undefined
  #settled: ReturnType<typeof setTimeout> | undefined
  /** The failure printed last. */
  #told = ''
  #stopping: Promise<void> | undefined

  constructor(options: SupervisorOptions<R>) {
    this.#options = options
    this.#retry = new Retry(() => void this.#again(), options.times)
  }

  /** Starts the part, which is kept alive from now on. Resolves to its report, or to why the first attempt failed. */
  async start(): Promise<Outcome<R>> {
    const outcome = await this.#attempt()
    if (outcome instanceof PcpError) this.#told = outcome.message
    return outcome
  }

  /** Ends the part and starts it no more; idempotent. */
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
      say(`${name}: runs again`)
      this.#told = ''
    } else if (outcome.code !== 'ECHILD' && outcome.message !== this.#told) {
      this.#told = outcome.message
      say(`${name}: cannot start: ${outcome.message}; this is tried again`)
    }
  }

  async #attempt(): Promise<Outcome<R>> {
    const { open, onStarted, settledMs = SETTLED_MS } = this.#options
    let process: PartProcess<R>
    try {
      process = open()
    } catch (error) {
      // Node throws some errors of fork(2), as that of a machine out of memory.
      this.#retry.later()
      return PcpError.from(error)
    }
    this.#process = process
    void process.ended.then((how) => this.#ended(process, how))
    try {
      const report = await process.started
      onStarted?.(report)
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
    const waitMs = this.#retry.later()
    // A failed start prints its own message.
    if (failure !== undefined && failure.code !== 'ECHILD') return
    const seconds = Math.round(waitMs / 1000)
    say(`${name}: ${how}; it is started again${seconds === 0 ? '' : ` in ${seconds} s`}`)
  }
}
