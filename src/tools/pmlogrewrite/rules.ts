/** Data types of rewriting rules. pmlogrewrite(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import type { Indom, Pmid } from '../../model/ids.ts'

/** Changes of the label; undefined keeps the value. */
export interface GlobalRule {
  hostname?: string
  timezone?: string
  zoneinfo?: string
  features?: number
  /** Added to every time. */
  delta?: Timestamp
}

/** Replaces the first match in names or string values. */
export interface Replacement {
  readonly pattern: RegExp
  readonly text: string
}

/** Changes of an instance. */
export interface InstanceRule {
  readonly id: number
  readonly name: string
  newId?: number
  newName?: string
  isDeleted?: boolean
}

/** Changes of an instance domain. */
export interface IndomRule {
  readonly indom: Indom
  to?: Indom
  /** `to` is an additional copy. */
  isDuplicate?: boolean
  isRedacted?: boolean
  readonly replacements: Replacement[]
  /** Changed instances by id. */
  readonly instances: Map<number, InstanceRule>
}

/** How several values are reduced to one. */
export type PickKind = 'first' | 'last' | 'min' | 'max' | 'sum' | 'avg' | 'inst'

/** A reduction; `inst` comes from INST or INAME: the value to use, or the instance for a single value. */
export interface Reduction {
  readonly kind: PickKind
  readonly inst?: number
  /** Name in INAME, if unknown. */
  readonly name?: string
}

/** Changes of a metric. */
export interface MetricRule {
  readonly desc: MetricDesc
  /** The name that selected it, or its first name, or its PMID. */
  readonly name: string
  isDeleted?: boolean
  pmid?: Pmid
  newName?: string
  type?: number
  indom?: Indom
  pick?: Reduction
  sem?: number
  units?: number
  isRescaled?: boolean
  readonly replacements: Replacement[]
}

/** Changes of a help text. */
export interface TextRule {
  readonly kind: 'metric' | 'indom'
  readonly id: number
  readonly level: 'oneline' | 'help'
  /** Applies only to texts containing this. */
  readonly content: string | undefined
  isDeleted?: boolean
  to?: number
  text?: string
}

/** A label to add; its value is a JSON token. */
export interface NewLabel {
  readonly name: string
  readonly value: string
}

/** Changes of labels. */
export interface LabelRule {
  /** LABEL_CONTEXT to LABEL_INSTANCES. */
  readonly level: number
  readonly id: number
  /** Applies only to this instance. */
  readonly inst: number | undefined
  readonly name: string | undefined
  /** Applies only to labels with this JSON token as value. */
  readonly value: string | undefined
  isDeleted?: boolean
  to?: number
  newName?: string
  /** A JSON token. */
  newValue?: string
  readonly added: NewLabel[]
}

/** All rules; lists have the most recent first. */
export interface Rules {
  readonly global: GlobalRule
  readonly indoms: Map<Indom, IndomRule>
  readonly metrics: Map<Pmid, MetricRule>
  readonly texts: TextRule[]
  readonly labels: LabelRule[]
}

/** Returns an empty set of rules. */
export function noRules(): Rules {
  return { global: {}, indoms: new Map(), metrics: new Map(), texts: [], labels: [] }
}

/** Returns whether a rule changes the domain or an instance. */
export function changesIndom(rule: IndomRule | undefined): boolean {
  return rule !== undefined && (rule.to !== undefined || changesInstances(rule))
}

/** Returns whether a rule changes an instance. */
export function changesInstances(rule: IndomRule | undefined): boolean {
  if (rule === undefined) return false
  return rule.instances.size > 0 || rule.isRedacted === true || rule.replacements.length > 0
}

/** Returns whether a rule changes the metric itself. */
export function changesMetric(rule: MetricRule): boolean {
  const { isDeleted, pmid, newName, type, indom, sem, units, replacements } = rule
  return (
    isDeleted === true ||
    [pmid, newName, type, indom, sem, units].some((change) => change !== undefined) ||
    replacements.length > 0
  )
}

/** Returns whether a rule changes its text. */
export function changesText({ isDeleted, to, text }: TextRule): boolean {
  return isDeleted === true || to !== undefined || text !== undefined
}

/** Returns whether a rule changes labels. */
export function changesLabels({ isDeleted, to, newName, newValue, added }: LabelRule): boolean {
  return (
    isDeleted === true || [to, newName, newValue].some((change) => change !== undefined) || added.length > 0
  )
}
