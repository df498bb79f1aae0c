/** Evaluates rules on collectors in real time. docs/reference/pmie.md */

import type { Backoff } from '../base/backoff.ts'
import { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import { reconnectBackoff } from '../pmapi/lifecycle.ts'
import type { PerformAction } from '../rules/actions.ts'
import { deliver, type RuleHost } from '../rules/host.ts'
import type { Hosts } from '../rules/hosts.ts'
import { type LoadedRules, resolveFeed } from '../rules/load.ts'
import { isKnown, learnInstances, lookupMetric } from '../rules/lookup.ts'
import type { Reporter } from '../rules/problems.ts'
import type { EvaluationCounts } from '../rules/statement.ts'
import type { Task, TaskHost } from '../rules/task.ts'
import { connectHost, type LiveHost, type OpenHost } from './hosts.ts'
import { newCounts } from './replay-run.ts'

/** Settings of a live run. */
export interface LiveSettings {
  readonly hosts: Hosts
  readonly open: OpenHost
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Duration from the first evaluation; may be Infinity. */
  readonly lengthSec: number
  readonly file: string
  readonly perform: PerformAction
  readonly reporter: Reporter
  readonly signal: AbortSignal
  /** Reports the result of an evaluation. */
  readonly report: (task: Task, sec: number) => void
  readonly flush: () => Promise<void>
  /** Seconds between reconnection attempts; up to half is added at random. */
  readonly reconnectTimeouts: readonly number[]
  /** Random numbers in [0, 1) for these delays. Default Math.random. */
  readonly random?: () => number
  /** Called after each evaluation of a task. */
  readonly onCounts: (counts: EvaluationCounts) => void
}

/** A task later than this skips the missed evaluations. */
const MAX_LATE_MS = 1000

/** Evaluates all tasks until the duration is over or the signal aborts. */
export async function runLive(rules: LoadedRules, settings: LiveSettings): Promise<EvaluationCounts> {
  const { clock, signal, lengthSec } = settings
  const counts = newCounts()
  const keeper = new HostReconnector(rules, settings)
  const start = clock.now()
  const queue = rules.tasks.map((task) => ({ task, due: start }))
  try {
    while (queue.length > 0) {
      const next = queue.shift()!
      if (next.due - start > lengthSec * 1000) break
      const wait = next.due - clock.now()
      if (wait > 0) await clock.sleep(wait, signal)
      if (signal.aborted) break
      await evaluate(next.task, counts, keeper, settings)
      settings.onCounts(counts)
      const deltaMs = next.task.deltaSec * 1000
      next.due += deltaMs
      // Missed evaluations are not repeated.
      const late = clock.now() - next.due
      if (late > MAX_LATE_MS) next.due += Math.ceil(late / deltaMs) * deltaMs
      const at = queue.findIndex(({ due }) => due >= next.due)
      queue.splice(at < 0 ? queue.length : at, 0, next)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return counts
}

async function evaluate(
  task: Task,
  counts: EvaluationCounts,
  keeper: HostReconnector,
  settings: LiveSettings,
): Promise<void> {
  const { now, perform, file, report, flush } = settings
  await keeper.prepare(task)
  await Promise.all(task.hosts.map((entry) => keeper.fetch(entry)))
  const sec = now() / 1000
  // Rates use the collector's timestamps.
  const fetched = task.hosts.flatMap(({ ready }) => ready.feeds).find(({ set }) => set !== undefined)
  await task.evaluate(sec, { counts, perform, file }, fetched?.sec)
  report(task, sec)
  await flush()
}

/** Keeps connections alive and looks up metrics that become available. */
class HostReconnector {
  readonly #rules: LoadedRules
  readonly #settings: LiveSettings
  readonly #backoffs = new Map<RuleHost, Backoff>()
  readonly #connecting = new Set<RuleHost>()
  /** Reconnected hosts whose metrics have to be looked up again. */
  readonly #fresh = new Set<RuleHost>()

  constructor(rules: LoadedRules, settings: LiveSettings) {
    this.#rules = rules
    this.#settings = settings
    for (const host of settings.hosts.all) if (host.context === undefined) this.#failed(host)
  }

  /** Starts due reconnections without waiting for them, and looks up unknown metrics. */
  async prepare(task: Task): Promise<void> {
    if (this.#fresh.size > 0) await this.#relearnAll()
    let isChanged = false
    for (const { host, feeds } of task.hosts) {
      if (host.context === undefined) this.#reconnect(host)
      else if (feeds.some(({ known }) => known === undefined)) {
        for (const feed of feeds) {
          if (feed.known !== undefined) continue
          const known = await this.#quietly(host, () =>
            lookupMetric(host.context!, feed.metric, this.#settings.signal),
          )
          if (known === undefined || !isKnown(known)) continue
          task.setMetric(feed, known)
          isChanged = true
        }
      }
    }
    if (await this.#learnMissing(task)) isChanged = true
    if (isChanged) task.rebuild(this.#rules.hostsOf)
  }

  /** Looks up instances that rules name and that were missing. */
  async #learnMissing(task: Task): Promise<boolean> {
    let isChanged = false
    for (const { feed, names } of task.missing()) {
      const { host, known } = feed
      if (host.context === undefined || known === undefined) continue
      const found = await this.#quietly(host, () =>
        host.context!.instances(known.desc.indom, { signal: this.#settings.signal }),
      )
      if (found === undefined) continue
      known.names.clear()
      for (const [i, id] of found.ids.entries()) known.names.set(id, found.names[i]!)
      const isThere = (name: string): boolean =>
        found.names.some((each) => each === name || each.startsWith(`${name} `))
      if (names.some(isThere)) isChanged = true
    }
    return isChanged
  }

  /** Fetches a task's metrics from one host; a failure leaves them without values. */
  async fetch({ host, ready }: TaskHost): Promise<void> {
    const { signal } = this.#settings
    const { context } = host
    if (context === undefined || ready.ids.length === 0) {
      deliver(ready.feeds, undefined)
      return
    }
    const result = await this.#quietly(host, () => context.fetch(ready.ids, { signal }))
    deliver(ready.feeds, result)
    if (result === undefined) return
    for (const { known, set } of ready.feeds)
      if (set !== undefined && set.status > 0 && known!.size !== 1 && set.inst[0] !== -1)
        await this.#quietly(host, () => learnInstances(context, known!, set.inst, signal))
  }

  /** Runs a request; if the connection is lost, schedules reconnecting and returns undefined. */
  async #quietly<T>(host: RuleHost, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask()
    } catch (error) {
      if (this.#settings.signal.aborted) throw error
      const { code, text } = PcpError.from(error)
      if (ABOUT_ONE_METRIC.has(code)) return undefined
      const { reporter } = this.#settings
      reporter.log('error', `pmFetch from ${host.name} failed: ${text}`)
      reporter.log('info', `Lost connection to pmcd ${host.connection}`)
      const { context } = host
      host.context = undefined
      this.#failed(host)
      await context?.close().catch(() => {})
      return undefined
    }
  }

  #failed(host: RuleHost): void {
    const { clock, reconnectTimeouts, random } = this.#settings
    const backoff = this.#backoffs.get(host) ?? reconnectBackoff(reconnectTimeouts, random)
    this.#backoffs.set(host, backoff)
    backoff.failed(clock.now())
  }

  #reconnect(host: RuleHost): void {
    const { open, signal, clock, reporter } = this.#settings
    if (this.#connecting.has(host) || this.#backoffs.get(host)?.canRetry(clock.now()) === false) return
    this.#connecting.add(host)
    connectHost(host as LiveHost, open, signal)
      .then(
        () => {
          this.#backoffs.get(host)?.succeeded(clock.now())
          this.#fresh.add(host)
          reporter.log('info', `Re-established connection to pmcd ${host.connection}`)
        },
        () => this.#failed(host),
      )
      .finally(() => this.#connecting.delete(host))
  }

  /** Looks up all metrics again: after a reconnection, names may belong to other metrics. */
  async #relearnAll(): Promise<void> {
    const fresh = new Set(this.#fresh)
    this.#fresh.clear()
    for (const task of this.#rules.tasks) {
      let isChanged = false
      for (const { host, feeds } of task.hosts) {
        if (!fresh.has(host)) continue
        isChanged = true
        for (const feed of feeds) {
          task.setMetric(feed, undefined)
          await this.#quietly(host, () => resolveFeed(task, feed, undefined, this.#settings))
        }
      }
      if (isChanged) task.rebuild(this.#rules.hostsOf)
    }
  }
}

/** Errors of a single metric; the connection still works. */
const ABOUT_ONE_METRIC: ReadonlySet<string> = new Set([
  'PM_ERR_NAME',
  'PM_ERR_PMID',
  'PM_ERR_INDOM',
  'PM_ERR_INST',
  'PM_ERR_NOAGENT',
  'PM_ERR_AGAIN',
  'PM_ERR_VALUE',
])
