/** What identifies a source, a metric and an instance over time: the texts that are hashed. pminfo(1) -s, pmseries(1) */
import type { MetricDesc } from './desc.ts'
import { mergeLabelSets } from './label-set.ts'
import { LABEL_CLUSTER, LABEL_CONTEXT, LABEL_ITEM, LABEL_OPTIONAL, type LabelSet } from './labels.ts'
import { semStr, typeStr } from './types.ts'
import { unitsStr } from './units.ts'

/**
 * The text of the source whose label sets, of whatever levels, these are: the labels of its context. `host` stands in where it has none.
 */
export function sourceText(sets: readonly LabelSet[], host: string): string {
  const { json } = mergeLabelSets(
    sets,
    ({ flags }) => (flags & (LABEL_CONTEXT | LABEL_OPTIONAL)) === LABEL_CONTEXT,
  )
  return `{"series":"source","labels":${json === '' ? `{"hostname":"${host}"}` : json}}`
}

/** The text of a metric of that name; `sets` are its label sets down to its item, weakest first. */
export function metricText(name: string, desc: MetricDesc, sets: readonly LabelSet[]): string {
  const what = `"semantics":"${semStr(desc.sem)}","type":"${typeStr(desc.type)}","units":"${unitsStr(desc.units)}"`
  return `{"series":"metric","name":"${name}","labels":${identity(sets)},${what}}`
}

/**
 * The text of an instance. Of `sets`, its metric's and its own, weakest first, those of cluster and item do not count:
 * metrics of one instance domain share their instances.
 */
export function instanceText(name: string, sets: readonly LabelSet[]): string {
  return `{"series":"instance","name":"${name}","labels":${identity(sets, LABEL_CLUSTER | LABEL_ITEM)}}`
}

/** Labels without annotations, which tell nothing apart, and without those with one of the flags `not`. */
function identity(sets: readonly LabelSet[], not = 0): string {
  const { json } = mergeLabelSets(sets, ({ flags }) => (flags & (LABEL_OPTIONAL | not)) === 0)
  return json === '' ? 'null' : json
}
