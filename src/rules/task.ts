/** Tasks: statements evaluated together, and their fetches. docs/reference/pmie.md */

import { PM_INDOM_NULL } from '../model/ids.ts'
import type { Zone } from '../time/zone.ts'
import type { BuildContext, EvaluationClock } from './build.ts'
import { hasInstance } from './fetch-node.ts'
import type { KnownMetric, LookupProblem, MetricFeed, RuleHost } from './host.ts'
import type { NamedStatement } from './program.ts'
import { type Verbosity, valueReport } from './report.ts'
import { type EvaluatedStatement, type Evaluation, prepareStatement } from './statement.ts'
import type { FetchExpr } from './syntax.ts'

/** The metrics that a task fetches from one host. */
export interface TaskHost {
  readonly host: RuleHost
  readonly feeds: MetricFeed[]
  /** PMIDs and feeds of the known metrics, for the next fetch. */
  readonly ready: { ids: number[]; feeds: MetricFeed[] }
}

interface Member {
  readonly statement: NamedStatement
  active: EvaluatedStatement | undefined
}

/** Statements with a common interval. */
export class Task {
  readonly deltaSec: number
  readonly hosts: TaskHost[] = []
  readonly clock: EvaluationClock = { sec: 0 }
  readonly #zone: Zone
  readonly #wraps: boolean
  readonly #members: Member[] = []

  /** `wraps`: a counter that decreased has wrapped once. */
  constructor(deltaSec: number, zone: Zone, wraps = false) {
    this.deltaSec = deltaSec
    this.#zone = zone
    this.#wraps = wraps
  }

  /** Number of evaluated statements. */
  get size(): number {
    return this.#members.length
  }

  /** Adds a statement whose metrics were looked up. Returns false for a constant. Throws SemanticError. */
  add(statement: NamedStatement, hostsOf: (expr: FetchExpr) => readonly RuleHost[]): boolean {
    const context: BuildContext = {
      feedsOf: (expr) => hostsOf(expr).map((host) => this.#feed(host, expr.metric)),
      clock: this.clock,
      zone: this.#zone,
      wraps: this.#wraps,
      deltaSec: this.deltaSec,
    }
    const active = prepareStatement(statement.name, statement, context)
    if (active === undefined) return false
    this.#members.push({ statement, active })
    return true
  }

  /** Returns the feed of a metric on a host, creating it if necessary. */
  feed(host: RuleHost, metric: string): MetricFeed {
    return this.#feed(host, metric)
  }

  #feed(host: RuleHost, metric: string): MetricFeed {
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

  /** Sets a feed's metric; the next fetch includes it. */
  setMetric(feed: MetricFeed, known: KnownMetric | undefined): void {
    feed.known = known
    const entry = this.hosts.find(({ host }) => host === feed.host)!
    const feeds = entry.feeds.filter((each) => each.known !== undefined)
    entry.ready.feeds = feeds
    entry.ready.ids = feeds.map((each) => each.known!.desc.pmid)
  }

  /** Rebuilds all statements after changes of their metrics. Discards history. */
  rebuild(hostsOf: (expr: FetchExpr) => readonly RuleHost[]): void {
    const members = this.#members.splice(0)
    for (const { statement } of members) this.add(statement, hostsOf)
  }

  /**
   * Evaluates all statements at a time; `valuesSec` is the time of the values, if different. Returns a promise only if actions have
   * to be waited for.
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

  /** Returns a line for each statement, then an empty one. `stamp` follows each name. */
  report(verbosity: Verbosity, stamp: string): string {
    let text = ''
    for (const { active } of this.#members)
      if (active !== undefined)
        text += `${active.name}${stamp}: ${valueReport(active.node, active.plan, verbosity)}\n`
    return `${text}\n`
  }

  /** Returns all values on one line. */
  line(): string {
    let text = ''
    for (const { active } of this.#members)
      if (active !== undefined) text += `${valueReport(active.node, active.plan, 'values')} `
    return `${text}\n`
  }

  /** Returns the feeds that lack instances named in rules. */
  missing(): { readonly feed: MetricFeed; readonly names: readonly string[] }[] {
    const found: { feed: MetricFeed; names: readonly string[] }[] = []
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

  /** Its active statements, in order. */
  get statements(): readonly (NamedStatement & EvaluatedStatement)[] {
    return this.#members.flatMap(({ statement, active }) =>
      active === undefined ? [] : [{ ...statement, ...active }],
    )
  }

  /** Names of all statements, active or not. */
  get names(): readonly string[] {
    return this.#members.map(({ statement }) => statement.name)
  }
}

/** Returns a problem if the metric lacks an instance named in the rule. */
export function missingInstance(feed: MetricFeed, expr: FetchExpr): LookupProblem | undefined {
  if (feed.known === undefined) return undefined
  const instance = expr.instances.find((name) => !hasInstance(feed, name))
  if (instance !== undefined && feed.known.desc.indom === PM_INDOM_NULL)
    return { what: 'singular', error: undefined }
  return instance === undefined ? undefined : { what: 'instance', error: undefined, instance }
}
