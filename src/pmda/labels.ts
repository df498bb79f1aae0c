/** Labels of an open agent at each level. pmdaLabel(3), docs/reference/agent-toolkit.md */
import { PcpError } from '../model/errors.ts'
import { clusterOf } from '../model/ids.ts'
import { makeLabelSet, mergeLabelSets } from '../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_CONTEXT,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type LabelSet,
} from '../model/labels.ts'
import { includesInstance } from '../model/profile.ts'
import type { Ask, LabelQuery } from '../model/source.ts'
import type { CompiledAgent } from './compile.ts'
import type { Labels, MetricSpec } from './define.ts'

/** Answers a request for labels: no set where the agent has none. PM_ERR_TYPE for an unknown level. */
export function labelsOf(
  agent: string,
  compiled: CompiledAgent,
  query: LabelQuery,
  ask: Ask,
): readonly LabelSet[] {
  const { tables, metrics, indoms } = compiled
  const one = (labels: Labels | undefined): readonly LabelSet[] =>
    labels === undefined || Object.keys(labels).length === 0 ? [] : [makeLabelSet(labels, query.level)]
  switch (query.level) {
    case LABEL_CONTEXT:
      return [] // the collector provides the host's labels
    case LABEL_DOMAIN:
      return one(tables.labels ?? { agent })
    case LABEL_INDOM:
      return one(indoms.get(query.id)?.spec.labels)
    case LABEL_CLUSTER:
      return one(tables.clusterLabels?.[clusterOf(query.id)])
    case LABEL_ITEM:
      return itemSet(metrics.get(query.id)?.spec)
    case LABEL_INSTANCES:
      return instanceSets(compiled, query.id, ask)
    default:
      throw new PcpError('PM_ERR_TYPE', `No labels of level ${query.level}`)
  }
}

/** Labels and optional labels of one metric. */
function itemSet(spec: MetricSpec | undefined): readonly LabelSet[] {
  const labels = labelsNow(spec?.labels)
  const notes = labelsNow(spec?.optionalLabels)
  const sets = labels === undefined ? [] : [makeLabelSet(labels, LABEL_ITEM)]
  if (notes !== undefined) sets.push(makeLabelSet(notes, LABEL_ITEM, { isOptional: true }))
  return sets.length < 2 ? sets : [mergeLabelSets(sets)]
}

function labelsNow(labels: Labels | (() => Labels) | undefined): Labels | undefined {
  // A type guard cannot distinguish functions from objects of labels.
  return typeof labels === 'function' ? (labels as () => Labels)() : labels
}

/**
 * Returns a set for each instance in the profile, empty for an instance without labels. As in PCP an agent that labels
 * instances anywhere does so for all its domains; an agent that never does returns no set.
 */
function instanceSets(compiled: CompiledAgent, id: number, ask: Ask): readonly LabelSet[] {
  const indom = compiled.indoms.get(id)
  if (indom === undefined || !compiled.hasInstanceLabels) return []
  const { instanceLabels, optionalInstanceLabels } = indom.spec
  const { ids, names } = indom.list(ask)
  const sets: LabelSet[] = []
  for (let i = 0; i < ids.length; i++) {
    const inst = ids[i]!
    if (!includesInstance(ask.requester.profile, id, inst)) continue
    const set = makeLabelSet(instanceLabels?.(inst, names[i]!) ?? {}, LABEL_INSTANCES, { inst })
    const notes = optionalInstanceLabels?.(inst, names[i]!)
    if (notes === undefined) sets.push(set)
    else sets.push(mergeLabelSets([set, makeLabelSet(notes, LABEL_INSTANCES, { inst, isOptional: true })]))
  }
  return sets
}
