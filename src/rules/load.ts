/** Loads rule files into tasks and looks up their metrics. docs/reference/pmie.md */
import type { Zone } from '../time/zone.ts'
import type { LookupProblem, MetricFeed, RuleHost } from './host.ts'
import type { Hosts } from './hosts.ts'
import { isKnown, lookupMetric } from './lookup.ts'
import { type Reporter, reportProblem } from './problems.ts'
import {
  type NamedStatement,
  newReadState,
  type ProgramListener,
  type RuleFile,
  readRules,
  type ValueReader,
} from './program.ts'
import type { FetchExpr, SourcePosition } from './syntax.ts'
import { missingInstance, Task } from './task.ts'

/** Context for loading rules. */
export interface LoadContext {
  readonly hosts: Hosts
  readonly reporter: Reporter
  readonly zone: Zone
  readonly signal: AbortSignal
  /** PCP_COUNTER_WRAP: a counter that decreased has wrapped once. */
  readonly wraps?: boolean
  /** Show line and column of errors. */
  readonly showsPlaces: boolean
  readonly feeds?: ValueReader | undefined
  /** Called before a statement is built, with its task; throws SemanticError to refuse it. */
  readonly admit?: (statement: NamedStatement, task: Task) => void
}

/** The tasks, and the number of errors. */
export interface LoadedRules {
  readonly tasks: readonly Task[]
  readonly errors: number
  /** Number of statements left out because their metrics can never have values. */
  readonly dropped: number
  /** Returns the hosts of a fetch, for rebuilding. */
  readonly hostsOf: (expr: FetchExpr) => readonly RuleHost[]
}

/** Reads rule files. Reports errors and loads the statements without errors. */
export async function loadRules(
  files: readonly RuleFile[],
  deltaSec: number,
  context: LoadContext,
): Promise<LoadedRules> {
  const { hosts, reporter, zone, showsPlaces, feeds } = context
  const tasks: Task[] = []
  const state = newReadState(deltaSec, feeds)
  const found = new Map<FetchExpr, readonly RuleHost[]>()
  const hostsOf = (expr: FetchExpr): readonly RuleHost[] => found.get(expr) ?? [hosts.first]
  let last: Task | undefined
  let dropped = 0
  const listener: ProgramListener = {
    onProblem: (text, detail, place) =>
      reporter.print(showsPlaces && detail !== '' ? `${text}\n${detail}` : text, place),
    onStatement: async (statement, delta) => {
      const task = last?.deltaSec === delta ? last : new Task(delta, zone, context.wraps)
      if (!(await resolve(statement, task, context, found))) {
        dropped++
        return false
      }
      context.admit?.(statement, task)
      if (task.add(statement, hostsOf) && task !== last) {
        tasks.push(task)
        last = task
      }
      return true
    },
  }
  for (const file of files) await readRules(file, state, listener)
  return { tasks, errors: state.errors, dropped, hostsOf }
}

/** Looks up the metrics of a statement; returns false at the first that can never have values. */
async function resolve(
  { fetches, place }: NamedStatement,
  task: Task,
  context: LoadContext,
  found: Map<FetchExpr, readonly RuleHost[]>,
): Promise<boolean> {
  for (const expr of fetches) {
    // In parallel, so that unresponsive hosts cost one timeout in total.
    const hosts = await Promise.all(expr.hosts.map((name) => context.hosts.find(name)))
    if (hosts.length === 0) hosts.push(context.hosts.first)
    found.set(expr, hosts)
    for (const host of hosts) {
      const problem = await resolveFeed(task, task.feed(host, expr.metric), expr, context, place)
      // A metric missing in an archive will not appear later.
      if (problem === 'type' || problem === 'singular' || (context.hosts.isArchive && problem !== 'none'))
        return false
    }
  }
  return true
}

/** Looks up one metric and reports problems. */
export async function resolveFeed(
  task: Task,
  feed: MetricFeed,
  expr: FetchExpr | undefined,
  { reporter, signal }: Pick<LoadContext, 'reporter' | 'signal'>,
  place?: SourcePosition,
): Promise<'none' | LookupProblem['what']> {
  const { host, metric } = feed
  if (host.context === undefined) return 'none'
  if (feed.known === undefined) {
    const known = await lookupMetric(host.context, metric, signal)
    if (!isKnown(known)) {
      const hint =
        known.what === 'name' ? await reporter.hint?.(metric, known.error, host.context) : undefined
      reportProblem(reporter, host, metric, known, { hint, place })
      return known.what
    }
    task.setMetric(feed, known)
  }
  const missing = expr === undefined ? undefined : missingInstance(feed, expr)
  if (missing === undefined) return 'none'
  reportProblem(reporter, host, metric, missing, { place })
  return missing.what
}
