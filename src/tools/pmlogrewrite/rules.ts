/** What a set of rewriting rules asks for, as data. pmlogrewrite(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import type { Indom, Pmid } from '../../model/ids.ts'

/** What becomes of the label; undefined stays as it is. */
export interface GlobalRule {
  hostname?: string
  timezone?: string
  zoneinfo?: string
  features?: number
  /** Added to every time. */
  delta?: Timestamp
}

/** A replacement in names or string values: the first match, as `s` of sed does. */
export interface Replacement {
  readonly pattern: RegExp
  readonly text: string
}

/** What becomes of an instance. */
export interface InstanceRule {
  readonly id: number
  readonly name: string
  newId?: number
  newName?: string
  isDeleted?: boolean
}

/** What becomes of an instance domain. */
export interface IndomRule {
  readonly indom: Indom
  to?: Indom
  /** The domain stays as it is, and `to` is one more. */
  isDuplicate?: boolean
  isRedacted?: boolean
  readonly replacements: Replacement[]
  /** Those that change, by id. */
  readonly instances: Map<number, InstanceRule>
}

/** Which of several values stays, or what is computed of them. */
export type PickKind = 'first' | 'last' | 'min' | 'max' | 'sum' | 'avg' | 'inst'

/** A pick; `inst` is what INST and INAME name: the value to take, or the instance that a single value becomes. */
export interface Pick {
  readonly kind: PickKind
  readonly inst?: number
  /** Named by INAME, but not known. */
  readonly name?: string
}

/** What becomes of a metric. */
export interface MetricRule {
  readonly desc: MetricDesc
  /** The name it was found by, or its first one; its PMID when it has none. */
  readonly name: string
  isDeleted?: boolean
  pmid?: Pmid
  newName?: string
  type?: number
  indom?: Indom
  pick?: Pick
  sem?: number
  units?: number
  isRescaled?: boolean
  readonly replacements: Replacement[]
}

/** What becomes of a help text. */
export interface TextRule {
  readonly kind: 'metric' | 'indom'
  readonly id: number
  readonly level: 'oneline' | 'help'
  /** Only a text that contains this. */
  readonly content: string | undefined
  isDeleted?: boolean
  to?: number
  text?: string
}

/** A label to be added: its value is a JSON token. */
export interface NewLabel {
  readonly name: string
  readonly value: string
}

/** What becomes of labels. */
export interface LabelRule {
  /** LABEL_CONTEXT to LABEL_INSTANCES. */
  readonly level: number
  readonly id: number
  /** Only of this instance. */
  readonly inst: number | undefined
  readonly name: string | undefined
  /** Only a label with this value, a JSON token. */
  readonly value: string | undefined
  isDeleted?: boolean
  to?: number
  newName?: string
  /** A JSON token. */
  newValue?: string
  readonly added: NewLabel[]
}

/** All rules; the lists have what was named last first. */
export interface Rules {
  readonly global: GlobalRule
  readonly indoms: Map<Indom, IndomRule>
  readonly metrics: Map<Pmid, MetricRule>
  readonly texts: TextRule[]
  readonly labels: LabelRule[]
}

/** No rules yet. */
export function noRules(): Rules {
  return { global: {}, indoms: new Map(), metrics: new Map(), texts: [], labels: [] }
}

/** Does a rule change the domain or any instance of it? */
export function changesIndom(rule: IndomRule | undefined): boolean {
  return rule !== undefined && (rule.to !== undefined || changesInstances(rule))
}

/** Does a rule change any instance? */
export function changesInstances(rule: IndomRule | undefined): boolean {
  if (rule === undefined) return false
  return rule.instances.size > 0 || rule.isRedacted === true || rule.replacements.length > 0
}

/** Does a rule change anything about its metric itself? */
export function changesMetric(rule: MetricRule): boolean {
  const { isDeleted, pmid, newName, type, indom, sem, units, replacements } = rule
  return (
    isDeleted === true ||
    [pmid, newName, type, indom, sem, units].some((change) => change !== undefined) ||
    replacements.length > 0
  )
}

/** Does a rule change its text? */
export function changesText({ isDeleted, to, text }: TextRule): boolean {
  return isDeleted === true || to !== undefined || text !== undefined
}

/** Does a rule change labels? */
export function changesLabels({ isDeleted, to, newName, newValue, added }: LabelRule): boolean {
  return (
    isDeleted === true || [to, newName, newValue].some((change) => change !== undefined) || added.length > 0
  )
}
