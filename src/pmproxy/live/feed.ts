/**
 * One host at one interval. A single fetch at a time serves all pages that watch it. docs/reference/pmproxy.md
 *
 *     pages ──► topics ──► feed ──► context ──► collector
 *       ▲          │        │
 *       └── rows ──┴────────┘  every interval, aligned with the clock
 */
import { setLongTimeout } from '../../base/after.ts'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import { type FetchResult, METRICS_MAY_HAVE_CHANGED, type ValueSet } from '../../model/values.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { describeNames, orUndefined } from '../describe.ts'
import type { Statistics } from '../statistics.ts'
import { addDerived } from './add-derived.ts'
import { InstanceNames } from './instance-names.ts'
import type { Page } from './page.ts'
import { type RingBudget, RowRing } from './row-ring.ts'
import { Topic, type TopicMetric } from './topic.ts'
import { type Watched, WatchedTopics, type WatchRequest } from './watched-topics.ts'

/** Rows at longer intervals are not finer than what is recorded, ms. */
const FINE_MS = 5000
/** Maximum number of metrics and of expressions of a feed. */
const MOST_METRICS = 10_000
const MOST_DERIVED = 500
/** Delays before reconnecting to a collector, ms. Short, because a person is watching. */
const RETRY_MS = doublingDelays(2000, 10_000)
/** Rows keep this distance from a row that is hastened, ms: rates over shorter times are noise. */
const SOON_MS = 200
/** Rows that a new topic does not wait for: the second one makes rates. */
const FIRST_ROWS = 2
/** A tick that is due sooner than this is skipped, ms. */
const EARLY_MS = 5

/** Values of a host at an interval. */
export class Feed {
  readonly everyMs: number
  readonly #newContext: () => Promise<Context>
  #opened: Context | undefined
  readonly #statistics: Statistics
  readonly #nextTopic: () => number
  readonly #topics = new WatchedTopics()
  /** Topics being described; pages that reconnect together share them. */
  readonly #opening = new Map<string, { readonly wish: WatchRequest; readonly watched: Promise<Watched> }>()
  readonly #names = new InstanceNames()
  /** Names of expressions in the context, by expression. */
  readonly #derived = new Map<string, Promise<string | PcpError>>()
  readonly #aborter = new AbortController()
  #hostname = ''
  #cancel: () => void = () => {}
  #cancelHastened: () => void = () => {}
  #isBusy = false
  #isHastening = false
  /** Is a tick waiting for the end of a hastened fetch? */
  #isTickLate = false
  /** Topics that want rows before the next tick, and how many. */
  readonly #hastened = new Map<Watched, number>()
  /** Error of the connection to the collector. */
  #lost: PcpError | undefined
  #hasChanged = false
  /** Had metrics changed when the previous fetch was answered? */
  #hasOthers = false
  readonly #backoff: Backoff
  #lastDerived = 0
  /** Time of the last fetch, ms of the monotonic clock. */
  #fetchedAt = -Infinity
  readonly #ringBudget: RingBudget

  /**
   * `newContext` opens a context for this feed, at the start and after each loss of the collector; `random` spreads the attempts of many
   * feeds. Rings with the newest rows share the budget.
   */
  constructor(
    newContext: () => Promise<Context>,
    everyMs: number,
    statistics: Statistics,
    nextTopic: () => number,
    random: () => number = Math.random,
    ringBudget: RingBudget = { bytes: 0 },
  ) {
    this.#ringBudget = ringBudget
    this.#newContext = newContext
    this.everyMs = everyMs
    this.#statistics = statistics
    this.#nextTopic = nextTopic
    this.#backoff = new Backoff({ delaysMs: RETRY_MS, random })
  }

  /** Connects and reads the host name. Errors of the context. */
  async start(): Promise<void> {
    await this.#connect()
    this.#schedule()
  }

  /** Subscribes a page to metrics under a key, unless the signal is aborted meanwhile. PM_ERR_TOOBIG for too many. */
  async watch(page: Page, key: string, wish: WatchRequest, signal: AbortSignal): Promise<() => void> {
    const id = JSON.stringify([wish.metrics, Object.entries(wish.derive).sort()])
    const opened = this.#topics.get(id) ?? (await this.#open(id, wish))
    if (signal.aborted) return () => {}
    const watched = this.#topics.get(id) ?? opened
    this.#topics.join(id, watched, page, key)
    page.send(this.#announcement(watched, key))
    const ring = wish.past === true && this.everyMs <= FINE_MS ? this.#ringOf(watched) : undefined
    if (ring?.hasRows === true) page.sendPast(watched.topic, () => ring.message(watched.topic.id))
    else if (watched.newest !== undefined) page.sendRow(watched.topic, watched.newest)
    else this.#hasten(watched)
    if (this.#lost !== undefined) page.send(lostMessage(watched.topic, this.#lost))
    let isWatching = true
    return () => {
      if (!isWatching) return
      isWatching = false
      this.#topics.leave(id, watched, page, key)
    }
  }

  /** Returns the kept rows. Keeps rows from now on. */
  #ringOf(watched: Watched): RowRing {
    watched.ring ??= new RowRing(this.#ringBudget)
    return watched.ring
  }

  /** Is a topic without a page kept for a while? */
  get isLingering(): boolean {
    return this.#topics.isLingering
  }

  /** Ends the feed; idempotent. */
  async close(): Promise<void> {
    this.#cancel()
    this.#cancelHastened()
    this.#aborter.abort()
    this.#topics.clear()
    await this.#opened?.close()
  }

  get #context(): Context {
    if (this.#opened !== undefined) return this.#opened
    throw this.#lost ?? new PcpError('PM_ERR_NOTCONN')
  }

  /** Opens a new context. After an error there is none. */
  async #connect(): Promise<void> {
    const before = this.#opened
    this.#opened = undefined
    await before?.close()
    const context = await this.#newContext()
    try {
      this.#hostname = await context.hostname(this.#options)
    } catch (error) {
      await context.close()
      throw error
    }
    context.subscribe((event) => {
      if (event.type !== 'changed') return
      this.#hasChanged = true
      if ((event.changes & METRICS_MAY_HAVE_CHANGED) !== 0) this.#hasOthers = true
    })
    this.#derived.clear()
    this.#opened = context
    // The feed was closed before this context existed.
    if (this.#aborter.signal.aborted) await context.close()
  }

  get #options(): CallOptions {
    return { signal: this.#aborter.signal }
  }

  #announcement({ topic }: Watched, key: string): string {
    return topic.announcement(key, this.#hostname, this.everyMs / 1000)
  }

  #open(id: string, wish: WatchRequest): Promise<Watched> {
    let opening = this.#opening.get(id)
    if (opening === undefined) {
      this.#topics.dropIdle(() => this.#metricCount(wish) > MOST_METRICS)
      if (this.#metricCount(wish) > MOST_METRICS)
        throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_METRICS} metrics watched on one host`)
      // Starts a turn later, so that it is in `#opening` from its beginning on.
      const watched = Promise.resolve()
        .then(() => this.#newTopic(wish))
        .finally(() => this.#opening.delete(id))
      opening = { wish, watched }
      this.#opening.set(id, opening)
    }
    return opening.watched
  }

  #metricCount(more: WatchRequest): number {
    return this.#wishes.reduce((sum, { metrics }) => sum + metrics.length, more.metrics.length)
  }

  /** Metrics of all topics, including those being described. */
  get #wishes(): readonly WatchRequest[] {
    return [...this.#topics.values(), ...this.#opening.values()].map(({ wish }) => wish)
  }

  async #newTopic(wish: WatchRequest): Promise<Watched> {
    const topic = new Topic(this.#nextTopic(), wish.metrics)
    topic.describe(await this.#describe(wish))
    return { topic, wish, pages: new Map(), ring: undefined, newest: undefined, idle: undefined }
  }

  async #describe({ metrics, derive }: WatchRequest): Promise<TopicMetric[]> {
    const names = await Promise.all(
      metrics.map((name) => (Object.hasOwn(derive, name) ? this.#define(derive[name]!) : name)),
    )
    const known = names.filter((name) => typeof name === 'string')
    const found = await describeNames(this.#context, known, this.#options)
    let next = 0
    return Promise.all(
      metrics.map(async (name, i): Promise<TopicMetric> => {
        const outcome = isError(names[i]!) ? names[i] : found[next++]!
        if (isError(outcome)) return { name, error: outcome }
        const { desc } = outcome
        const help = await orUndefined(this.#context.text(desc.pmid, { ...this.#options, level: 'oneline' }))
        return { name, desc, help: help ?? '' }
      }),
    )
  }

  /** Returns the name of an expression; equal expressions share one. */
  async #define(expression: string): Promise<string | PcpError> {
    const known = this.#derived.get(expression)
    if (known !== undefined) return known
    if (this.#derived.size >= MOST_DERIVED) this.#forgetUnused()
    if (this.#derived.size >= MOST_DERIVED)
      return new PcpError('PM_ERR_TOOBIG', `More than ${MOST_DERIVED} expressions for one host`)
    const defined = addDerived(this.#context, `live.d${++this.#lastDerived}`, expression, this.#options)
    this.#derived.set(expression, defined)
    return defined
  }

  /** Removes expressions that pages no longer use from the context. */
  #forgetUnused(): void {
    const context = this.#context
    const used = new Set(this.#wishes.flatMap(({ derive }) => Object.values(derive)))
    for (const [expression, defined] of this.#derived) {
      if (used.has(expression)) continue
      this.#derived.delete(expression)
      void defined.then((name) => {
        if (!isError(name)) context.removeDerived(name)
      })
    }
  }

  /** Schedules the next tick at a multiple of the interval since the epoch, so that feeds of one interval are in step. */
  #schedule(): void {
    if (this.#aborter.signal.aborted) return
    const left = this.#untilTick
    // Timers may fire a millisecond early; then this would repeat the current tick.
    const ms = left > EARLY_MS ? left : left + this.everyMs
    this.#cancel = setLongTimeout(ms, () => void this.#tick(), { isBackground: true })
  }

  get #untilTick(): number {
    return this.everyMs - (Date.now() % this.everyMs)
  }

  /** Fetches rows of a new topic before the next tick. It would else wait for two ticks for its rates: up to twenty seconds for file systems. */
  #hasten(watched: Watched): void {
    this.#hastened.set(watched, FIRST_ROWS)
    this.#scheduleHastened()
  }

  /** Schedules the next hastened row, at a distance from the row before: other topics may have the same values. */
  #scheduleHastened(): void {
    if (this.#hastened.size === 0 || this.#aborter.signal.aborted) return
    this.#cancelHastened()
    const ms = this.#fetchedAt + SOON_MS - performance.now()
    this.#cancelHastened = setLongTimeout(ms, () => void this.#fetchHastened(), { isBackground: true })
  }

  async #fetchHastened(): Promise<void> {
    if (this.#isBusy || this.#lost !== undefined || this.#untilTick < SOON_MS) return // the tick schedules it again
    this.#isBusy = this.#isHastening = true
    try {
      await this.#fetch([...this.#hastened.keys()].filter((watched) => this.#topics.has(watched)))
    } catch {
      // The next tick meets and reports the same.
      this.#hastened.clear()
    } finally {
      this.#isBusy = this.#isHastening = false
    }
    if (this.#isTickLate) {
      this.#isTickLate = false
      await this.#fetchAll()
    } else this.#scheduleHastened()
  }

  async #tick(): Promise<void> {
    this.#schedule()
    if (this.#isHastening) this.#isTickLate = true
    else await this.#fetchAll()
  }

  async #fetchAll(): Promise<void> {
    if (this.#isBusy || this.#topics.size === 0) return // a slow collector skips rows instead of getting more requests
    if (this.#lost !== undefined && !this.#backoff.canRetry(performance.now())) return
    this.#isBusy = true
    try {
      if (this.#lost !== undefined) await this.#comeBack()
      else if (this.#hasChanged) await this.#refresh(false)
      await this.#fetch([...this.#topics.values()])
    } catch (error) {
      this.#lose(PcpError.from(error))
    } finally {
      this.#isBusy = false
    }
    this.#scheduleHastened()
  }

  async #fetch(all: readonly Watched[]): Promise<void> {
    for (const [watched, rows] of this.#hastened)
      if (rows > 1 && all.includes(watched)) this.#hastened.set(watched, rows - 1)
      else if (all.includes(watched) || !this.#topics.has(watched)) this.#hastened.delete(watched)
    const ids = [...new Set(all.flatMap(({ topic }) => topic.pmids))]
    if (ids.length === 0) return
    this.#statistics.liveFetches++
    this.#fetchedAt = performance.now()
    const wasOther = this.#hasOthers
    this.#hasOthers = false
    const result = await this.#context.fetch(ids, this.#options)
    // These values may have types that pages do not know yet. If agents change all the time, rows are sent anyway.
    if (this.#hasOthers && !wasOther) return
    const sets = new Map<Pmid, ValueSet>(ids.map((id, i) => [id, result.sets[i]!]))
    const topics = [...this.#topics.values()].map(({ topic }) => topic)
    await this.#names.learn(topics, sets, (indom) => this.#context.instances(indom, this.#options))
    // Pages may have left meanwhile; rows of a dropped topic would stay in its ring.
    for (const watched of all) if (this.#topics.has(watched)) this.#send(watched, result, sets)
  }

  #send(watched: Watched, { timestamp }: FetchResult, sets: ReadonlyMap<Pmid, ValueSet>): void {
    const { topic, pages, ring } = watched
    const row = topic.row(timestamp, sets, (indom) => this.#names.of(indom))
    watched.newest = row
    ring?.add(row, topic.instances)
    for (const page of pages.keys()) page.sendRow(topic, row)
  }

  #lose(error: PcpError): void {
    if (this.#aborter.signal.aborted) return
    this.#backoff.failed(performance.now())
    if (this.#lost !== undefined) return
    this.#lost = error
    this.#tellAll(({ topic }) => lostMessage(topic, error))
  }

  async #comeBack(): Promise<void> {
    await this.#connect()
    await this.#refresh(true)
    this.#lost = undefined
    this.#backoff.succeeded(performance.now())
    this.#tellAll(({ topic }) => `{"type":"back","topic":${topic.id}}`)
  }

  /** Describes the metrics again, and announces changed topics, or all: agents come, go, and return with other metrics. */
  async #refresh(all: boolean): Promise<void> {
    this.#hasChanged = false
    this.#names.clear()
    // Operands of failed expressions may exist now.
    for (const [expression, defined] of this.#derived)
      if (isError(await defined)) this.#derived.delete(expression)
    for (const watched of this.#topics.values()) {
      watched.newest = undefined
      const isOther = watched.topic.describe(await this.#describe(watched.wish))
      if (isOther) watched.ring?.clear()
      if (!isOther && !all) continue
      for (const [page, keys] of watched.pages) {
        page.forget(watched.topic)
        for (const key of keys) page.send(this.#announcement(watched, key))
      }
    }
  }

  #tellAll(message: (watched: Watched) => string): void {
    for (const watched of this.#topics.values())
      for (const page of watched.pages.keys()) page.send(message(watched))
  }
}

function lostMessage(topic: Topic, { message }: PcpError): string {
  return `{"type":"lost","topic":${topic.id},"message":${JSON.stringify(message)}}`
}
