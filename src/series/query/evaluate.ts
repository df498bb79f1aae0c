/** Evaluates a query: the series that it finds, or their values. pmseries(1) */
import { expressionId, NO_SOURCE } from '../ids.ts'
import type { SampleWindow, SeriesStore } from '../store.ts'
import { ValueBudget } from '../value-budget.ts'
import { findSeries } from './find.ts'
import { applyFunction, scaleBy } from './functions.ts'
import { combine, pairsOf } from './operators.ts'
import { parseQuery } from './parse.ts'
import type { SeriesResult } from './result.ts'
import { canonicalText, type Expression, type Query, type Selector } from './syntax.ts'
import { type WindowClock, windowOf } from './window.ts'

/** The answer to a query. */
export type Answer =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'values'; readonly series: readonly SeriesResult[] }

/**
 * Answers a query. Without windows: the identifiers of the series found, or that of a calculation. Errors of
 * `windowOf`, `applyFunction`, `combine` and the store.
 */
export async function evaluate(
  store: SeriesStore,
  { body, hasWindow }: Query,
  clock: WindowClock,
  budget: ValueBudget = new ValueBudget(),
): Promise<Answer> {
  if (!hasWindow) {
    if (body.kind === 'selector') return { kind: 'ids', ids: await findSeries(store, body) }
    return { kind: 'ids', ids: [expressionId(canonicalText(body))] }
  }
  const windowFor = ({ window }: Selector): SampleWindow => windowOf(window ?? {}, clock)
  return { kind: 'values', series: await valuesOf(store, body, windowFor, budget) }
}

/** Keeps the calculation of a query without windows, if the store keeps any, so that its identifier is enough for others. */
export async function keepExpression(
  store: SeriesStore,
  { body, hasWindow }: Query,
  budget: ValueBudget = new ValueBudget(),
): Promise<void> {
  if (hasWindow || body.kind === 'selector' || store.keepExpression === undefined) return
  const results = await valuesOf(store, body, () => ({ samples: 2 }), budget)
  const [first] = results
  if (first === undefined) return
  const text = canonicalText(body)
  await store.keepExpression(expressionId(text), text, first.desc)
}

/** Reads or calculates one series. */
type Pending = () => Promise<SeriesResult>

/** Calculates the values of an expression; `windowFor` returns the window of each selector. */
export async function valuesOf(
  store: SeriesStore,
  expression: Expression,
  windowFor: (selector: Selector) => SampleWindow,
  budget: ValueBudget,
): Promise<readonly SeriesResult[]> {
  const pending = await pendingOf(store, expression, windowFor, budget)
  return eachOf(store, pending, (read) => read())
}

/** Calls `work` with each element, with as many at a time as the store reads; returns the results in order. */
async function eachOf<T, R>(
  { readsAtOnce = 1 }: SeriesStore,
  all: readonly T[],
  work: (each: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(all.length)
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < all.length) {
      const i = next++
      results[i] = await work(all[i]!)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(readsAtOnce, all.length) }, lane))
  } finally {
    next = all.length // after a failure the other lanes end
  }
  return results
}

/** Returns the series of an expression. Functions are applied when a series is read, so that few recorded values are in memory. */
async function pendingOf(
  store: SeriesStore,
  expression: Expression,
  windowFor: (selector: Selector) => SampleWindow,
  budget: ValueBudget,
): Promise<readonly Pending[]> {
  switch (expression.kind) {
    case 'selector': {
      const window = windowFor(expression)
      const ids = await findSeries(store, expression)
      return (await eachOf(store, ids, (id) => pendingSeries(store, id, window, budget))).flat()
    }
    case 'call': {
      const { name, parameter } = expression
      const operands = await pendingOf(store, expression.operand, windowFor, budget)
      const id = expressionId(canonicalText(expression))
      const text = canonicalText(expression.operand)
      const isOne = operands.length === 1
      return operands.map(
        (operand) => async () => applyFunction(name, await operand(), { id, text, parameter, isOne }),
      )
    }
    case 'scaled': {
      const id = expressionId(canonicalText(expression))
      const factor = Number(expression.factor)
      const operands = await pendingOf(store, expression.operand, windowFor, budget)
      return operands.map((operand) => async () => scaleBy(factor, await operand(), id))
    }
    case 'binary': {
      const id = expressionId(canonicalText(expression))
      const left = await valuesOf(store, expression.left, windowFor, budget)
      const right = await valuesOf(store, expression.right, windowFor, budget)
      return pairsOf(left, right).map(
        ([a, b]) =>
          async () =>
            combine(expression.operator, a, b, id),
      )
    }
  }
}

/** Returns the values of an identifier, of a series or of a calculation that the store keeps; nothing for an unknown one. */
export async function valuesOfId(
  store: SeriesStore,
  id: string,
  window: SampleWindow,
  budget: ValueBudget,
): Promise<readonly SeriesResult[]> {
  const source = (await store.desc(id))?.source ?? NO_SOURCE
  const text = source === NO_SOURCE ? await store.expression?.(id) : undefined
  if (text !== undefined) return valuesOf(store, parseQuery(text).body, () => window, budget)
  const [pending] = await pendingSeries(store, id, window, budget)
  return pending === undefined ? [] : [await pending()]
}

/** Returns how a series is read; nothing for an unknown one. */
async function pendingSeries(
  store: SeriesStore,
  id: string,
  window: SampleWindow,
  budget: ValueBudget,
): Promise<readonly Pending[]> {
  const desc = await store.desc(id)
  if (desc === undefined) return []
  return [
    async () => {
      const samples = await store.samples(id, window, budget)
      return { id, operand: id, desc, format: 'recorded', isComputed: false, samples }
    },
  ]
}
