/** Statements that are evaluated together: what they fetch, and what they show. docs/pmie.md */

import { PM_INDOM_NULL } from '../model/ids.ts'
import type { Zone } from '../time/zone.ts'
import type { BuildContext, EvaluationClock } from './build.ts'
import { hasInstance } from './fetch-node.ts'
import type { Feed, KnownMetric, LookupProblem, RuleHost } from './host.ts'
import type { NamedStatement } from './program.ts'
import { type Verbosity, valueReport } from './report.ts'
import { type ActiveStatement, activate, type Evaluation } from './statement.ts'
import type { FetchExpr } from './syntax.ts'

/** What is asked of one host in one fetch. */
export interface TaskHost {
  readonly host: RuleHost
  readonly feeds: Feed[]
  /** Identities of the feeds that are known, and those feeds, for the next fetch. */
  readonly ready: { ids: number[]; feeds: Feed[] }
}

interface Member {
  readonly statement: NamedStatement
  active: ActiveStatement | undefined
}

/** A task. */
export class Task {
  readonly deltaSec: number
  readonly hosts: TaskHost[] = []
  readonly clock: EvaluationClock = { sec: 0 }
  readonly #zone: Zone
  readonly #wraps: boolean
  readonly #members: Member[] = []

  /** `wraps`: counters that decreased have gone round once. */
  constructor(deltaSec: number, zone: Zone, wraps = false) {
    this.deltaSec = deltaSec
    this.#zone = zone
    this.#wraps = wraps
  }

  /** Statements that are evaluated. */
  get size(): number {
    return this.#members.length
  }

  /** Adds a statement whose metrics are there. False for a constant. Throws MeaningError. */
  add(statement: NamedStatement, hostsOf: (expr: FetchExpr) => readonly RuleHost[]): boolean {
    const context: BuildContext = {
      feedsOf: (expr) => hostsOf(expr).map((host) => this.#feed(host, expr.metric)),
      clock: this.clock,
      zone: this.#zone,
      wraps: this.#wraps,
      deltaSec: this.deltaSec,
    }
    const active = activate(statement.name, statement, context)
    if (active === undefined) return false
    this.#members.push({ statement, active })
    return true
  }

  /** The feed of a metric on a host, made when nobody asked for it before. */
  feed(host: RuleHost, metric: string): Feed {
    return this.#feed(host, metric)
  }

  #feed(host: RuleHost, metric: string): Feed {
    let entry = this.hosts.find((each) => each.host === host)
    if (entry === undefined) {
      entry = { host, feeds: [], ready: { ids: [], feeds: [] } }
      this.hosts.push(entry)
    }
    let feed = entry.feeds.find((each) => each.metric === metric)
    if (feed === undefined) {
      feed = { host, metric, known: undefined, set: undefined, sec: 0 }
      entry.feeds.push(feed)
    }
    return feed
  }

  /** Says which metric a feed is; the next fetch asks for it. */
  know(feed: Feed, known: KnownMetric | undefined): void {
    feed.known = known
    const entry = this.hosts.find(({ host }) => host === feed.host)!
    const feeds = entry.feeds.filter((each) => each.known !== undefined)
    entry.ready.feeds = feeds
    entry.ready.ids = feeds.map((each) => each.known!.desc.pmid)
  }

  /** Builds all statements anew: what was known of their metrics has changed. History is lost. */
  rebuild(hostsOf: (expr: FetchExpr) => readonly RuleHost[]): void {
    const members = this.#members.splice(0)
    for (const { statement } of members) this.add(statement, hostsOf)
  }

  /**
   * Evaluates all statements at a moment; `valuesSec` is when the values were taken, if that is another. A promise only where
   * actions have to be waited for.
   */
  evaluate(sec: number, evaluation: Omit<Evaluation, 'sec'>, valuesSec: number = sec): void | Promise<void> {
    this.clock.sec = valuesSec
    const context = { ...evaluation, sec }
    for (let i = 0; i < this.#members.length; i++) {
      const done = this.#members[i]!.active?.evaluate(context)
      if (done !== undefined) return this.#evaluateRest(i + 1, context, done)
    }
    return undefined
  }

  async #evaluateRest(from: number, context: Evaluation, first: Promise<void>): Promise<void> {
    await first
    for (const { active } of this.#members.slice(from)) await active?.evaluate(context)
  }

  /** A line for each statement, and an empty one. `stamp` is what stands behind the names. */
  report(verbosity: Verbosity, stamp: string): string {
    let text = ''
    for (const { active } of this.#members)
      if (active !== undefined)
        text += `${active.name}${stamp}: ${valueReport(active.node, active.plan, verbosity)}\n`
    return `${text}\n`
  }

  /** All values on one line. */
  line(): string {
    let text = ''
    for (const { active } of this.#members)
      if (active !== undefined) text += `${valueReport(active.node, active.plan, 'values')} `
    return `${text}\n`
  }

  /** Metrics of which rules name instances that are not there. */
  missing(): { readonly feed: Feed; readonly names: readonly string[] }[] {
    const found: { feed: Feed; names: readonly string[] }[] = []
    for (const { statement } of this.#members)
      for (const expr of statement.fetches)
        for (const { feeds } of expr.instances.length === 0 ? [] : this.hosts)
          for (const feed of feeds) {
            if (feed.metric !== expr.metric || feed.known === undefined) continue
            const names = expr.instances.filter((name) => !hasInstance(feed, name))
            if (names.length > 0) found.push({ feed, names })
          }
    return found
  }

  /** Its statements at work, in order. */
  get statements(): readonly (NamedStatement & ActiveStatement)[] {
    return this.#members.flatMap(({ statement, active }) =>
      active === undefined ? [] : [{ ...statement, ...active }],
    )
  }

  /** Names of its statements. */
  get names(): readonly string[] {
    return this.#members.map(({ statement }) => statement.name)
  }
}

/** An instance that a rule asks for, and a metric does not have. */
export function missingInstance(feed: Feed, expr: FetchExpr): LookupProblem | undefined {
  if (feed.known === undefined) return undefined
  const instance = expr.instances.find((name) => !hasInstance(feed, name))
  if (instance !== undefined && feed.known.desc.indom === PM_INDOM_NULL)
    return { what: 'singular', error: undefined }
  return instance === undefined ? undefined : { what: 'instance', error: undefined, instance }
}
