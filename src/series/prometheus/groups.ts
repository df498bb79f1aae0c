/**
 * PCP's series from those of Prometheus. A series of PCP is a metric of a host with all of its instances, for Prometheus each
 * instance is a series. Labels of PCP's metrics are recognized as pmproxy's /metrics, remote write and OTLP make them; of other
 * metrics, the target is the host, and the remaining labels are the name of the instance.
 */
import { createHash } from 'node:crypto'
import { indom, PM_INDOM_NULL, pmid } from '../../model/ids.ts'
import { labelSetOf } from '../../model/label-set.ts'
import { LABEL_CONTEXT, LABEL_INSTANCES, LABEL_OPTIONAL, type LabelSet } from '../../model/labels.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE, PM_SEM_INSTANT, semStr, typeStr } from '../../model/types.ts'
import { instanceId, metricId, sourceId } from '../ids.ts'
import type { SeriesDesc, SeriesInstance } from '../store.ts'
import type { LabelMap } from './answers.ts'

/** Facts about a metric besides its labels. */
export interface MetricFacts {
  /** PCP's name if the metric is known as one of PCP; else undefined. */
  readonly name: string | undefined
  readonly desc: Omit<SeriesDesc, 'source'>
}

/** The labels of PCP's collector that identify a host; users differ between its clients. */
const HOST_LABELS = ['hostname', 'domainname', 'machineid'] as const
const USER_LABELS = ['userid', 'groupid'] as const
/** Labels that Prometheus adds for a target. */
const TARGET_LABELS = ['job', 'instance'] as const
/** Labels for which the server finds whole series. */
export const CONTEXT_LABELS: ReadonlySet<string> = new Set([...HOST_LABELS, ...TARGET_LABELS])
/** Labels in which exports of PCP put the instance and the descriptor. */
export const INSTANCE_LABELS: ReadonlySet<string> = new Set(['instid', 'instname'])
const DESC_LABELS: ReadonlySet<string> = new Set(['pmid', 'indom', 'semantics', 'type'])
/** Labels outside the identity of a series. */
const ANNOTATIONS: ReadonlySet<string> = new Set([...USER_LABELS, ...TARGET_LABELS])
/** Domain of instance domains that only the server has. */
const FOREIGN_DOMAIN = 510

const TYPES: ReadonlyMap<string, number> = new Map(
  [0, 1, 2, 3, 4, 5].map((type) => [typeStr(type).toLowerCase(), type]),
)
const SEMANTICS: ReadonlyMap<string, number> = new Map(
  [PM_SEM_COUNTER, PM_SEM_INSTANT, PM_SEM_DISCRETE].map((sem) => [semStr(sem), sem]),
)

/** A metric of a host. */
export class PrometheusSeries {
  readonly id: string
  readonly name: string
  /** The name on the server. */
  readonly serverName: string
  readonly host: string
  readonly desc: SeriesDesc
  /** Labels by which the server finds all instances; '' for a missing label. */
  readonly identity: ReadonlyMap<string, string>
  readonly #isPcp: boolean
  /** Labels of all instances, and names of labels that differ between instances. */
  readonly #shared: LabelSet
  readonly #own: ReadonlySet<string>
  readonly #instances = new Map<string, { instance: SeriesInstance; labels: LabelSet }>()

  constructor(
    members: readonly LabelMap[],
    { name, desc }: MetricFacts,
    { identity, isPcp }: { readonly identity: ReadonlyMap<string, string>; readonly isPcp: boolean },
  ) {
    const first = members[0]!
    this.#isPcp = isPcp
    this.identity = identity
    this.serverName = first['__name__'] ?? ''
    this.name = (isPcp ? name : undefined) ?? this.serverName
    this.host = first['hostname'] ?? first['instance'] ?? ''
    const isShared = (label: string): boolean => members.every((each) => each[label] === first[label])
    const labels = members.flatMap((each) => Object.keys(each)).filter((label) => this.#isShown(label))
    const shared = [...new Set(labels)].filter((label) =>
      isPcp ? isShared(label) : CONTEXT_LABELS.has(label),
    )
    this.#own = new Set(labels.filter((label) => !shared.includes(label)))
    this.#shared = setOf(first, shared, LABEL_CONTEXT, isPcp)
    const context = isPcp ? HOST_LABELS : [...HOST_LABELS, ...TARGET_LABELS]
    const source = sourceId([setOf(first, context, LABEL_CONTEXT, isPcp)], this.host)
    const hasInstances = isPcp
      ? members.some((each) => each['instname'] !== undefined || each['instid'] !== undefined)
      : this.#own.size > 0
    const told = isPcp ? toldDesc(first, desc) : desc
    const domain = told.indom === PM_INDOM_NULL ? foreignIndom([...this.#own]) : told.indom
    this.desc = { ...told, indom: hasInstances ? domain : PM_INDOM_NULL, source }
    this.id = metricId(this.name, this.desc, [this.#shared])
    for (const each of members) this.instanceOf(each)
  }

  /** The instances known, by number. */
  get instances(): readonly SeriesInstance[] {
    return [...this.#instances.values()].map(({ instance }) => instance).sort((a, b) => a.inst - b.inst)
  }

  /** Returns the identifier of the instance with these labels; '' for a metric without instances. */
  instanceOf(labels: LabelMap): string {
    if (this.desc.indom === PM_INDOM_NULL) return ''
    const name = this.#instanceName(labels)
    const known = this.#instances.get(name)
    if (known !== undefined) return known.instance.id
    const own = setOf(labels, [...this.#own], LABEL_INSTANCES, this.#isPcp)
    const number = Number(labels['instid'])
    const inst = this.#isPcp && Number.isInteger(number) ? number : hash(name) & 0x7fffffff
    const id = instanceId(name, [this.#shared, own])
    this.#instances.set(name, { instance: { id, inst, name, source: this.desc.source }, labels: own })
    return id
  }

  /** Returns the labels of an instance, or of a metric without instances, as JSON; undefined for another identifier. */
  labelsOf(id: string): ReadonlyMap<string, string> | undefined {
    const json = ({ labels }: LabelSet): [string, string][] => labels.map(({ name, value }) => [name, value])
    if (id === this.id) return this.desc.indom === PM_INDOM_NULL ? new Map(json(this.#shared)) : undefined
    for (const { instance, labels } of this.#instances.values())
      if (instance.id === id) {
        const all = [...json(this.#shared), ...json(labels)]
        return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)))
      }
    return undefined
  }

  /** Returns whether a series of the server is an instance of this one. */
  has(labels: LabelMap): boolean {
    for (const [name, value] of this.identity) if ((labels[name] ?? '') !== value) return false
    return labels['__name__'] === this.serverName
  }

  /** Returns whether a series with some of the instances of this one is a part of it. */
  includes(part: PrometheusSeries): boolean {
    if (part.serverName !== this.serverName) return false
    for (const [name, value] of part.identity) if ((this.identity.get(name) ?? '') !== value) return false
    return part.instances.every(({ name }) => this.#instances.has(name))
  }

  #isShown(label: string): boolean {
    if (label === '__name__') return false
    return !this.#isPcp || !(INSTANCE_LABELS.has(label) || DESC_LABELS.has(label))
  }

  #instanceName(labels: LabelMap): string {
    if (this.#isPcp) return labels['instname'] ?? labels['instid'] ?? ''
    const names = Object.keys(labels).filter((name) => name !== '__name__' && !CONTEXT_LABELS.has(name))
    return instanceNameOf(names.sort().map((name) => [name, labels[name]!]))
  }
}

/** Returns the name of an instance that the server knows only by its labels: `cpu:0,mode:idle`. */
function instanceNameOf(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${name}:${value}`).join(',')
}

/** Returns the labels in the name of an instance made by `instanceNameOf`; undefined for another name. */
export function labelsOfInstanceName(name: string): readonly (readonly [string, string])[] | undefined {
  const parts = name.split(/,(?=[A-Za-z_]\w*:)/).map((part) => /^([A-Za-z_]\w*):(.*)$/s.exec(part))
  if (parts.some((part) => part === null)) return undefined
  return parts.map((part) => [part![1]!, part![2]!])
}

/** Groups series of the server; `factsOf` returns the facts about a name. */
export function groupSeries(
  all: readonly LabelMap[],
  factsOf: (serverName: string) => MetricFacts,
): readonly PrometheusSeries[] {
  const buckets = new Map<string, { isPcp: boolean; identity: Map<string, string>; members: LabelMap[] }>()
  for (const labels of all) {
    const serverName = labels['__name__'] ?? ''
    const isPcp = isOfPcp(labels, factsOf(serverName).name !== undefined)
    const names = isPcp ? HOST_LABELS : [...CONTEXT_LABELS]
    const identity = new Map(names.map((name) => [name, labels[name] ?? '']))
    const key = JSON.stringify([serverName, isPcp, ...identity.values()])
    const bucket = buckets.get(key)
    if (bucket === undefined) buckets.set(key, { isPcp, identity, members: [labels] })
    else bucket.members.push(labels)
  }
  return [...buckets.values()].flatMap(({ isPcp, identity, members }) => {
    const facts = factsOf(members[0]!['__name__'] ?? '')
    return divided(members, isPcp ? distinguishing(members) : []).map(
      ({ values, members: own }) =>
        new PrometheusSeries(own, facts, { identity: new Map([...identity, ...values]), isPcp }),
    )
  })
}

function isOfPcp(labels: LabelMap, isKnown: boolean): boolean {
  if (labels['instid'] !== undefined && labels['instname'] !== undefined) return true
  const isOfHost = labels['hostname'] !== undefined
  return isOfHost && (isKnown || ['machineid', 'domainname', 'agent', 'pmid'].some((name) => name in labels))
}

/** Returns the labels of a metric of a host that differ within one of its instances: they are labels of different series. */
function distinguishing(members: readonly LabelMap[]): readonly string[] {
  const names = new Set(members.flatMap((each) => Object.keys(each)))
  return [...names].filter((name) => {
    if (INSTANCE_LABELS.has(name) || ANNOTATIONS.has(name) || DESC_LABELS.has(name)) return false
    const byInstance = new Map<string, string | undefined>()
    return members.some((each) => {
      const instance = each['instid'] ?? ''
      const isOther = byInstance.has(instance) && byInstance.get(instance) !== each[name]
      byInstance.set(instance, each[name])
      return isOther
    })
  })
}

function divided(
  members: readonly LabelMap[],
  names: readonly string[],
): readonly { values: readonly (readonly [string, string])[]; members: LabelMap[] }[] {
  const parts = new Map<string, { values: readonly (readonly [string, string])[]; members: LabelMap[] }>()
  for (const each of members) {
    const values = names.map((name) => [name, each[name] ?? ''] as const)
    const key = JSON.stringify(values)
    const part = parts.get(key)
    if (part === undefined) parts.set(key, { values, members: [each] })
    else part.members.push(each)
  }
  return [...parts.values()]
}

/** Returns a descriptor with what the labels of an OTLP export add to it. */
function toldDesc(labels: LabelMap, desc: MetricFacts['desc']): MetricFacts['desc'] {
  const id = /^(\d+)\.(\d+)\.(\d+)$/.exec(labels['pmid'] ?? '')
  if (id === null) return desc
  const domain = /^(\d+)\.(\d+)$/.exec(labels['indom'] ?? '')
  return {
    pmid: pmid(Number(id[1]), Number(id[2]), Number(id[3])),
    indom: domain === null ? desc.indom : indom(Number(domain[1]), Number(domain[2])),
    type: TYPES.get(labels['type'] ?? '') ?? desc.type,
    sem: SEMANTICS.get(labels['semantics'] ?? '') ?? desc.sem,
    units: desc.units,
  }
}

/** Returns the instance domain of metrics with the same labels. */
function foreignIndom(labels: readonly string[]): number {
  return indom(FOREIGN_DOMAIN, hash([...labels].sort().join(',')))
}

function hash(text: string): number {
  return createHash('sha1').update(text).digest().readUInt32BE()
}

function setOf(labels: LabelMap, names: readonly string[], level: number, isPcp: boolean): LabelSet {
  const present = names.filter((name) => labels[name] !== undefined)
  return labelSetOf(
    present.map((name) => ({
      name,
      value: JSON.stringify(labels[name]),
      flags: isPcp && ANNOTATIONS.has(name) ? level | LABEL_OPTIONAL : level,
    })),
  )
}
