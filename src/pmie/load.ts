/** From rule files to tasks: metrics are looked up on the way. docs/pmie.md */
import type { Zone } from '../time/zone.ts'
import type { Feed, RuleHost } from './host.ts'
import type { Hosts } from './hosts.ts'
import { isKnown, lookupMetric } from './lookup.ts'
import { tellProblem, type Voice } from './problems.ts'
import {
  type NamedStatement,
  newReadState,
  type ProgramListener,
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
  /** Show the line and the column of what is wrong. */
  readonly showsPlaces: boolean
  /** Is an expression without a name a mistake? */
  readonly needsNames?: boolean
}

/** Tasks, and how many mistakes there were. */
export interface LoadedRules {
  readonly tasks: readonly Task[]
  readonly errors: number
  /** Hosts of each fetch, for rebuilding. */
  readonly hostsOf: (expr: FetchExpr) => readonly RuleHost[]
}

/** Reads rule files. Mistakes are told; what is without them is loaded. */
export async function loadRules(
  files: readonly RuleFile[],
  deltaSec: number,
  context: LoadContext,
): Promise<LoadedRules> {
  const { hosts, voice, zone, showsPlaces, needsNames } = context
  const tasks: Task[] = []
  const state = newReadState(deltaSec, needsNames)
  const found = new Map<FetchExpr, readonly RuleHost[]>()
  const hostsOf = (expr: FetchExpr): readonly RuleHost[] => found.get(expr) ?? [hosts.first]
  let last: Task | undefined
  const listener: ProgramListener = {
    onProblem: (text, detail) => voice.say(showsPlaces && detail !== '' ? `${text}\n${detail}` : text),
    onStatement: async (statement, delta) => {
      const task = last?.deltaSec === delta ? last : new Task(delta, zone)
      const verdict = await resolve(statement, task, context, found)
      if (verdict !== 'fine') return verdict === 'dropped'
      if (task.add(statement, hostsOf) && task !== last) {
        tasks.push(task)
        last = task
      }
      return true
    },
  }
  for (const file of files) await readRules(file, state, listener)
  return { tasks, errors: state.errors, hostsOf }
}

/** Looks up all metrics of a statement. An archive that lacks one will lack it for ever, so the statement goes. */
async function resolve(
  { fetches }: NamedStatement,
  task: Task,
  context: LoadContext,
  found: Map<FetchExpr, readonly RuleHost[]>,
): Promise<'fine' | 'dropped' | 'ignored'> {
  let verdict: 'fine' | 'dropped' | 'ignored' = 'fine'
  for (const expr of fetches) {
    // All at once: those that do not answer hold up the others no longer than one of them does.
    const hosts = await Promise.all(expr.hosts.map((name) => context.hosts.find(name)))
    if (hosts.length === 0) hosts.push(context.hosts.first)
    found.set(expr, hosts)
    for (const host of hosts) {
      const feed = task.feed(host, expr.metric)
      const problem = await resolveFeed(task, feed, expr, context)
      if (problem === 'none') continue
      if (problem === 'type') verdict = 'ignored'
      else if (context.hosts.isArchive && verdict === 'fine')
        verdict = problem === 'instance' ? 'ignored' : 'dropped'
    }
  }
  return verdict
}

/** Looks one metric up, and tells what is wrong with it. */
export async function resolveFeed(
  task: Task,
  feed: Feed,
  expr: FetchExpr | undefined,
  { voice, signal }: Pick<LoadContext, 'voice' | 'signal'>,
): Promise<'none' | 'name' | 'desc' | 'type' | 'instance'> {
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
  return 'instance'
}
