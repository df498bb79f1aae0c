/** Selectors of the query language as those of PromQL, so that the server finds the series. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts'
import { PcpError } from '../../model/errors.ts'
import { placeOf, plainText, testOf } from '../query/find.ts'
import type { Condition, Group, Selector } from '../query/syntax.ts'
import { labelsOfInstanceName } from './groups.ts'
import { type NameTable, prometheusLabel } from './names.ts'

/** A condition of the server. */
export interface Matcher {
  readonly label: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

/** Matchers that must all hold. */
export type Matchers = readonly Matcher[]

/** One way to satisfy a selector. */
export interface Alternative {
  /** Conditions for names and labels, which hold together. */
  readonly matchers: Matchers
  /** Conditions for instances, each of which another instance may satisfy. */
  readonly instances: readonly Matchers[]
}

/** Names and values that the server has. */
export interface ServerNames {
  /** Names of metrics. */
  names(): Promise<readonly string[]>
  values(label: string): Promise<readonly string[]>
  readonly table: NameTable
}

/** Most alternatives of a query, and of values for one label. */
const MOST_ALTERNATIVES = 64
const MOST_VALUES = 10_000

/** Returns the alternatives of a selector: the server finds the series of all; none if no series can match. E2BIG for too many. */
export async function matchersOf(
  { metric, groups }: Selector,
  server: ServerNames,
): Promise<readonly Alternative[]> {
  let all: readonly Alternative[] = [{ matchers: [], instances: [] }]
  if (metric !== undefined) {
    const name = metric.replace(/\\(.)/g, '$1')
    const glob = {
      key: 'metric.name',
      relation: '~~',
      value: metric,
      isNumber: false,
      isVoid: false,
    } as const
    all = /(?<!\\)\*/.test(metric) ? await namesLike(glob, server) : named(server.table.variants(name))
  }
  for (const group of groups) {
    if (all.length === 0) return []
    all = both(all, await ofGroup(group, server))
  }
  return all
}

/** Writes matchers as a selector of PromQL. */
export function selectorText(matchers: Matchers): string {
  const texts = matchers.map(({ label, operator, value }) => `${label}${operator}"${escaped(value)}"`)
  return `{${texts.join(',')}}`
}

/** Returns a matcher for one of several values. E2BIG for too many. */
export function oneOf(label: string, values: readonly string[]): Matcher {
  if (values.length === 1) return { label, operator: '=', value: values[0]! }
  if (values.length > MOST_VALUES)
    throw new PcpError('E2BIG', `More than ${MOST_VALUES} values of ${label} match: select fewer`)
  const literals = values.map((value) => escapeRegExp(value))
  return { label, operator: '=~', value: literals.join('|') }
}

async function ofGroup({ first, rest }: Group, server: ServerNames): Promise<readonly Alternative[]> {
  let all = await ofCondition(first, server)
  for (const { operator, condition } of rest) {
    const other = await ofCondition(condition, server)
    all = operator === '||' ? [...all, ...other] : both(all, other)
  }
  return all
}

function both(a: readonly Alternative[], b: readonly Alternative[]): readonly Alternative[] {
  if (a.length * b.length > MOST_ALTERNATIVES)
    throw new PcpError('E2BIG', `The query has more than ${MOST_ALTERNATIVES} alternatives: use fewer ||`)
  return a.flatMap((one) =>
    b.map((other) => ({
      matchers: [...one.matchers, ...other.matchers],
      instances: [...one.instances, ...other.instances],
    })),
  )
}

async function ofCondition(condition: Condition, server: ServerNames): Promise<readonly Alternative[]> {
  const { key, relation, value, isVoid } = condition
  const place = isVoid ? undefined : placeOf(key)
  const isEqual = relation === '=='
  switch (place?.kind) {
    case undefined:
      return []
    case 'metric':
      return isEqual ? named(server.table.variants(value)) : namesLike(condition, server)
    case 'context':
      return [
        ...(await valuesLike('hostname', condition, server)),
        ...(await valuesLike('instance', condition, server)),
      ]
    case 'instance': {
      const other = isEqual ? labelsOfInstanceName(value) : undefined
      const byLabels = other?.map(([label, text]): Matcher => ({ label, operator: '=', value: text }))
      return [
        ...(await valuesLike('instname', condition, server)),
        ...(byLabels === undefined ? [] : [{ matchers: byLabels, instances: [] }]),
      ].map(({ matchers }) => ({ matchers: [], instances: [matchers] }))
    }
    case 'label':
      return valuesLike(prometheusLabel(place.label), condition, server)
  }
}

async function valuesLike(
  label: string,
  condition: Condition,
  server: ServerNames,
): Promise<readonly Alternative[]> {
  const { relation, value } = condition
  // No series has a label without a value.
  if (relation === '==') return value === '' ? [] : only({ label, operator: '=', value })
  const test = testOf(condition, value)
  const all = await server.values(label)
  const values = all.filter((each) => test.test(plainText(JSON.stringify(each))))
  if (values.length === 0) return []
  if (values.length === all.length) return only({ label, operator: '!=', value: '' })
  return only(oneOf(label, values))
}

function named(names: readonly string[]): readonly Alternative[] {
  return names.length === 0 ? [] : only(oneOf('__name__', names))
}

function only(matcher: Matcher): readonly Alternative[] {
  return [{ matchers: [matcher], instances: [] }]
}

/**
 * Finds names by a condition. Names that are not known as PCP's are compared as they are and as the condition would be written with
 * the server's names.
 */
async function namesLike(condition: Condition, server: ServerNames): Promise<readonly Alternative[]> {
  const { relation, value } = condition
  const isRegular = relation === '=~' || relation === '!~'
  const onServer = isRegular ? value.replaceAll('\\.', '_') : value.replaceAll('.', '_')
  const tests = [testOf(condition, value), testOf({ ...condition, value: onServer }, onServer)]
  const isNegated = relation === '!~' || relation === '!='
  const matches = (name: string): boolean => {
    const known = server.table.find(name)
    if (known !== undefined) return tests[0]!.test(known.name)
    return isNegated ? tests.every((each) => each.test(name)) : tests.some((each) => each.test(name))
  }
  return named((await server.names()).filter(matches))
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
