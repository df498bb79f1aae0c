/** Series that a selector finds. */

import { globNode } from '../../base/glob.ts'
import { compilePattern } from '../../base/pattern.ts'
import { compileNode, type Pattern } from '../../base/pattern-machine.ts'
import { PcpError } from '../../model/errors.ts'
import type { SeriesStore } from '../store.ts'
import type { Condition, Group, Selector } from './syntax.ts'

/** Where the names or values of a key are. */
export type Place =
  | { readonly kind: 'metric' | 'instance' | 'context' }
  | { readonly kind: 'label'; readonly label: string }

/** Returns the identifiers of the series that a selector finds, in the store's order. */
export async function findSeries(store: SeriesStore, selector: Selector): Promise<readonly string[]> {
  return store.select === undefined ? findByConditions(store, selector) : store.select(selector)
}

/** Finds series by the names and labels of a store. */
export async function findByConditions(
  store: SeriesStore,
  { metric, groups }: Selector,
): Promise<readonly string[]> {
  const sets = groups.map((group) => () => seriesOfGroup(store, group))
  const next = (store.readsAtOnce ?? 1) > 1 ? sets.map(begun) : sets
  let found: readonly string[] | undefined
  if (metric !== undefined) {
    const isPattern = /(?<!\\)\*/.test(metric)
    const pattern = isPattern ? compileNode(globNode(metric)) : undefined
    const name = metric.replace(/\\(.)/g, '$1')
    found =
      pattern === undefined ? await store.withName('metric', name) : await named(store, 'metric', pattern)
  }
  for (const set of next) {
    if (found?.length === 0) return []
    const members = await set()
    found = found === undefined ? [...members] : found.filter((each) => members.has(each))
  }
  return found ?? []
}

/** Begins what takes a round trip to a server; its error counts only if the result is wanted. */
function begun<T>(work: () => Promise<T>): () => Promise<T> {
  const result = work()
  result.catch(() => undefined)
  return () => result
}

async function seriesOfGroup(store: SeriesStore, { first, rest }: Group): Promise<ReadonlySet<string>> {
  let set = await seriesOf(store, first)
  for (const { operator, condition } of rest) {
    const other = await seriesOf(store, condition)
    set = new Set(operator === '||' ? [...set, ...other] : [...set].filter((each) => other.has(each)))
  }
  return set
}

async function seriesOf(store: SeriesStore, condition: Condition): Promise<ReadonlySet<string>> {
  const { key, relation, value, isVoid } = condition
  if (isVoid) return new Set()
  const place = placeOf(key)
  if (place === undefined) return new Set()
  if (place.kind !== 'label') {
    const test = testOf(condition, value)
    const series =
      relation === '==' ? await store.withName(place.kind, value) : await named(store, place.kind, test)
    return new Set(series)
  }
  const { label } = place
  const test = testOf(condition, value)
  const values = (await store.labelValues(label)).filter((json) => test.test(plainText(json)))
  const sets = await Promise.all(values.map((json) => store.withLabel(label, json)))
  return new Set(sets.flat())
}

async function named(
  store: SeriesStore,
  kind: 'metric' | 'instance' | 'context',
  pattern: Pick<Pattern, 'test'>,
): Promise<readonly string[]> {
  const names = (await store.names(kind)).filter((name) => pattern.test(name))
  const sets = await Promise.all(names.map((name) => store.withName(kind, name)))
  return [...new Set(sets.flat())]
}

/** Returns what a key compares; undefined for an unknown key. */
export function placeOf(key: string): Place | undefined {
  const dot = key.indexOf('.')
  const [prefix, rest] = dot < 0 ? ['', key] : [key.slice(0, dot), key.slice(dot + 1)]
  switch (prefix) {
    case 'metric':
    case 'm':
      return rest === 'name' ? { kind: 'metric' } : undefined
    case 'instance':
    case 'inst':
    case 'i':
      return rest === 'name' ? { kind: 'instance' } : undefined
    case 'context':
    case 'source':
    case 'c':
    case 's':
      return rest === 'name' || rest === 'path' ? { kind: 'context' } : undefined
    case 'label':
    case 'l':
      return { kind: 'label', label: rest }
    default:
      return { kind: 'label', label: key }
  }
}

/** Returns the test of a condition for names, and for values of labels. EINVAL for an invalid regular expression. */
export function testOf({ relation, isNumber }: Condition, value: string): Pick<Pattern, 'test'> {
  switch (relation) {
    case '==':
      return { test: (text) => text === value }
    case '!=':
      return { test: (text) => text !== value }
    case '~~':
    case ':':
      return compileNode(globNode(value))
    case '=~':
      return regularExpression(value)
    case '!~': {
      const pattern = regularExpression(value)
      return { test: (text) => !pattern.test(text) }
    }
    default: {
      const limit = isNumber ? Number(value) : Number.NaN
      const compare = (number: number): boolean =>
        relation === '<'
          ? number < limit
          : relation === '<='
            ? number <= limit
            : relation === '>'
              ? number > limit
              : number >= limit
      return { test: (text) => text.trim() !== '' && compare(Number(text)) }
    }
  }
}

function regularExpression(value: string): Pattern {
  try {
    return compilePattern(value, true)
  } catch (error) {
    throw new PcpError('EINVAL', `"${value}" is not a regular expression: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Returns a label's value as people write it: a string without its quotes. */
export function plainText(json: string): string {
  if (!json.startsWith('"')) return json
  try {
    return String(JSON.parse(json))
  } catch {
    return json.slice(1, -1) // labels are checked only for their outline
  }
}
