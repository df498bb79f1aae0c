/** The texts that are hashed to identify sources, metrics and instances over time. pminfo(1) -s, pmseries(1) */
import type { MetricDesc } from './desc.ts'
import { mergeLabelSets } from './label-set.ts'
import { LABEL_CLUSTER, LABEL_CONTEXT, LABEL_ITEM, LABEL_OPTIONAL, type LabelSet } from './labels.ts'
import { semStr, typeStr } from './types.ts'
import { unitsStr } from './units.ts'

/**
 * Returns the text of a source from its label sets of any level, of which only context labels count. `host` is the fallback.
 */
export function sourceText(sets: readonly LabelSet[], host: string): string {
  const { json } = mergeLabelSets(
    sets,
    ({ flags }) => (flags & (LABEL_CONTEXT | LABEL_OPTIONAL)) === LABEL_CONTEXT,
  )
  return `{"series":"source","labels":${json === '' ? `{"hostname":"${host}"}` : json}}`
}

/** Returns the text of a metric; `sets` are its label sets down to item level, in order of increasing precedence. */
export function metricText(name: string, desc: MetricDesc, sets: readonly LabelSet[]): string {
  const what = `"semantics":"${semStr(desc.sem)}","type":"${typeStr(desc.type)}","units":"${unitsStr(desc.units)}"`
  return `{"series":"metric","name":"${name}","labels":${identity(sets)},${what}}`
}

/**
 * Returns the text of an instance. `sets` are the label sets of its metric and its own, in order of increasing precedence; cluster and
 * item labels do not count, because all metrics of an instance domain share its instances.
 */
export function instanceText(name: string, sets: readonly LabelSet[]): string {
  return `{"series":"instance","name":"${name}","labels":${identity(sets, LABEL_CLUSTER | LABEL_ITEM)}}`
}

/** Returns the labels without annotations, which do not identify, and without labels with any of the flags `not`. */
function identity(sets: readonly LabelSet[], not = 0): string {
  const { json } = mergeLabelSets(sets, ({ flags }) => (flags & (LABEL_OPTIONAL | not)) === 0)
  return json === '' ? 'null' : json
}
