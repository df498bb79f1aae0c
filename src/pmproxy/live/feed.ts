/**
 * One host at one interval: a single fetch at a time serves all pages that watch it. docs/pmproxy.md
 *
 *     pages ──► topics ──► feed ──► context ──► collector
 *       ▲          │        │
 *       └── rows ──┴────────┘  every interval, in step with the clock
 */
import { after } from '../../base/after.ts'
import { Backoff, doublingDelays } from '../../base/backoff.ts'
import { isError, PcpError } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import { type FetchResult, OTHER_METRICS, type ValueSet } from '../../model/values.ts'
import type { CallOptions, Context } from '../../pmapi/context.ts'
import { describeNames, orNothing } from '../describe.ts'
import type { Statistics } from '../statistics.ts'
import type { Page } from './page.ts'
import { isSame, Topic, type TopicMetric } from './topic.ts'

/** What a page wants to watch. */
export interface Wish {
  readonly metrics: readonly string[]
  /** Expressions by the names they have among the metrics. */
  readonly derive: Readonly<Record<string, string>>
}

/** Metrics and expressions of one feed. */
const MOST_METRICS = 10_000
const MOST_DERIVED = 500
/** Delays between attempts to reach a collector again, ms. Short, as a person is watching. */
const RETRY_MS = doublingDelays(2000, 10_000)
/** The moment is not closer than this, ms. */
const EARLY_MS = 5

/** Names of the instances of a domain, and which of them a fetch had. */
interface KnownNames {
  readonly ids: Int32Array
  readonly names: ReadonlyMap<number, string>
  /** How often names were missing for these: a domain may never have them. */
  readonly misses: number
}

/** Requests for the names of the same instances while some are missing. A failed request does not count. */
const MOST_MISSES = 5

const NO_NAMES: ReadonlyMap<number, string> = new Map()

interface Watched {
  readonly topic: Topic
  readonly wish: Wish
  /** Keys under which pages know it. */
  readonly pages: Map<Page, Set<string>>
}

/** A host at an interval. */
export class Feed {
  readonly everyMs: number
  readonly #newContext: () => Promise<Context>
  #opened: Context | undefined
  readonly #statistics: Statistics
  readonly #nextTopic: () => number
  readonly #topics = new Map<string, Watched>()
  /** Topics that are being described: pages that come back together ask for the same. */
  readonly #opening = new Map<string, { readonly wish: Wish; readonly watched: Promise<Watched> }>()
  readonly #names = new Map<number, KnownNames>()
  /** Names of expressions in the context, by expression. */
  readonly #derived = new Map<string, Promise<string | PcpError>>()
  readonly #aborter = new AbortController()
  #hostname = ''
  #cancel: () => void = () => {}
  #isBusy = false
  /** Why the collector does not answer. */
  #lost: PcpError | undefined
  #hasChanged = false
  /** Were metrics others when the fetch before was answered? */
  #hasOthers = false
  readonly #backoff: Backoff
  #lastDerived = 0

  /**
   * `newContext` opens a context that is the feed's own, at the start and whenever the collector was away; `random` spreads the
   * attempts of many feeds.
   */
  constructor(
    newContext: () => Promise<Context>,
    everyMs: number,
    statistics: Statistics,
    nextTopic: () => number,
    random: () => number = Math.random,
  ) {
    this.#newContext = newContext
    this.everyMs = everyMs
    this.#statistics = statistics
    this.#nextTopic = nextTopic
    this.#backoff = new Backoff({ delaysMs: RETRY_MS, random })
  }

  /** Connects, and asks who answers. Errors of the context. */
  async start(): Promise<void> {
    await this.#connect()
    this.#schedule()
  }

  /** Makes a page watch a list of metrics under a key, unless the signal is given meanwhile. PM_ERR_TOOBIG for too many. */
  async watch(page: Page, key: string, wish: Wish, signal: AbortSignal): Promise<() => void> {
    const id = JSON.stringify([wish.metrics, wish.derive])
    const opened = this.#topics.get(id) ?? (await this.#open(id, wish))
    if (signal.aborted) return () => {}
    const watched = this.#topics.get(id) ?? opened
    this.#topics.set(id, watched)
    const keys = watched.pages.get(page) ?? new Set()
    watched.pages.set(page, keys.add(key))
    page.tell(this.#announcement(watched, key))
    if (this.#lost !== undefined) page.tell(lostMessage(watched.topic, this.#lost))
    let isWatching = true
    return () => {
      if (!isWatching) return
      isWatching = false
      keys.delete(key)
      if (keys.size > 0) return
      watched.pages.delete(page)
      page.forget(watched.topic)
      if (watched.pages.size === 0) this.#topics.delete(id)
    }
  }

  /** Ends it; idempotent. */
  async close(): Promise<void> {
    this.#cancel()
    this.#aborter.abort()
    this.#topics.clear()
    await this.#opened?.close()
  }

  get #context(): Context {
    if (this.#opened !== undefined) return this.#opened
    throw this.#lost ?? new PcpError('PM_ERR_NOTCONN')
  }

  /** Errors leave it without a context. */
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
      if ((event.changes & OTHER_METRICS) !== 0) this.#hasOthers = true
    })
    this.#derived.clear()
    this.#opened = context
    // The feed was closed while nobody had a context to close.
    if (this.#aborter.signal.aborted) await context.close()
  }

  get #options(): CallOptions {
    return { signal: this.#aborter.signal }
  }

  #announcement({ topic }: Watched, key: string): string {
    return topic.announcement(key, this.#hostname, this.everyMs / 1000)
  }

  #open(id: string, wish: Wish): Promise<Watched> {
    let opening = this.#opening.get(id)
    if (opening === undefined) {
      const total = this.#wishes.reduce((sum, { metrics }) => sum + metrics.length, wish.metrics.length)
      if (total > MOST_METRICS)
        throw new PcpError('PM_ERR_TOOBIG', `More than ${MOST_METRICS} metrics of one host are being watched`)
      // Begun a moment later: from its beginning on it is one of those that are being described.
      const watched = Promise.resolve()
        .then(() => this.#newTopic(wish))
        .finally(() => this.#opening.delete(id))
      opening = { wish, watched }
      this.#opening.set(id, opening)
    }
    return opening.watched
  }

  /** All that is watched, or will be. */
  get #wishes(): readonly Wish[] {
    return [...this.#topics.values(), ...this.#opening.values()].map(({ wish }) => wish)
  }

  async #newTopic(wish: Wish): Promise<Watched> {
    const topic = new Topic(this.#nextTopic(), wish.metrics)
    topic.describe(await this.#describe(wish))
    return { topic, wish, pages: new Map() }
  }

  async #describe({ metrics, derive }: Wish): Promise<TopicMetric[]> {
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
        const help = await orNothing(this.#context.text(desc.pmid, { ...this.#options, level: 'oneline' }))
        return { name, desc, help: help ?? '' }
      }),
    )
  }

  /** The name of an expression: equal ones are one metric. */
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

  /** What was typed and replaced is still defined in the context. */
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

  /** The next moment that is a whole number of intervals since the epoch: feeds of one interval, and their rows, are in step. */
  #schedule(): void {
    if (this.#aborter.signal.aborted) return
    const left = this.everyMs - (Date.now() % this.everyMs)
    // Timers may be early by a millisecond: that is the moment we have just had.
    const ms = left > EARLY_MS ? left : left + this.everyMs
    this.#cancel = after(ms, () => void this.#tick(), { isBackground: true })
  }

  async #tick(): Promise<void> {
    this.#schedule()
    if (this.#isBusy || this.#topics.size === 0) return // a slow collector loses rows rather than getting more questions
    if (this.#lost !== undefined && !this.#backoff.mayTry(performance.now())) return
    this.#isBusy = true
    try {
      if (this.#lost !== undefined) await this.#comeBack()
      else if (this.#hasChanged) await this.#refresh(false)
      await this.#fetch()
    } catch (error) {
      this.#lose(PcpError.from(error))
    } finally {
      this.#isBusy = false
    }
  }

  async #fetch(): Promise<void> {
    const ids = [...new Set([...this.#topics.values()].flatMap(({ topic }) => topic.pmids))]
    if (ids.length === 0) return
    this.#statistics.liveFetches++
    const wasOther = this.#hasOthers
    this.#hasOthers = false
    const result = await this.#context.fetch(ids, this.#options)
    // These may be values of other types than pages have been told. Where agents come and go all the time there are rows all the same.
    if (this.#hasOthers && !wasOther) return
    const sets = new Map<Pmid, ValueSet>(ids.map((id, i) => [id, result.sets[i]!]))
    await this.#learnNames(sets)
    for (const { topic, pages } of this.#topics.values()) this.#send(topic, pages, result, sets)
  }

  #send(
    topic: Topic,
    pages: Watched['pages'],
    { timestamp }: FetchResult,
    sets: ReadonlyMap<Pmid, ValueSet>,
  ): void {
    const row = topic.row(timestamp, sets, (indom) => this.#names.get(indom)?.names ?? NO_NAMES)
    for (const page of pages.keys()) page.offer(topic, row)
  }

  /** Requests the names of domains whose instances have changed, or have no names yet. */
  async #learnNames(sets: ReadonlyMap<Pmid, ValueSet>): Promise<void> {
    const indoms = new Map<number, Int32Array>()
    const unnamed = new Set<number>()
    for (const { topic } of this.#topics.values())
      for (const [indom, id] of topic.indoms) {
        const set = sets.get(id)
        if (set === undefined || set.status <= 0) continue
        if (set.status > (indoms.get(indom)?.length ?? 0)) indoms.set(indom, set.inst)
        const names = this.#names.get(indom)?.names
        if (names !== undefined && !set.inst.every((inst) => names.has(inst))) unnamed.add(indom)
      }
    await Promise.all([...indoms].map(([indom, ids]) => this.#learnNamesOf(indom, ids, unnamed.has(indom))))
  }

  async #learnNamesOf(indom: number, ids: Int32Array, isUnnamed: boolean): Promise<void> {
    const known = this.#names.get(indom)
    const isKnown = known !== undefined && isSame(known.ids, ids)
    const misses = isKnown ? known.misses : 0
    if (isKnown && (!isUnnamed || misses >= MOST_MISSES)) return
    const found = await orNothing(this.#context.instances(indom, this.#options))
    // An agent may have values before it has names: known names stay.
    const names =
      found === undefined ? known?.names : new Map(found.ids.map((id, i) => [id, found.names[i]!]))
    this.#names.set(indom, {
      ids: ids.slice(),
      names: names ?? NO_NAMES,
      misses: found === undefined ? 0 : misses + 1,
    })
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

  /** Looks again what metrics are, and tells of those that are not what they were, or of all: agents come, go, and come back as others. */
  async #refresh(all: boolean): Promise<void> {
    this.#hasChanged = false
    this.#names.clear()
    // What an expression is made of may be there now.
    for (const [expression, defined] of this.#derived)
      if (isError(await defined)) this.#derived.delete(expression)
    for (const watched of this.#topics.values()) {
      const isOther = watched.topic.describe(await this.#describe(watched.wish))
      if (!isOther && !all) continue
      for (const [page, keys] of watched.pages) {
        page.forget(watched.topic)
        for (const key of keys) page.tell(this.#announcement(watched, key))
      }
    }
  }

  #tellAll(message: (watched: Watched) => string): void {
    for (const watched of this.#topics.values())
      for (const page of watched.pages.keys()) page.tell(message(watched))
  }
}

/** Defines an expression under a name, which nobody has when it cannot be; never rejects. */
async function addDerived(
  context: Context,
  name: string,
  expression: string,
  options: CallOptions,
): Promise<string | PcpError> {
  try {
    await context.addDerived(name, expression, options)
    return name
  } catch (error) {
    try {
      context.removeDerived(name)
    } catch {} // what cannot be read was not defined
    return PcpError.from(error)
  }
}

function lostMessage(topic: Topic, { message }: PcpError): string {
  return `{"type":"lost","topic":${topic.id},"message":${JSON.stringify(message)}}`
}
