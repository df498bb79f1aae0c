/** Metadata of identifiers, which are those of series or of calculations. */
import { CALCULATED, NO_SOURCE } from '../ids.ts'
import type { SeriesDesc, SeriesInstance, SeriesStore } from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'
import { valuesOf } from './evaluate.ts'
import { findSeries } from './find.ts'
import { parseQuery } from './parse.ts'
import { canonicalText, type Expression, type Selector } from './syntax.ts'

/** Samples that a calculation needs for its descriptor: rates need two. */
const ENOUGH_SAMPLES = 2

/** Returns the calculation of an identifier; undefined for a series. `known` is its text if the store keeps none. */
export async function calculationOf(
  store: SeriesStore,
  id: string,
  known?: string,
): Promise<Expression | undefined> {
  const { source = NO_SOURCE } = (await store.desc(id)) ?? {}
  if (source !== NO_SOURCE) return undefined
  const text = known ?? (await store.expression?.(id))
  return text === undefined ? undefined : parseQuery(text).body
}

/** Returns the descriptor of a series, or of the results of a calculation; undefined for an unknown identifier. */
export async function descOfId(
  store: SeriesStore,
  id: string,
  budget: ValueBudget,
  known?: string,
): Promise<SeriesDesc | undefined> {
  const desc = await store.desc(id)
  if (desc !== undefined) return desc
  const calculation = await calculationOf(store, id, known)
  if (calculation === undefined) return undefined
  const [first] = await valuesOf(store, calculation, () => ({ samples: ENOUGH_SAMPLES }), budget)
  return first && { ...first.desc, pmid: CALCULATED, source: NO_SOURCE }
}

/** Returns the names of a metric, or the text of a calculation. */
export async function metricNamesOfId(
  store: SeriesStore,
  id: string,
  known?: string,
): Promise<readonly string[]> {
  const calculation = await calculationOf(store, id, known)
  return calculation === undefined ? store.metricNames(id) : [canonicalText(calculation)]
}

/** Returns the instances of a series, or of all series that a calculation uses. */
export async function instancesOfId(
  store: SeriesStore,
  id: string,
  known?: string,
): Promise<readonly SeriesInstance[]> {
  const calculation = await calculationOf(store, id, known)
  if (calculation === undefined) return store.instances(id)
  const instances = new Map<string, SeriesInstance>()
  for (const selector of selectorsOf(calculation))
    for (const series of await findSeries(store, selector))
      for (const instance of await store.instances(series)) instances.set(instance.id, instance)
  return [...instances.values()]
}

function selectorsOf(expression: Expression): readonly Selector[] {
  switch (expression.kind) {
    case 'selector':
      return [expression]
    case 'binary':
      return [expression.left, expression.right].flatMap(selectorsOf)
    default:
      return selectorsOf(expression.operand)
  }
}
