/** Builds the tables of an agent from MMV files. docs/formats/mmv.md */

import type { MmvFile } from '../../mmv/files.ts'
import {
  MMV_FLAG_NOPREFIX,
  MMV_FLAG_SENTINEL,
  MMV_TYPE_ELAPSED,
  type MmvLabel,
  type MmvLayout,
  type MmvMetric,
  type MmvTexts,
} from '../../mmv/layout.ts'
import { readValue, type ValueRules } from '../../mmv/value.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import {
  LABEL_CLUSTER,
  LABEL_INDOM,
  LABEL_INSTANCES,
  LABEL_ITEM,
  LABEL_OPTIONAL,
} from '../../model/labels.ts'
import {
  PM_SEM_COUNTER,
  PM_SEM_DISCRETE,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_STRING,
  PM_TYPE_U32,
  PM_TYPE_U64,
} from '../../model/types.ts'
import type {
  AgentTables,
  AliasSpec,
  IndomSpec,
  Labels,
  LabelValue,
  MetricSpec,
  SemName,
  TypeName,
} from '../../pmda/define.ts'

/** Options of `mappedTables`. */
export interface MappedOptions {
  readonly controls: { readonly [name: string]: MetricSpec }
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
  readonly log: (text: string) => void
  /** Prefix of names: `mmv`. Without it names in files are complete. */
  readonly root?: string
}

const MAX_ITEM = 1023
const MAX_CLUSTER = 4095
const MAX_SERIAL = 0x3fffff
const NAME = /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/
const TYPES: ReadonlyMap<number, TypeName> = new Map([
  [PM_TYPE_32, '32'],
  [PM_TYPE_U32, 'u32'],
  [PM_TYPE_64, '64'],
  [PM_TYPE_U64, 'u64'],
  [PM_TYPE_FLOAT, 'float'],
  [PM_TYPE_DOUBLE, 'double'],
  [PM_TYPE_STRING, 'string'],
  [MMV_TYPE_ELAPSED, '64'],
])

/** Location of a value. */
interface ValueLocation {
  readonly view: DataView
  readonly at: number
  readonly rules: ValueRules
}

/**
 * A metric to which several files may add values and names. As in PCP's agent the last file defines the metric, but the
 * first one's values and texts win.
 */
interface Item {
  /** The last file, which defines the metric. */
  file: MmvFile
  type: number
  /** From the first file. */
  readonly texts: MmvTexts
  readonly names: string[]
  readonly places: Map<number, ValueLocation>
}

/** An instance domain to which several files may add instances. */
interface Shared {
  readonly names: Map<number, string>
  readonly labels: Map<number, Labels>
  readonly spec: IndomSpec
}

/** Returns the metrics of all files. Logs invalid ones. */
export function mappedTables(
  files: readonly MmvFile[],
  options: MappedOptions,
): Pick<AgentTables, 'metrics' | 'clusterLabels'> {
  const builder = new Builder(options)
  const clusters = new Set(files.map(({ layout }) => layout.header.cluster))
  for (const file of files) {
    const wanted = file.layout.header.cluster
    if (wanted > MAX_CLUSTER)
      options.log(`${file.name} is left out: cluster ${wanted} is above ${MAX_CLUSTER}`)
    else builder.add(file, wanted || nextFree(clusters))
  }
  return builder.tables()
}

/** Takes and returns the lowest free number from 1. */
function nextFree(taken: Set<number>): number {
  let cluster = 1
  while (taken.has(cluster)) cluster++
  taken.add(cluster)
  return cluster
}

class Builder {
  readonly #options: MappedOptions
  readonly #metrics: { [name: string]: MetricSpec | AliasSpec }
  /** By cluster and item. */
  readonly #items = new Map<number, Item>()
  readonly #indoms = new Map<number, Shared>()
  readonly #clusterLabels: { [cluster: number]: Labels } = {}

  constructor(options: MappedOptions) {
    this.#options = options
    this.#metrics = { ...options.controls }
  }

  /** Names in the order of PCP's agent, the last one first. */
  tables(): Pick<AgentTables, 'metrics' | 'clusterLabels'> {
    const metrics = Object.fromEntries(Object.entries(this.#metrics).reverse())
    return { metrics, clusterLabels: this.#clusterLabels }
  }

  /** Adds the contents of a file. */
  add(file: MmvFile, cluster: number): void {
    const { indoms, labels, metrics } = file.layout
    const domains = new Map<number, Shared>()
    for (const { serial, ids, names, texts } of indoms) {
      const shared = this.#shared(((cluster << 11) | serial) & MAX_SERIAL, texts)
      domains.set(serial, shared)
      for (const [i, id] of ids.entries()) if (!shared.names.has(id)) shared.names.set(id, names[i]!)
    }
    for (const label of labels) this.#label(label, cluster, domains)
    for (const metric of metrics) this.#metric(file, metric, cluster, domains)
  }

  #shared(serial: number, texts: MmvTexts): Shared {
    const known = this.#indoms.get(serial)
    if (known !== undefined) return known
    const names = new Map<number, string>()
    const labels = new Map<number, Labels>()
    const made: Shared = {
      names,
      labels,
      spec: {
        serial,
        instances: () => ({ ids: [...names.keys()], names: [...names.values()] }),
        help: 'Instances defined by an application',
        texts,
        instanceLabels: (inst) => labels.get(inst),
      },
    }
    this.#indoms.set(serial, made)
    return made
  }

  #metric(file: MmvFile, metric: MmvMetric, cluster: number, domains: ReadonlyMap<number, Shared>): void {
    const { layout, name: fileName } = file
    const { root, log } = this.#options
    const hasPrefix = (layout.header.flags & MMV_FLAG_NOPREFIX) === 0
    const below = root === undefined ? '' : `${root}.`
    const name = `${below}${hasPrefix ? `${fileName}.` : ''}${metric.name}`
    const known = this.#items.get(cluster * 1024 + metric.item)
    const domain = metric.indom === undefined ? undefined : domains.get(metric.indom)
    const problem = this.#problem(metric, domain, known?.file === file)
    if (problem !== undefined) log(`${fileName}: ${name} is left out: ${problem}`)
    else if (!NAME.test(name)) log(`${fileName}: "${name}" is not a valid metric name`)
    else if (Object.hasOwn(this.#metrics, name) && known?.names.includes(name) !== true)
      log(`${fileName}: ${name} already exists`)
    else {
      const item = this.#item(cluster, metric, file)
      for (const [inst, at] of metric.values)
        if (!item.places.has(inst)) item.places.set(inst, { view: file.view, at, rules: this.#rules(layout) })
      this.#metrics[name] = this.#spec(metric, cluster, domain, layout.labels, item)
      // The last name is listed first; the others are aliases.
      if (!item.names.includes(name)) item.names.push(name)
      for (const other of item.names) if (other !== name) this.#metrics[other] = { alias: name }
    }
  }

  /** The item, possibly started by another file. Values of another type are ignored. */
  #item(cluster: number, { item, type, texts }: MmvMetric, file: MmvFile): Item {
    const key = cluster * 1024 + item
    const known = this.#items.get(key)
    if (known?.type === type) known.file = file
    else this.#items.set(key, { file, type, texts, names: known?.names ?? [], places: new Map() })
    return this.#items.get(key)!
  }

  #rules({ header }: MmvLayout): ValueRules {
    return { hasSentinels: (header.flags & MMV_FLAG_SENTINEL) !== 0, nowUs: this.#options.nowUs }
  }

  /** Why a metric is left out. */
  #problem(
    { item, type, indom }: MmvMetric,
    domain: Shared | undefined,
    isTaken: boolean,
  ): string | undefined {
    if (item > MAX_ITEM) return `item ${item} is above ${MAX_ITEM}`
    if (isTaken) return `item ${item} of its cluster belongs to another metric`
    if (!TYPES.has(type)) return `unknown type ${type}`
    return indom !== undefined && domain === undefined ? `unknown instance domain ${indom}` : undefined
  }

  #spec(
    { item, type, sem, units }: MmvMetric,
    cluster: number,
    domain: Shared | undefined,
    labelRecords: readonly MmvLabel[],
    { places, texts }: Item,
  ): MetricSpec {
    const labels = labelsFor(labelRecords, LABEL_ITEM, item)
    return {
      cluster,
      item,
      type: TYPES.get(type)!,
      sem: semantics(sem),
      units: 'none',
      describe: (desc) => ({ ...desc, units: units | 0 }),
      help: 'A value published by an application',
      texts,
      ...(domain === undefined ? {} : { indom: domain.spec }),
      ...(labels === undefined ? {} : { labels }),
      value: (inst) => {
        const place = places.get(domain === undefined ? PM_IN_NULL : inst)
        return place === undefined ? undefined : readValue(place.view, place.at, type, place.rules)
      },
    }
  }

  #label(label: MmvLabel, cluster: number, domains: ReadonlyMap<number, Shared>): void {
    const level = label.flags & ~LABEL_OPTIONAL
    if (level === LABEL_CLUSTER) {
      this.#clusterLabels[cluster] = merged(this.#clusterLabels[cluster], labelsOf(label))
    } else if (level === LABEL_INSTANCES) {
      const labels = domains.get(label.id)?.labels
      labels?.set(label.inst, merged(labels.get(label.inst), labelsOf(label)))
    } else if (level === LABEL_INDOM) {
      const shared = domains.get(label.id)
      if (shared !== undefined)
        Object.assign(shared.spec, { labels: merged(shared.spec.labels, labelsOf(label)) })
    }
  }
}

function semantics(sem: number): SemName {
  return sem === PM_SEM_COUNTER ? 'counter' : sem === PM_SEM_DISCRETE ? 'discrete' : 'instant'
}

/** Labels of an object from the records of one level; undefined for none. */
function labelsFor(labels: readonly MmvLabel[], level: number, id: number): Labels | undefined {
  const found = labels.filter((label) => (label.flags & ~LABEL_OPTIONAL) === level && label.id === id)
  return found.length === 0 ? undefined : found.map(labelsOf).reduce(merged)
}

/** Merges labels, including nested objects. */
function merged(some: Labels = {}, more: Labels): Labels {
  const all: { [name: string]: LabelValue } = { ...some }
  for (const [name, value] of Object.entries(more)) {
    const old = all[name]
    all[name] = isObject(old) && isObject(value) ? merged(old, value) : value
  }
  return all
}

function isObject(value: LabelValue | undefined): value is Labels {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Labels of a record; empty unless its text is a JSON object. */
function labelsOf({ json }: MmvLabel): Labels {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Labels) : {}
  } catch {
    return {} // invalid labels must not cost the values
  }
}
