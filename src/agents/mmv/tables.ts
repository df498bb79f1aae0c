/** From files of memory-mapped values to the tables of an agent. docs/formats/mmv.md */

import {
  MMV_FLAG_NOPREFIX,
  MMV_FLAG_SENTINEL,
  MMV_TYPE_ELAPSED,
  type MmvLabel,
  type MmvMetric,
  type MmvTexts,
} from '../../mmv/layout.ts'
import { readValue } from '../../mmv/value.ts'
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
  MetricSpec,
  SemName,
  TypeName,
} from '../../pmda/define.ts'
import type { MmvFile } from './files.ts'

/** What the tables need besides the files. */
export interface MappedOptions {
  readonly controls: AgentTables['metrics']
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
  readonly log: (text: string) => void
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

/** An instance domain to which several files may add. */
interface Shared {
  readonly names: Map<number, string>
  readonly labels: Map<number, Labels>
  readonly spec: IndomSpec
}

/** The metrics of all files, what is wrong with some of them told in the log. */
export function mappedTables(files: readonly MmvFile[], options: MappedOptions): AgentTables {
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

/** The least number from 1 on that is not taken, which it is then. */
function nextFree(taken: Set<number>): number {
  let cluster = 1
  while (taken.has(cluster)) cluster++
  taken.add(cluster)
  return cluster
}

class Builder {
  readonly #options: MappedOptions
  readonly #metrics: { [name: string]: MetricSpec | AliasSpec }
  /** Who has which item of which cluster: all names, the last of which says what it is. */
  readonly #taken = new Map<number, { file: MmvFile; readonly names: string[] }>()
  readonly #indoms = new Map<number, Shared>()
  readonly #clusterLabels: { [cluster: number]: Labels } = {}

  constructor(options: MappedOptions) {
    this.#options = options
    this.#metrics = { ...options.controls }
  }

  tables(): AgentTables {
    return { metrics: this.#metrics, clusterLabels: this.#clusterLabels }
  }

  /** Adds what a file describes. */
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
        help: 'Instances that an application named',
        texts,
        instanceLabels: (inst) => labels.get(inst),
      },
    }
    this.#indoms.set(serial, made)
    return made
  }

  #metric(file: MmvFile, metric: MmvMetric, cluster: number, domains: ReadonlyMap<number, Shared>): void {
    const { layout, name: fileName } = file
    const hasPrefix = (layout.header.flags & MMV_FLAG_NOPREFIX) === 0
    const name = hasPrefix ? `mmv.${fileName}.${metric.name}` : `mmv.${metric.name}`
    const spec = this.#spec(file, metric, cluster, domains)
    if (typeof spec === 'string') this.#options.log(`${fileName}: ${name} is left out: ${spec}`)
    else if (!NAME.test(name)) this.#options.log(`${fileName}: "${name}" can be no name of a metric`)
    else if (Object.hasOwn(this.#metrics, name)) this.#options.log(`${fileName}: ${name} is there already`)
    else {
      this.#metrics[name] = spec
      this.#share(cluster * 1024 + metric.item, name, file)
    }
  }

  /** Files in one cluster may use the same item: the last one says what it is, and the other names stand for it too. */
  #share(key: number, name: string, file: MmvFile): void {
    const known = this.#taken.get(key)
    if (known === undefined) {
      this.#taken.set(key, { file, names: [name] })
      return
    }
    for (const other of known.names) this.#metrics[other] = { alias: name }
    known.names.push(name)
    known.file = file
  }

  /** The row of a metric, or why it can have none. */
  #spec(
    file: MmvFile,
    { item, type, sem, units, indom, texts, values }: MmvMetric,
    cluster: number,
    domains: ReadonlyMap<number, Shared>,
  ): MetricSpec | string {
    const { layout, view } = file
    if (item > MAX_ITEM) return `item ${item} is above ${MAX_ITEM}`
    if (this.#taken.get(cluster * 1024 + item)?.file === file)
      return `item ${item} of cluster ${cluster} is another metric's`
    const typeName = TYPES.get(type)
    if (typeName === undefined) return `type ${type} is not known`
    const domain = indom === undefined ? undefined : domains.get(indom)
    if (indom !== undefined && domain === undefined) return `there is no instance domain ${indom}`
    const rules = {
      hasSentinels: (layout.header.flags & MMV_FLAG_SENTINEL) !== 0,
      nowUs: this.#options.nowUs,
    }
    const labels = labelsFor(layout.labels, LABEL_ITEM, item)
    return {
      cluster,
      item,
      type: typeName,
      sem: semantics(sem),
      units: 'none',
      describe: (desc) => ({ ...desc, units: units | 0 }),
      help: 'A value that an application publishes',
      texts,
      ...(domain === undefined ? {} : { indom: domain.spec }),
      ...(labels === undefined ? {} : { labels }),
      value: (inst) => {
        const at = values.get(domain === undefined ? PM_IN_NULL : inst)
        return at === undefined ? undefined : readValue(view, at, type, rules)
      },
    }
  }

  #label(label: MmvLabel, cluster: number, domains: ReadonlyMap<number, Shared>): void {
    const level = label.flags & ~LABEL_OPTIONAL
    if (level === LABEL_CLUSTER) {
      this.#clusterLabels[cluster] = { ...this.#clusterLabels[cluster], ...labelsOf(label) }
    } else if (level === LABEL_INSTANCES) {
      const labels = domains.get(label.id)?.labels
      labels?.set(label.inst, { ...labels.get(label.inst), ...labelsOf(label) })
    } else if (level === LABEL_INDOM) {
      const shared = domains.get(label.id)
      if (shared !== undefined)
        Object.assign(shared.spec, { labels: { ...shared.spec.labels, ...labelsOf(label) } })
    }
  }
}

function semantics(sem: number): SemName {
  return sem === PM_SEM_COUNTER ? 'counter' : sem === PM_SEM_DISCRETE ? 'discrete' : 'instant'
}

/** The labels that records of one level give one thing; undefined for none. */
function labelsFor(labels: readonly MmvLabel[], level: number, id: number): Labels | undefined {
  const found = labels.filter((label) => (label.flags & ~LABEL_OPTIONAL) === level && label.id === id)
  return found.length === 0 ? undefined : Object.assign({}, ...found.map(labelsOf))
}

/** Labels of a record; none where its text is no JSON object. */
function labelsOf({ json }: MmvLabel): Labels {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Labels) : {}
  } catch {
    return {} // an application's mistake must not cost its values
  }
}
