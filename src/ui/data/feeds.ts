/** Live subscriptions of the page: one for each host and interval, shared by all charts. */
import { type Signal, signal } from '@preact/signals'
import { kindOf } from '../chart/kinds/registry.ts'
import type { Chart, Plot } from '../view/view.ts'
import type { LiveRequest, LiveStream } from './live.ts'
import { KEPT, LiveStore } from './live-store.ts'

/** What one chart needs from a host. */
interface Need {
  readonly plots: readonly Plot[]
  /** Samples to keep of each metric. */
  readonly kept: number
}

interface Feed {
  readonly host: string
  readonly every: number
  readonly values: LiveValues
  readonly needs: Map<string, Need>
  asked: string
}

/** Tables and bars show the newest values only; counters need one more. */
const FEW = 3

/** A store of live values, and a number that changes when it has new ones. */
export interface LiveValues {
  readonly store: LiveStore
  readonly version: Signal<number>
}

/** State of a host's live values. */
export interface HostState {
  /** `waiting`: no values yet; `overdue`: the next values are late; `silent`: the server reported a reason. */
  readonly kind: 'waiting' | 'live' | 'overdue' | 'silent'
  /** Seconds since the newest values arrived; undefined before the first ones. */
  readonly quietSec: number | undefined
  /** Distinct reasons why there are no values. */
  readonly problems: readonly string[]
}

/** The live values of a page. */
export class Feeds {
  readonly #stream: LiveStream
  readonly #feeds = new Map<string, Feed>()
  readonly #due = new Set<Feed>()

  constructor(stream: LiveStream) {
    this.#stream = stream
  }

  /** Sets what a chart needs from a host, replacing its previous needs. Returns the store of the values. */
  setNeeds(chart: Chart, host: string, every: number, plots: readonly Plot[]): LiveValues {
    const key = `${every} ${host}`
    let feed = this.#feeds.get(key)
    if (feed === undefined) {
      feed = this.#newFeed(host, every)
      this.#feeds.set(key, feed)
    }
    const kept = kindOf(chart.style).list === undefined ? KEPT : FEW
    feed.needs.set(chart.id, { plots, kept })
    this.#later(feed)
    return feed.values
  }

  /** Drops the needs of a chart for all stores except `except`; for a removed chart, all of them. */
  release(chartId: string, except?: ReadonlySet<LiveStore>): void {
    for (const feed of this.#feeds.values())
      if (except?.has(feed.values.store) !== true && feed.needs.delete(chartId)) this.#later(feed)
  }

  /** Hosts of which charts show values. */
  get hosts(): readonly string[] {
    return [...new Set(Array.from(this.#feeds.values(), ({ host }) => host))]
  }

  /** Returns the state of a host; undefined if charts want no metric that it has. */
  stateOf(host: string): HostState | undefined {
    const stores = Array.from(this.#feeds.values())
      .filter((feed) => feed.host === host)
      .map(({ values }) => values.store)
      .filter((store) => store.problem !== undefined || store.isExpecting)
    if (stores.length === 0) return undefined
    const quiet = stores.flatMap(({ quietSec }) => quietSec ?? [])
    const quietSec = quiet.length === 0 ? undefined : Math.min(...quiet)
    const problems = [...new Set(stores.flatMap(({ problem }) => problem ?? []))]
    const isSilent = stores.every((store) => store.problem !== undefined || store.isOverdue)
    if (isSilent && problems.length > 0) return { kind: 'silent', quietSec, problems }
    if (stores.some((store) => store.isOverdue)) return { kind: 'overdue', quietSec, problems }
    return { kind: quietSec === undefined ? 'waiting' : 'live', quietSec, problems }
  }

  #newFeed(host: string, every: number): Feed {
    const needs = new Map<string, Need>()
    const wanted = (metric: string): number => {
      let most = FEW
      for (const { plots, kept } of needs.values())
        if (kept > most && plots.some((plot) => plot.metric === metric)) most = kept
      return most
    }
    const version = signal(0)
    const store = new LiveStore(wanted, () => version.value++, every)
    return { host, every, values: { store, version }, needs, asked: '' }
  }

  /** Defers subscribing to the end of the microtask, so that the needs of all charts are sent together. */
  #later(feed: Feed): void {
    if (this.#due.size === 0) queueMicrotask(() => this.#askAll())
    this.#due.add(feed)
  }

  #askAll(): void {
    for (const feed of this.#due) this.#ask(feed)
    this.#due.clear()
  }

  #ask(feed: Feed): void {
    const { host, every, needs, values } = feed
    const plots = [...needs.values()].flatMap((need) => need.plots)
    const metrics = [...new Set(plots.map(({ metric }) => metric))].sort()
    const derive = deriveOf(plots)
    const wish: LiveRequest = { host, every, metrics, derive }
    const asked = JSON.stringify(wish)
    if (asked === feed.asked) return
    feed.asked = asked
    const key = `${every} ${host}`
    if (metrics.length > 0) this.#stream.subscribe(key, wish, values.store)
    else {
      this.#stream.unsubscribe(key)
      this.#feeds.delete(key)
    }
  }
}

/** Returns the expressions of plots by the metric names that the page made up for them, sorted: charts come in any order. */
export function deriveOf(plots: readonly Plot[]): Record<string, string> {
  const named = plots.flatMap(({ metric, expr }) => (expr === undefined ? [] : [[metric, expr] as const]))
  return Object.fromEntries(named.sort())
}
