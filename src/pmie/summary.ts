/**
 * Expressions as metrics of PCP's `summary` agent: first all descriptors, then after each evaluation the first value of each, written
 * as PDUs to a pipe without replies. Observed with 6.0.3; docs/reference/pmie.md
 */
import type { MetricDesc } from '../model/desc.ts'
import { isError, PcpError, statusOf } from '../model/errors.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { PM_SEM_COUNTER, PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_VAL_DPTR } from '../model/types.ts'
import { PM_TIME_SEC, packUnits, unpackUnits } from '../model/units.ts'
import { emptySet, type ValueSet } from '../model/values.ts'
import type { RuleHost } from '../rules/host.ts'
import { type Node, UNKNOWN } from '../rules/node.ts'
import { type ArithExpr, type FetchExpr, isArith, type Statement } from '../rules/syntax.ts'
import type { Task } from '../rules/task.ts'
import { encodeDesc } from '../wire/desc.ts'
import { encodeResult } from '../wire/result.ts'

/** Encoded PDUs. */
export interface SummaryFeed {
  /** Descriptors of all expressions. */
  readonly descs: readonly Uint8Array[]
  /** Encodes the values of a task's expressions. */
  readonly result: (task: Task) => Uint8Array
}

/** Semantics and dimension of an expression, for its descriptor. */
interface Meaning {
  readonly sem: number
  readonly space: number
  readonly time: number
  readonly count: number
}

/**
 * Looks up the metrics of the expressions by name. Throws PcpError for unknown names: the collector's name space must have them
 * before the agent starts.
 */
export async function openSummary(
  tasks: readonly Task[],
  { context }: RuleHost,
  signal: AbortSignal,
): Promise<SummaryFeed> {
  if (context === undefined) throw new PcpError('ECONNREFUSED', 'The collector cannot be reached')
  const names = tasks.flatMap((task) => task.names)
  const found = await context.lookupNames(names, { signal })
  const ids = new Map<string, Pmid>()
  for (const [i, name] of names.entries()) {
    const id = found[i]!
    if (isError(id))
      throw new PcpError(id.code, `metric ${name} not found in namespace: ${id.text}`, { cause: id })
    ids.set(name, id)
  }
  const descs: Uint8Array[] = []
  for (const task of tasks)
    for (const { name, expr } of task.statements)
      descs.push(
        encodeDesc(
          descOf(
            ids.get(name)!,
            meaningOf(expr, (fetch) => descOfFetch(task, fetch)),
          ),
        ),
      )
  return {
    descs,
    result: (task) =>
      encodeResult(
        { sec: 0, nsec: 0 },
        task.statements.map(({ name, node }) => valueSetOf(ids.get(name)!, node)),
      ),
  }
}

function descOfFetch(task: Task, { metric }: FetchExpr): MetricDesc | undefined {
  const feeds = task.hosts.flatMap((host) => host.feeds)
  return feeds.find((feed) => feed.metric === metric && feed.known !== undefined)?.known?.desc
}

function descOf(pmid: Pmid, meaning: Meaning | undefined): MetricDesc {
  const units =
    meaning === undefined
      ? 0
      : packUnits({
          dimSpace: meaning.space,
          dimTime: meaning.time,
          dimCount: meaning.count,
          scaleTime: meaning.time === 0 ? 0 : PM_TIME_SEC,
        })
  return {
    pmid,
    type: PM_TYPE_DOUBLE,
    indom: PM_INDOM_NULL,
    sem: meaning?.sem ?? PM_SEM_INSTANT,
    units,
  }
}

type DescOf = (fetch: FetchExpr) => MetricDesc | undefined

/** Returns the semantics and dimension of an expression. Truth values and actions have no units. */
function meaningOf(expr: Statement['expr'], descOfEach: DescOf): Meaning | undefined {
  return isArith(expr) ? ofNumber(expr, descOfEach, false) : undefined
}

function ofNumber(expr: ArithExpr, descOfEach: DescOf, isInstant: boolean): Meaning | undefined {
  switch (expr.kind) {
    case 'fetch': {
      const desc = descOfEach(expr)
      if (desc === undefined) return undefined
      const { dimSpace, dimTime, dimCount } = unpackUnits(desc.units)
      const isRate = desc.sem === PM_SEM_COUNTER && !isInstant
      const sem = desc.sem === PM_SEM_COUNTER ? PM_SEM_INSTANT : desc.sem
      return { sem, space: dimSpace, time: dimTime - (isRate ? 1 : 0), count: dimCount }
    }
    case 'rate': {
      const of = ofNumber(expr.arg, descOfEach, isInstant)
      return of && { ...of, sem: PM_SEM_INSTANT, time: of.time - 1 }
    }
    case 'instant':
      return ofNumber(expr.arg, descOfEach, true)
    case 'negate':
    case 'aggregate':
      return ofNumber(expr.arg, descOfEach, isInstant)
    case 'count':
      return { sem: PM_SEM_INSTANT, space: 0, time: 0, count: 1 }
    case 'arithmetic': {
      const left = ofNumber(expr.left, descOfEach, isInstant)
      const right = ofNumber(expr.right, descOfEach, isInstant)
      if (expr.op === '+' || expr.op === '-') return left ?? right
      return product(left, right, expr.op === '*' ? 1 : -1)
    }
    default:
      return undefined
  }
}

function product(left: Meaning | undefined, right: Meaning | undefined, sign: 1 | -1): Meaning | undefined {
  if (right === undefined) return left
  const { space, time, count } = left ?? { space: 0, time: 0, count: 0 }
  return {
    sem: PM_SEM_INSTANT,
    space: space + sign * right.space,
    time: time + sign * right.time,
    count: count + sign * right.count,
  }
}

/** Returns the newest value of the first cell; no value while it is unknown. */
function valueSetOf(pmid: Pmid, { kind, valid, layout, values }: Node): ValueSet {
  const value = values[0]
  const isKnown =
    valid > 0 &&
    layout.length > 0 &&
    value !== undefined &&
    (kind === 'truth' ? value !== UNKNOWN : !Number.isNaN(value))
  if (!isKnown || kind === 'text') return emptySet(pmid, statusOf('PM_ERR_VALUE'))
  const bytes = new Uint8Array(BLOCK)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, (PM_TYPE_DOUBLE << 24) | BLOCK)
  view.setFloat64(4, value)
  return {
    pmid,
    status: 1,
    format: PM_VAL_DPTR,
    inst: Int32Array.of(PM_IN_NULL),
    word: Int32Array.of(0),
    bytes,
  }
}

const BLOCK = 12
