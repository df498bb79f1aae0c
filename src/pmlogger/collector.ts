/** A logger's collector: fetches, reconnecting, and notifications of changes. docs/reference/pmlogger.md */
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import {
  type FetchResult,
  PMCD_ADD_AGENT,
  PMCD_HOSTNAME_CHANGE,
  PMCD_LABEL_CHANGE,
  PMCD_NAMES_CHANGE,
  PMCD_RESTART_AGENT,
} from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'
import { ctime } from '../sys/log.ts'
import { bind, type ConfiguredRequest } from './bind.ts'
import { NO_COUNTS } from './counts.ts'
import type { LoggedMetric } from './logged-metric.ts'
import type { LoggerSettings } from './settings.ts'
import type { Fetch } from './tasks.ts'
import { validate } from './validate.ts'

/** Callbacks for changes of a collector. */
export interface CollectorActions {
  /** Aborts requests to the collector. */
  readonly signal: AbortSignal
  /** The recording is ending. */
  readonly isEnding: () => boolean
  /** Values before and after this call are not continuous. */
  readonly interrupted: () => void
  readonly reconnected: () => void
  /** There are more metrics to log. */
  readonly newMetrics: () => void
  readonly stop: (reason: string, status?: number) => void
}

/** State of a collector at the start. */
export interface CollectorParts {
  readonly context: Context
  readonly metrics: Map<Pmid, LoggedMetric>
  /** Requests for names without metrics at the start; metrics may appear below them later. */
  readonly roots: ConfiguredRequest[]
}

/** One collector, reached over a connection that is re-established after a loss. Calls must not overlap. */
export class Collector {
  /** Context labels have changed; cleared by the caller after recording them. */
  hasNewLabels = false
  readonly #settings: LoggerSettings
  readonly #context: Context
  readonly #metrics: Map<Pmid, LoggedMetric>
  #roots: ConfiguredRequest[]
  readonly #actions: CollectorActions
  #unsubscribe: () => void = () => {}
  #isLost = false
  /** Notified but not yet applied changes: PMCD_* bits. */
  #changes = 0

  constructor(
    settings: LoggerSettings,
    { context, metrics, roots }: CollectorParts,
    actions: CollectorActions,
  ) {
    this.#settings = settings
    this.#context = context
    this.#metrics = metrics
    this.#roots = roots
    this.#actions = actions
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Starts watching for a lost connection. */
  watch(): void {
    this.#unsubscribe()
    this.#unsubscribe = this.#context.subscribe((event) => {
      if (event.type === 'lost') this.#lose(PcpError.from(event.error))
    })
  }

  unwatch(): void {
    this.#unsubscribe()
  }

  /**
   * Reconnects if necessary, fetches, and applies the changes the collector notified. Logs failures and returns undefined.
   */
  async fetchAll(fetches: readonly Fetch[]): Promise<readonly FetchResult[] | undefined> {
    if (!(await this.#isConnected())) return undefined
    try {
      const results = await Promise.all(fetches.map((fetch) => this.#fetch(fetch)))
      for (const { changes } of results) this.#changes |= changes
      if (this.#changes !== 0) await this.#takeUp()
      return results
    } catch (error) {
      this.failed(PcpError.from(error))
      return undefined
    }
  }

  /** Logs a failed request. */
  failed(error: PcpError): void {
    if (this.#actions.isEnding()) return
    const { counts = NO_COUNTS, log, source } = this.#settings
    counts.fetchFailed()
    if (!this.#isLost) log.notice('error', `pmlogger: Fetch from "${source}": ${error.message}`)
  }

  #fetch({ pmids, profile }: Fetch): Promise<FetchResult> {
    this.#context.profile = profile
    return this.#context.fetch(pmids, { signal: this.#actions.signal })
  }

  #lose(error: PcpError): void {
    if (this.#isLost || this.#actions.isEnding()) return
    this.#isLost = true
    const { log, source } = this.#settings
    // pmlogger closed the connection itself, so only it knows the reason.
    if (error.code === 'PM_ERR_TOOBIG' || error.code === 'PM_ERR_IPC')
      log.notice('error', `pmlogger: Answer of "${source}" refused: ${error.message}`)
    log.notice('error', `pmlogger: Lost connection to PMCD on "${source}" at ${ctime(Date.now())}`)
  }

  /** Reconnects after a loss; returns false while the collector is unreachable. */
  async #isConnected(): Promise<boolean> {
    if (!this.#isLost) return true
    const { log, source } = this.#settings
    try {
      await this.#context.reconnect({ signal: this.#actions.signal })
    } catch {
      return false // retried when the next fetch is due, at most as often as the back-off allows
    }
    this.watch()
    log.notice('info', `pmlogger: re-established connection to PMCD on "${source}" at ${ctime(Date.now())}`)
    try {
      await this.#revalidate()
    } catch (error) {
      // Without revalidated metrics and a mark, later values could be misread, so the connection still counts as lost.
      log.notice(
        'error',
        `pmlogger: Cannot validate the metrics of "${source}": ${PcpError.from(error).message}`,
      )
      return false
    }
    if (this.#actions.isEnding()) return false
    this.#isLost = false
    this.#actions.interrupted()
    this.#actions.reconnected()
    return true
  }

  /** Applies changes of agents, names and labels. A change that fails is retried with the next results. */
  async #takeUp(): Promise<void> {
    const { isEnding, interrupted, newMetrics, stop } = this.#actions
    if ((this.#changes & PMCD_LABEL_CHANGE) !== 0) this.hasNewLabels = true
    this.#changes &= ~PMCD_LABEL_CHANGE
    if ((this.#changes & (PMCD_ADD_AGENT | PMCD_RESTART_AGENT)) !== 0) {
      await this.#revalidate()
      if (isEnding()) return
      interrupted()
      this.#changes &= ~(PMCD_ADD_AGENT | PMCD_RESTART_AGENT)
    }
    if ((this.#changes & PMCD_NAMES_CHANGE) !== 0) {
      const before = this.#metrics.size
      const { pool, defaultDeltaMs } = this.#settings
      // Missing metrics were reported at the start.
      const target = { metrics: this.#metrics, pool, defaultDeltaMs, warn: () => {} }
      this.#roots = await bind(this.#context, this.#roots, target)
      if (this.#metrics.size > before) newMetrics()
    }
    if ((this.#changes & PMCD_HOSTNAME_CHANGE) !== 0 && this.#settings.endsWithHostname)
      stop('The host has another name now, exiting')
    this.#changes = 0
  }

  /** Stops recording if metrics no longer match their descriptors in the archive. */
  async #revalidate(): Promise<void> {
    const problem = await validate(this.#context, this.#metrics.values())
    if (problem === undefined) return
    this.#settings.log.notice('error', problem)
    this.#actions.stop('The metrics of the collector have changed, exiting', 1)
  }
}
