/** Tries rules on an archive: when their actions would have been performed. No action is performed. docs/reference/pmproxy.md */
import { toSeconds } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { compareTimes } from '../time/arithmetic.ts'
import { fromSeconds } from '../time/stamp.ts'
import type { Zone } from '../time/zone.ts'
import type { Firing } from './actions.ts'
import { messageShownStart } from './archive-actions.ts'
import { SemanticError } from './build.ts'
import type { RuleContext } from './host.ts'
import { archiveHosts } from './hosts.ts'
import { keptValues } from './kept-values.ts'
import { loadRules } from './load.ts'
import { TRUE } from './node.ts'
import type { NamedStatement } from './program.ts'
import { type ReplayTurn, type ReplayWindow, replay } from './replay.ts'
import type { EvaluatedStatement } from './statement.ts'
import { type Expr, isAction, type SourcePosition } from './syntax.ts'
import type { Task } from './task.ts'

/** Rules to try, and the window. */
export interface FiringsQuery {
  /** Text of a rule file. */
  readonly text: string
  /** Seconds since the epoch; default: the archive's start. */
  readonly start?: number | undefined
  /** Seconds since the epoch; default: the archive's end. */
  readonly finish?: number | undefined
  /** Seconds between evaluations, unless the text sets `delta`. */
  readonly deltaSec: number
}

/** A time in which a rule stayed true, from its first firing on. */
export interface FiringSpan {
  /** First firing, in seconds since the epoch. */
  readonly from: number
  /** Last evaluation at which the rule was still true. */
  readonly to: number
  /** Firings: less than the evaluations if actions have a minimum time between them. */
  readonly count: number
  /** First action of the first firing, and its message as pmie prints it. */
  readonly action: string
  readonly message: string
}

/** Firings of one statement. */
export interface RuleFirings {
  readonly name: string
  readonly line: number
  /** Its first line. */
  readonly text: string
  /** An expression without an action never fires. */
  readonly hasAction: boolean
  readonly deltaSec: number
  readonly evaluations: number
  /** Firings in total. */
  readonly count: number
  /** Spans in total. */
  readonly spanCount: number
  /** The first spans. */
  readonly spans: readonly FiringSpan[]
}

/** A mistake in the rules, in pmie's words. */
export interface RuleProblem {
  readonly message: string
  /** Counted from 1. */
  readonly line: number | null
  readonly column: number | null
}

/** Result of a trial. */
export interface FiringsAnswer {
  /** The window, in seconds since the epoch. */
  readonly start: number
  readonly finish: number
  readonly rules: readonly RuleFirings[]
  readonly problems: readonly RuleProblem[]
}

/** Environment of a trial. */
export interface FiringsOptions {
  /** Name of the archive, which `%c` shows. */
  readonly name: string
  /** Zone of variables such as `hour`. */
  readonly zone: Zone
  readonly turn: ReplayTurn
  readonly signal?: AbortSignal
  /** PCP_COUNTER_WRAP. */
  readonly wraps?: boolean
}

/** Most bytes of a text, in UTF-8. */
export const MOST_RULE_BYTES = 8192
/** Most statements that are evaluated. */
export const MOST_RULES = 50
/** Most evaluations of all statements together. */
export const MOST_EVALUATIONS = 5_000_000
/** Most values that all statements keep, of 8 bytes each: past ones included, of each metric and operator. */
export const MOST_VALUES = 4_000_000
/** Shortest interval, as of pmie's timers. */
const LEAST_DELTA_SEC = 0.001
/** Most spans of all rules together. */
export const MOST_SPANS = 2000
/** Longest texts in an answer, in characters. */
const LONGEST_TEXT = 200
const LONGEST_MESSAGE = 300
const MOST_PROBLEMS = 20

/**
 * Evaluates rules over an archive. Mistakes in the text are part of the answer. PM_ERR_ARG for a text, window or interval out of bounds,
 * PM_ERR_NOTARCHIVE for a collector, PM_ERR_LOGREC; rejects as `turn.yield` does, and with ECANCELED after an abort.
 */
export async function firings(
  context: RuleContext,
  query: FiringsQuery,
  options: FiringsOptions,
): Promise<FiringsAnswer> {
  const { text, deltaSec } = query
  const { name, zone, turn, signal = new AbortController().signal, wraps = false } = options
  if (new TextEncoder().encode(text).length > MOST_RULE_BYTES)
    throw new PcpError('PM_ERR_ARG', `Rules are limited to ${MOST_RULE_BYTES} bytes`)
  if (!(deltaSec > 0) || deltaSec === Number.POSITIVE_INFINITY)
    throw new PcpError('PM_ERR_ARG', 'delta must be greater than zero')
  const window = windowOf(context, query)
  const problems: RuleProblem[] = []
  const report = (message: string, place?: SourcePosition): void => {
    if (problems.length < MOST_PROBLEMS)
      problems.push({
        message: message.replace(/^pmie: /, '').slice(0, LONGEST_MESSAGE),
        line: place?.line ?? null,
        column: place?.column ?? null,
      })
  }
  let statements = 0
  let values = 0
  const { tasks } = await loadRules([{ name: 'rules', text }], deltaSec, {
    hosts: archiveHosts([{ name, context }]),
    reporter: { print: report, log: (_level, message, place) => report(message, place) },
    zone,
    signal,
    wraps,
    showsPlaces: false,
    admit: (statement, task) => {
      if (++statements > MOST_RULES) throw new SemanticError(`more than ${MOST_RULES} rules`)
      const more = keptValues(statement.expr, task)
      if (values + more > MOST_VALUES)
        throw new SemanticError('too many past values and instances; use fewer samples')
      values += more
    },
  })
  insistOnBounds(tasks, window)
  const lines = text.split('\n')
  const kept = { spans: 0 }
  const tracks = new Map(tasks.map((task) => [task, tracksOf(task, lines, kept)]))
  await run(tasks, tracks, window, turn, signal)
  if (signal.aborted) throw new PcpError('ECANCELED', 'The trial was cancelled')
  return {
    start: toSeconds(window.origin),
    finish: toSeconds(window.finish),
    rules: [...tracks.values()].flat().map((track) => track.result()),
    problems,
  }
}

/** Returns the part of a window in which there are records. */
function windowOf({ archive }: RuleContext, { start, finish }: FiringsQuery): ReplayWindow {
  if (archive === undefined)
    throw new PcpError(
      'PM_ERR_NOTARCHIVE',
      'Rules can only be tried on recorded values; an archive is required',
    )
  const end = archive.end()
  const from = start === undefined ? archive.start : fromSeconds(start)
  const until = finish === undefined ? end : fromSeconds(finish)
  const origin = compareTimes(from, archive.start) > 0 ? from : archive.start
  const last = compareTimes(until, end) < 0 ? until : end
  if (compareTimes(origin, last) > 0)
    throw new PcpError('PM_ERR_ARG', 'Nothing was recorded in this window; choose another one')
  return { origin, finish: last }
}

function insistOnBounds(tasks: readonly Task[], { origin, finish }: ReplayWindow): void {
  const seconds = toSeconds(finish) - toSeconds(origin)
  let evaluations = 0
  for (const { deltaSec, size } of tasks) {
    if (deltaSec < LEAST_DELTA_SEC)
      throw new PcpError('PM_ERR_ARG', `delta must be at least ${LEAST_DELTA_SEC} s; use a longer delta`)
    evaluations += (Math.floor(seconds / deltaSec) + 1) * size
  }
  if (evaluations > MOST_EVALUATIONS)
    throw new PcpError(
      'PM_ERR_ARG',
      `That takes ${evaluations} evaluations, more than ${MOST_EVALUATIONS}; use a longer delta or a shorter window`,
    )
}

async function run(
  tasks: readonly Task[],
  tracks: ReadonlyMap<Task, readonly FiringTrack[]>,
  window: ReplayWindow,
  turn: ReplayTurn,
  signal: AbortSignal,
): Promise<void> {
  const counts = { actions: 0, isTrue: 0, isFalse: 0, isUnknown: 0, actual: 0 }
  let current: ReadonlyMap<string, FiringTrack> = new Map()
  const byName = new Map(
    [...tracks].map(([task, all]) => [task, new Map(all.map((track) => [track.key, track]))]),
  )
  const evaluation = {
    counts,
    file: 'rules',
    perform: (firing: Firing): boolean => {
      current.get(keyOf(firing.rule, firing.line))!.fire(firing)
      // As pmie does over archives, where every action succeeds.
      return true
    },
  }
  await replay(tasks, window, signal, turn, (task, time) => {
    current = byName.get(task)!
    const sec = toSeconds(time)
    const done = task.evaluate(sec, evaluation)
    const settle = (): void => {
      for (const track of tracks.get(task)!) track.settle(sec)
    }
    if (done !== undefined) return done.then(settle)
    settle()
    return undefined
  })
}

/** Returns the key of a statement: a name that a rule was given may be that of an unnamed one. */
function keyOf(rule: string, line: number): string {
  return `${line} ${rule}`
}

type TrackedStatement = NamedStatement & EvaluatedStatement

function tracksOf(task: Task, lines: readonly string[], kept: { spans: number }): FiringTrack[] {
  return task.statements.map((statement) => new FiringTrack(statement, task.deltaSec, lines, kept))
}

/** Collects the firings of one statement. */
class FiringTrack {
  readonly key: string
  readonly #statement: TrackedStatement
  readonly #deltaSec: number
  readonly #text: string
  /** Spans kept of all statements. */
  readonly #kept: { spans: number }
  readonly #spans: { -readonly [K in keyof FiringSpan]: FiringSpan[K] }[] = []
  #evaluations = 0
  #count = 0
  #spanCount = 0
  /** First action of this evaluation. */
  #fired: Firing | undefined
  /** Whether the last span has not ended. */
  #isOpen = false
  /** Whether the last span was kept. */
  #isKept = false

  constructor(
    statement: TrackedStatement,
    deltaSec: number,
    lines: readonly string[],
    kept: { spans: number },
  ) {
    this.key = keyOf(statement.name, statement.place.line)
    this.#statement = statement
    this.#deltaSec = deltaSec
    this.#kept = kept
    const { line, column } = statement.place
    this.#text = (lines[line - 1] ?? '')
      .slice(column - 1)
      .trim()
      .slice(0, LONGEST_TEXT)
  }

  /** Takes an action; of several at one evaluation the first. */
  fire(firing: Firing): void {
    this.#fired ??= firing
  }

  /** Ends an evaluation. */
  settle(sec: number): void {
    this.#evaluations++
    const fired = this.#fired
    this.#fired = undefined
    if (fired !== undefined) this.#count++
    else if (!this.#isOpen) return
    else if (this.#statement.node.values[0] !== TRUE) {
      this.#isOpen = false
      return
    }
    if (!this.#isOpen) this.#open(sec, fired!)
    if (!this.#isKept) return
    const span = this.#spans.at(-1)!
    span.to = sec
    if (fired !== undefined) span.count++
  }

  #open(sec: number, fired: Firing): void {
    this.#isOpen = true
    this.#spanCount++
    this.#isKept = this.#kept.spans < MOST_SPANS
    if (!this.#isKept) return
    this.#kept.spans++
    const message = messageShownStart(fired, LONGEST_MESSAGE)
    this.#spans.push({ from: sec, to: sec, count: 0, action: fired.action, message })
  }

  /** Returns the firings so far. */
  result(): RuleFirings {
    const { name, expr, place } = this.#statement
    return {
      name,
      line: place.line,
      text: this.#text,
      hasAction: fires(expr),
      deltaSec: this.#deltaSec,
      evaluations: this.#evaluations,
      count: this.#count,
      spanCount: this.#spanCount,
      spans: this.#spans,
    }
  }
}

function fires(expr: Expr): boolean {
  return expr.kind === 'rule' || expr.kind === 'ruleset' || isAction(expr)
}
