/** From rule files to tasks: metrics are looked up on the way. docs/pmie.md */
import type { Zone } from '../time/zone.ts'
import type { Feed, LookupProblem, RuleHost } from './host.ts'
import type { Hosts } from './hosts.ts'
import { isKnown, lookupMetric } from './lookup.ts'
import { tellProblem, type Voice } from './problems.ts'
import {
  type NamedStatement,
  newReadState,
  type ProgramListener,
  type Reader,
  type RuleFile,
  readRules,
} from './program.ts'
import type { FetchExpr } from './syntax.ts'
import { missingInstance, Task } from './task.ts'

/** What is needed to load rules. */
export interface LoadContext {
  readonly hosts: Hosts
  readonly voice: Voice
  readonly zone: Zone
  readonly signal: AbortSignal
  /** PCP_COUNTER_WRAP: counters that decreased have gone round once. */
  readonly wraps?: boolean
  /** Show the line and the column of what is wrong. */
  readonly showsPlaces: boolean
  readonly feeds?: Reader | undefined
}

/** Tasks, and how many mistakes there were. */
export interface LoadedRules {
  readonly tasks: readonly Task[]
  readonly errors: number
  /** Statements that were left out: they are about metrics that can never have values. */
  readonly dropped: number
  /** Hosts of each fetch, for rebuilding. */
  readonly hostsOf: (expr: FetchExpr) => readonly RuleHost[]
}

/** Reads rule files. Mistakes are told; what is without them is loaded. */
export async function loadRules(
  files: readonly RuleFile[],
  deltaSec: number,
  context: LoadContext,
): Promise<LoadedRules> {
  const { hosts, voice, zone, showsPlaces, feeds } = context
  const tasks: Task[] = []
  const state = newReadState(deltaSec, feeds)
  const found = new Map<FetchExpr, readonly RuleHost[]>()
  const hostsOf = (expr: FetchExpr): readonly RuleHost[] => found.get(expr) ?? [hosts.first]
  let last: Task | undefined
  let dropped = 0
  const listener: ProgramListener = {
    onProblem: (text, detail) => voice.say(showsPlaces && detail !== '' ? `${text}\n${detail}` : text),
    onStatement: async (statement, delta) => {
      const task = last?.deltaSec === delta ? last : new Task(delta, zone, context.wraps)
      if (!(await resolve(statement, task, context, found))) {
        dropped++
        return false
      }
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

/** Looks up the metrics of a statement, up to the first without which it will never have a value. False where there is one. */
async function resolve(
  { fetches }: NamedStatement,
  task: Task,
  context: LoadContext,
  found: Map<FetchExpr, readonly RuleHost[]>,
): Promise<boolean> {
  for (const expr of fetches) {
    // All at once: those that do not answer hold up the others no longer than one of them does.
    const hosts = await Promise.all(expr.hosts.map((name) => context.hosts.find(name)))
    if (hosts.length === 0) hosts.push(context.hosts.first)
    found.set(expr, hosts)
    for (const host of hosts) {
      const problem = await resolveFeed(task, task.feed(host, expr.metric), expr, context)
      // An archive that lacks a metric will lack it for ever.
      if (problem === 'type' || problem === 'singular' || (context.hosts.isArchive && problem !== 'none'))
        return false
    }
  }
  return true
}

/** Looks one metric up, and tells what is wrong with it. */
export async function resolveFeed(
  task: Task,
  feed: Feed,
  expr: FetchExpr | undefined,
  { voice, signal }: Pick<LoadContext, 'voice' | 'signal'>,
): Promise<'none' | LookupProblem['what']> {
  const { host, metric } = feed
  if (host.context === undefined) return 'none'
  if (feed.known === undefined) {
    const known = await lookupMetric(host.context, metric, signal)
    if (!isKnown(known)) {
      const hint = known.what === 'name' ? await voice.hint?.(metric, known.error, host.context) : undefined
      tellProblem(voice, host, metric, known, hint)
      return known.what
    }
    task.know(feed, known)
  }
  const missing = expr === undefined ? undefined : missingInstance(feed, expr)
  if (missing === undefined) return 'none'
  tellProblem(voice, host, metric, missing)
  return missing.what
}
