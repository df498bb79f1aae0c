/** Labels of an open agent, level by level. pmdaLabel(3), docs/agents.md */
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
import { wants } from '../model/profile.ts'
import type { Ask, LabelQuery } from '../model/source.ts'
import type { CompiledAgent } from './compile.ts'
import type { Labels, MetricSpec } from './define.ts'

/** Answers a question about labels: no set where the agent has none. PM_ERR_TYPE for a level that does not exist. */
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
      return [] // the host's labels: the collector's own
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

/** Labels and notes of one metric. */
function itemSet(spec: MetricSpec | undefined): readonly LabelSet[] {
  const labels = labelsNow(spec?.labels)
  const notes = labelsNow(spec?.notes)
  const sets = labels === undefined ? [] : [makeLabelSet(labels, LABEL_ITEM)]
  if (notes !== undefined) sets.push(makeLabelSet(notes, LABEL_ITEM, { isOptional: true }))
  return sets.length < 2 ? sets : [mergeLabelSets(sets)]
}

function labelsNow(labels: Labels | (() => Labels) | undefined): Labels | undefined {
  // A type guard cannot tell functions from objects of labels.
  return typeof labels === 'function' ? (labels as () => Labels)() : labels
}

/**
 * One set for each instance that the profile wants, empty where an instance has no labels. As in PCP an agent that labels
 * instances anywhere answers so for all its domains, and one that never does not at all.
 */
function instanceSets(compiled: CompiledAgent, id: number, ask: Ask): readonly LabelSet[] {
  const indom = compiled.indoms.get(id)
  if (indom === undefined || !compiled.hasInstanceLabels) return []
  const { instanceLabels, instanceNotes } = indom.spec
  const { ids, names } = indom.list(ask)
  const sets: LabelSet[] = []
  for (let i = 0; i < ids.length; i++) {
    const inst = ids[i]!
    if (!wants(ask.requester.profile, id, inst)) continue
    const set = makeLabelSet(instanceLabels?.(inst, names[i]!) ?? {}, LABEL_INSTANCES, { inst })
    const notes = instanceNotes?.(inst, names[i]!)
    if (notes === undefined) sets.push(set)
    else sets.push(mergeLabelSets([set, makeLabelSet(notes, LABEL_INSTANCES, { inst, isOptional: true })]))
  }
  return sets
}
