/** The data set of the derived-metric vectors as a source: each fetch gives the next sample. */
import { readFileSync } from 'node:fs'
import type { MetricDesc } from '../../src/model/desc.ts'
import { PcpError } from '../../src/model/errors.ts'
import { indom, PM_INDOM_NULL, type Pmid, pmid } from '../../src/model/ids.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { PM_TYPE_64, PM_TYPE_STRING, PM_TYPE_U64 } from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { emptySet, type Value } from '../../src/model/values.ts'
import { Pmns } from '../../src/pmns/tree.ts'

/** The file of the data set. */
export interface Dataset {
  readonly t0: number
  readonly indoms: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly metrics: readonly {
    readonly name: string
    readonly pmid: string
    readonly type: number
    readonly indom: string | null
    readonly sem: number
    readonly units: readonly number[]
  }[]
  readonly samples: readonly {
    readonly offset: string
    readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>
  }[]
}

/** Reads a vector file. */
export function vectors<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../vectors/derived/${name}.json`, import.meta.url), 'utf8')) as T
}

/** The recorded samples. */
export const dataset: Dataset = vectors<Dataset>('dataset')

/** Parses an indom such as `245.1`. */
export function indomOf(text: string | null): number {
  if (text === null) return PM_INDOM_NULL
  const [domain, serial] = text.split('.').map(Number)
  return indom(domain!, serial!)
}

/** A metric of the data set. */
export interface Metric {
  readonly desc: MetricDesc
  readonly name: string
}

/** All metrics. */
export const byPmid: Map<Pmid, Metric> = new Map()
/** Their names. */
export const names: Pmns = new Pmns()
for (const metric of dataset.metrics) {
  const [domain, cluster, item] = metric.pmid.split('.').map(Number)
  const [dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount] = metric.units
  const units = packUnits({
    dimSpace: dimSpace!,
    dimTime: dimTime!,
    dimCount: dimCount!,
    scaleSpace: scaleSpace!,
    scaleTime: scaleTime!,
    scaleCount: scaleCount!,
  })
  const id = pmid(domain!, cluster!, item!)
  const { name, type, sem } = metric
  byPmid.set(id, { name, desc: { pmid: id, type, sem, indom: indomOf(metric.indom), units } })
  names.add(name, id)
}

/** Parses a recorded value. */
export function readValue(text: string, type: number): Value {
  if (type === PM_TYPE_STRING) return text
  if (type === PM_TYPE_64 || type === PM_TYPE_U64) return BigInt(text)
  return text === 'inf' ? Infinity : text === '-inf' ? -Infinity : Number(text)
}

/** Time of the first sample in seconds. */
export const T0: number = dataset.t0

/** Returns a source that yields the next sample at each fetch, then PM_ERR_EOL. */
export function datasetSource(): MetricSource {
  let next = 0
  return {
    children: async (name) => names.children(name),
    traverse: async (name) => names.traverse(name),
    lookupNames: async (list) => list.map((name) => names.lookup(name)),
    lookupId: async (id) => names.namesOf(id),
    descs: async (ids) => ids.map((id) => byPmid.get(id)?.desc ?? new PcpError('PM_ERR_PMID_LOG')),
    instances: async (id, query) => {
      const [text, instances] = Object.entries(dataset.indoms).find(([key]) => indomOf(key) === id) ?? []
      if (text === undefined || instances === undefined) throw new PcpError('PM_ERR_INDOM_LOG')
      if (query !== undefined) throw new PcpError('PM_ERR_NYI')
      return { indom: id, ids: Object.keys(instances).map(Number), names: Object.values(instances) }
    },
    text: () => Promise.reject(new PcpError('PM_ERR_NOTHOST')),
    labels: async () => [],
    fetch: async (ids) => {
      const sample = dataset.samples[next++]
      if (sample === undefined) throw new PcpError('PM_ERR_EOL')
      const [sec, fraction] = sample.offset.split('.')
      const sets = ids.map((id) => {
        const metric = byPmid.get(id)
        if (metric === undefined) return emptySet(id, new PcpError('PM_ERR_PMID').status)
        const values = sample.values[metric.name]
        if (values === undefined) return emptySet(id)
        const insts = Object.keys(values).map((inst) => (inst === '-' ? -1 : Number(inst)))
        return makeSet(
          id,
          metric.desc.type,
          insts,
          Object.values(values).map((text) => readValue(text, metric.desc.type)),
        )
      })
      return {
        timestamp: { sec: T0 + Number(sec), nsec: Number(fraction!.padEnd(9, '0')) },
        changes: 0,
        sets,
      }
    },
    store: () => Promise.reject(new PcpError('PM_ERR_PERMISSION')),
    subscribe: () => () => {},
    close: async () => {},
  }
}
