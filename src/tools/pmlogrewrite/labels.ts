/** Rewrites label sets. docs/formats/archive.md §4.3 */
import { clusterId, domainOf, type Indom, PM_IN_NULL } from '../../model/ids.ts'
import { labelSetOf } from '../../model/label-set.ts'
import {
  LABEL_CLUSTER,
  LABEL_DOMAIN,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  type Label,
  type LabelSet,
} from '../../model/labels.ts'
import type { Plan } from './plan.ts'
import { changesInstances, changesLabels, type LabelRule } from './rules.ts'

/** Label sets of one object. */
export interface LabelPart {
  readonly level: number
  readonly id: number
  readonly sets: readonly LabelSet[]
}

/** Applies rules to labels. */
export class LabelRewriter {
  readonly #plan: Plan
  readonly #rules = new Map<string, LabelRule[]>()
  readonly #groups: ReadonlyMap<string, ReadonlySet<number>>

  constructor(plan: Plan) {
    this.#plan = plan
    this.#groups = movedGroups(plan)
    for (const rule of plan.rules.labels.filter(changesLabels)) {
      const key = `${rule.level} ${rule.id}`
      this.#rules.set(key, [...(this.#rules.get(key) ?? []), rule])
    }
  }

  /** Returns whether rules change the labels of this object, or move it. */
  changes(level: number, id: number): boolean {
    if (this.#rules.has(`${level} ${id}`)) return true
    const { rules, metrics, dropped } = this.#plan
    if (level === LABEL_ITEM) {
      const rule = metrics.get(id)?.rule
      return rule?.isDeleted === true || rule?.pmid !== undefined
    }
    if (level === LABEL_DOMAIN || level === LABEL_CLUSTER) return this.#groups.has(`${level} ${id}`)
    if (level !== LABEL_INDOM && level !== LABEL_INSTANCES) return false
    const rule = rules.indoms.get(id)
    return dropped.has(id) || rule?.to !== undefined || (level === LABEL_INSTANCES && changesInstances(rule))
  }

  /** Rewrites the sets of one record. */
  rewrite(level: number, id: number, sets: readonly LabelSet[]): LabelPart[] {
    const rules = this.#rules.get(`${level} ${id}`) ?? []
    const moved = new Map<number, LabelSet[]>()
    for (const set of sets) {
      const inst = level === LABEL_INSTANCES ? this.#instOf(id, set.inst) : set.inst
      if (inst === undefined) continue
      const mine = rules.filter((rule) => rule.inst === undefined || rule.inst === set.inst)
      const labels = changedLabels(level, set.labels, mine)
      // Drops a set from which rules removed all labels.
      if (labels.length === 0 && set.labels.length > 0) continue
      const isSame = mine.length === 0 && inst === set.inst
      const result = isSame ? set : { ...labelSetOf(labels, inst), status: set.status }
      const to = mine.find((rule) => rule.to !== undefined)?.to
      for (const target of to === undefined ? this.#idsOf(level, id) : [to])
        moved.set(target, [...(moved.get(target) ?? []), result])
    }
    if (level === LABEL_INSTANCES) {
      const had = new Set(sets.map(({ inst }) => inst))
      const added = this.#newSets(level, id, rules, had)
      for (const target of added.length === 0 ? [] : this.#idsOf(level, id))
        moved.set(target, [...(moved.get(target) ?? []), ...added])
    }
    return [...moved].map(([target, list]) => ({ level, id: target, sets: list }))
  }

  /** Returns new labels of objects and instances without labels. */
  missing(): LabelPart[] {
    const parts: LabelPart[] = []
    for (const rules of this.#rules.values()) {
      const { level, id } = rules[0]!
      const known = this.#plan.known.labels.some((labels) => labels.level === level && labels.id === id)
      if (known) continue
      const sets = this.#newSets(level, id, rules, new Set())
      if (sets.length > 0)
        for (const target of this.#idsOf(level, id)) parts.push({ level, id: target, sets })
    }
    return parts
  }

  /** Returns sets of added labels, without instances that already have a set. */
  #newSets(level: number, id: number, all: readonly LabelRule[], had: ReadonlySet<number>): LabelSet[] {
    const rules = all.filter(({ added }) => added.length > 0)
    if (rules.length === 0) return []
    if (level !== LABEL_INSTANCES) return [labelSetOf(changedLabels(level, [], rules), PM_IN_NULL)]
    const sets: LabelSet[] = []
    for (const { id: inst } of this.#plan.known.instances(id)) {
      const mine = rules.filter((rule) => rule.inst === undefined || rule.inst === inst)
      const to = this.#instOf(id, inst)
      if (mine.length > 0 && to !== undefined && !had.has(inst))
        sets.push(labelSetOf(changedLabels(level, [], mine), to))
    }
    return sets
  }

  /** Returns an instance's id in the output. */
  #instOf(indom: Indom, inst: number): number | undefined {
    const rule = this.#plan.rules.indoms.get(indom)?.instances.get(inst)
    return rule?.isDeleted ? undefined : (rule?.newId ?? inst)
  }

  /** Returns the ids of a labeled object in the output. */
  #idsOf(level: number, id: number): number[] {
    const { rules, metrics, dropped } = this.#plan
    if (level === LABEL_ITEM) {
      const rule = metrics.get(id)?.rule
      return rule?.isDeleted ? [] : [rule?.pmid ?? id]
    }
    if (level !== LABEL_INDOM && level !== LABEL_INSTANCES)
      return [...(this.#groups.get(`${level} ${id}`) ?? [id])]
    const rule = rules.indoms.get(id)
    const ids = rule?.to === undefined ? [id] : rule.isDuplicate ? [id, rule.to] : [rule.to]
    return ids.filter((one) => one !== id || !dropped.has(one))
  }
}

function changedLabels(level: number, labels: readonly Label[], rules: readonly LabelRule[]): Label[] {
  let result = [...labels]
  for (const rule of rules) {
    const { isDeleted, newName, newValue } = rule
    if (isDeleted) result = result.filter((label) => !isMeant(label, rule))
    else if (newName !== undefined || newValue !== undefined)
      result = result.map((label) => {
        if (!isMeant(label, rule)) return label
        return { name: newName ?? label.name, value: newValue ?? label.value, flags: label.flags }
      })
  }
  for (const { added } of rules)
    for (const { name, value } of added) {
      result = result.filter((label) => label.name !== name)
      result.push({ name, value, flags: level })
    }
  return result
}

/** Maps domains and clusters to their numbers in the output, which follow from their metrics if any of these moved. */
export function movedGroups({ known, metrics }: Pick<Plan, 'known' | 'metrics'>): Map<string, Set<number>> {
  const groups = new Map<string, Set<number>>()
  for (const id of known.descs.keys()) {
    const rule = metrics.get(id)?.rule
    if (rule?.isDeleted) continue
    const to = rule?.pmid ?? id
    add(groups, `${LABEL_DOMAIN} ${domainOf(id)}`, domainOf(to))
    add(groups, `${LABEL_CLUSTER} ${clusterId(id)}`, clusterId(to))
  }
  for (const [key, ids] of groups)
    if (ids.size === 1 && ids.has(Number(key.split(' ')[1]))) groups.delete(key)
  return groups
}

function add(groups: Map<string, Set<number>>, key: string, id: number): void {
  const ids = groups.get(key)
  if (ids === undefined) groups.set(key, new Set([id]))
  else ids.add(id)
}

function isMeant({ name, value }: Label, rule: LabelRule): boolean {
  if (rule.name !== undefined && rule.name !== name) return false
  return rule.value === undefined || value === rule.value
}
