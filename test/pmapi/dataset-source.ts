/** The data set of the vectors as a source: each fetch gives the next sample in which a metric asked for has a value. */
import type { MetricDesc } from '../../src/model/desc.ts'
import { PcpError } from '../../src/model/errors.ts'
import { type Indom, indom, PM_INDOM_NULL, type Pmid, pmid } from '../../src/model/ids.ts'
import { type Profile, wants } from '../../src/model/profile.ts'
import type { Instances, MetricSource } from '../../src/model/source.ts'
import { PM_TYPE_64, PM_TYPE_STRING, PM_TYPE_U64 } from '../../src/model/types.ts'
import { packUnits } from '../../src/model/units.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { emptySet, type FetchResult, type Value, type ValueSet } from '../../src/model/values.ts'
import { Pmns } from '../../src/pmns/tree.ts'
import { readVectors } from '../vectors.ts'

interface DataSet {
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

const data = readVectors('derived/dataset.json') as unknown as DataSet
const numbers = (text: string): number[] => text.split('.').map(Number)

function pmidOf(text: string): Pmid {
  const [domain, cluster, item] = numbers(text)
  return pmid(domain!, cluster!, item!)
}

function indomOf(text: string | null): Indom {
  if (text === null) return PM_INDOM_NULL
  const [domain, serial] = numbers(text)
  return indom(domain!, serial!)
}

const names = new Pmns()
const nameOf = new Map<Pmid, string>()
const descs = new Map<Pmid, MetricDesc>()
for (const metric of data.metrics) {
  const id = pmidOf(metric.pmid)
  const [dimSpace, dimTime, dimCount, scaleSpace, scaleTime, scaleCount] = metric.units
  const units = packUnits({
    dimSpace: dimSpace!,
    dimTime: dimTime!,
    dimCount: dimCount!,
    scaleSpace: scaleSpace!,
    scaleTime: scaleTime!,
    scaleCount: scaleCount!,
  })
  names.add(metric.name, id)
  nameOf.set(id, metric.name)
  descs.set(id, { pmid: id, type: metric.type, indom: indomOf(metric.indom), sem: metric.sem, units })
}
const indoms = new Map(Object.entries(data.indoms).map(([text, members]) => [indomOf(text), members]))

function parse(text: string, type: number): Value {
  if (type === PM_TYPE_STRING) return text
  return type === PM_TYPE_64 || type === PM_TYPE_U64 ? BigInt(text) : Number(text)
}

function setOf(id: Pmid, sample: DataSet['samples'][number], profile: Profile): ValueSet {
  const desc = descs.get(id)
  if (desc === undefined) return emptySet(id, new PcpError('PM_ERR_PMID').status)
  const pairs = Object.entries(sample.values[nameOf.get(id)!] ?? {})
    .map(([inst, text]): [number, Value] => [inst === '-' ? -1 : Number(inst), parse(text, desc.type)])
    .filter(([inst]) => wants(profile, desc.indom, inst))
  return makeSet(
    id,
    desc.type,
    pairs.map(([inst]) => inst),
    pairs.map(([, value]) => value),
  )
}

function instances(id: Indom, query: { readonly id?: number; readonly name?: string } = {}): Instances {
  const members = indoms.get(id)
  if (members === undefined) throw new PcpError('PM_ERR_INDOM_LOG')
  const found = Object.entries(members).filter(
    ([inst, name]) =>
      (query.id === undefined || query.id === Number(inst)) &&
      (query.name === undefined || query.name === name || query.name === name.split(' ')[0]),
  )
  if (found.length === 0) throw new PcpError('PM_ERR_INST_LOG')
  return { indom: id, ids: found.map(([inst]) => Number(inst)), names: found.map(([, name]) => name) }
}

const nothing = async (): Promise<never> => {
  throw new PcpError('PM_ERR_NYI')
}

/** A source at the beginning of the data set; at its end fetches fail with PM_ERR_EOL. */
export function datasetSource(): MetricSource {
  let next = 0
  return {
    children: async (name) => names.children(name),
    traverse: async (name) => names.traverse(name),
    lookupNames: async (list) => list.map((name) => names.lookup(name)),
    lookupId: async (id) => names.namesOf(id),
    descs: async (ids) => ids.map((id) => descs.get(id) ?? new PcpError('PM_ERR_PMID_LOG')),
    instances: async (id, query) => instances(id, query),
    text: nothing,
    labels: nothing,
    store: nothing,
    subscribe: () => () => {},
    close: async () => {},
    fetch: async (ids, { requester }): Promise<FetchResult> => {
      for (; next < data.samples.length; next++) {
        const sample = data.samples[next]!
        const sets = ids.map((id) => setOf(id, sample, requester.profile))
        if (!sets.some(({ status }) => status > 0)) continue
        next++
        const offset = Number(sample.offset)
        const sec = data.t0 + Math.floor(offset)
        return { timestamp: { sec, nsec: Math.round((offset % 1) * 1e9) }, changes: 0, sets }
      }
      throw new PcpError('PM_ERR_EOL')
    },
  }
}
