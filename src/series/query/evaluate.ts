/** Evaluates a query: the series that it finds, or their values. pmseries(1) */
import { expressionId } from '../ids.ts'
import type { SampleWindow, SeriesStore } from '../store.ts'
import { ValueBudget } from '../value-budget.ts'
import { findSeries } from './find.ts'
import { applyFunction, scaleBy } from './functions.ts'
import { combine, pairsOf } from './operators.ts'
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

/** Calculates the values of an expression; `windowFor` returns the window of each selector. */
export async function valuesOf(
  store: SeriesStore,
  expression: Expression,
  windowFor: (selector: Selector) => SampleWindow,
  budget: ValueBudget,
): Promise<readonly SeriesResult[]> {
  switch (expression.kind) {
    case 'selector': {
      const window = windowFor(expression)
      const results: SeriesResult[] = []
      for (const id of await findSeries(store, expression))
        results.push(...(await seriesValues(store, id, window, budget)))
      return results
    }
    case 'call': {
      const { name, parameter } = expression
      const operands = await valuesOf(store, expression.operand, windowFor, budget)
      const id = expressionId(canonicalText(expression))
      const text = canonicalText(expression.operand)
      return operands.map((operand) =>
        applyFunction(name, operand, { id, text, parameter, isOne: operands.length === 1 }),
      )
    }
    case 'scaled': {
      const id = expressionId(canonicalText(expression))
      const operands = await valuesOf(store, expression.operand, windowFor, budget)
      return operands.map((operand) => scaleBy(Number(expression.factor), operand, id))
    }
    case 'binary': {
      const id = expressionId(canonicalText(expression))
      const left = await valuesOf(store, expression.left, windowFor, budget)
      const right = await valuesOf(store, expression.right, windowFor, budget)
      return pairsOf(left, right).map(([a, b]) => combine(expression.operator, a, b, id))
    }
  }
}

/** Returns the samples of a series; nothing for an unknown one. */
export async function seriesValues(
  store: SeriesStore,
  id: string,
  window: SampleWindow,
  budget: ValueBudget,
): Promise<readonly SeriesResult[]> {
  const desc = await store.desc(id)
  if (desc === undefined) return []
  const samples = await store.samples(id, window, budget)
  return [{ id, operand: id, desc, format: 'recorded', isComputed: false, samples }]
}
