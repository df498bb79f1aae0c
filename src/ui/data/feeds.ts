/** What the charts of a page need, put together: one subscription a host and interval, whatever charts share it. */
import { type Signal, signal } from '@preact/signals'
import { kindOf } from '../chart/kinds/registry.ts'
import type { Chart, Plot } from '../view/view.ts'
import type { LiveStream, Wish } from './live.ts'
import { KEPT, LiveStore } from './live-store.ts'

/** What one chart needs of a host. */
interface Need {
  readonly plots: readonly Plot[]
  /** Samples of each metric. */
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

/** Where live values are, and a number that changes whenever there are new ones. */
export interface LiveValues {
  readonly store: LiveStore
  readonly version: Signal<number>
}

/** What arrives of a host. */
export interface HostState {
  /** `waiting` for the first values, `overdue` without the next ones, `silent` for a reason that the server gives. */
  readonly kind: 'waiting' | 'live' | 'overdue' | 'silent'
  /** Seconds since the newest values arrived; undefined before the first ones. */
  readonly quietSec: number | undefined
  /** Why there are no values; each reason once. */
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

  /** Says what a chart needs of a host, in place of what it needed before; returns where the values will be. */
  need(chart: Chart, host: string, every: number, plots: readonly Plot[]): LiveValues {
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

  /** A chart needs nothing of any host and interval but these; of a chart that is gone, of none. */
  release(chartId: string, except?: ReadonlySet<LiveStore>): void {
    for (const feed of this.#feeds.values())
      if (except?.has(feed.values.store) !== true && feed.needs.delete(chartId)) this.#later(feed)
  }

  /** Hosts that charts want values of. */
  get hosts(): readonly string[] {
    return [...new Set(Array.from(this.#feeds.values(), ({ host }) => host))]
  }

  /** What arrives of a host; undefined when charts want nothing that it has. */
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

  /** Charts of a page come one by one: they are asked for together. */
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
    const wish: Wish = { host, every, metrics, derive }
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

/** The expressions of plots, by the names they have on the page. */
export function deriveOf(plots: readonly Plot[]): Record<string, string> {
  const derive: Record<string, string> = {}
  for (const { metric, expr } of plots) if (expr !== undefined) derive[metric] = expr
  return derive
}
