/** The data set of the vectors as a source: each fetch returns the next sample with a value of a requested metric. */
import { PcpError } from '../../src/model/errors.ts'
import type { Indom, Pmid } from '../../src/model/ids.ts'
import { includesInstance, type Profile } from '../../src/model/profile.ts'
import type { Instances, MetricSource } from '../../src/model/source.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { emptySet, type FetchResult, type Value, type ValueSet } from '../../src/model/values.ts'
import { byPmid, type Dataset, dataset, indomOf, names, readValue } from '../derive/dataset.ts'

const indoms = new Map(Object.entries(dataset.indoms).map(([text, members]) => [indomOf(text), members]))

function setOf(id: Pmid, sample: Dataset['samples'][number], profile: Profile): ValueSet {
  const metric = byPmid.get(id)
  if (metric === undefined) return emptySet(id, new PcpError('PM_ERR_PMID').status)
  const { desc, name } = metric
  const pairs = Object.entries(sample.values[name] ?? {})
    .map(([inst, text]): [number, Value] => [inst === '-' ? -1 : Number(inst), readValue(text, desc.type)])
    .filter(([inst]) => includesInstance(profile, desc.indom, inst))
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

/** Returns a source at the start of the data set; at its end fetches fail with PM_ERR_EOL. */
export function datasetSource(): MetricSource {
  let next = 0
  return {
    children: async (name) => names.children(name),
    traverse: async (name) => names.traverse(name),
    lookupNames: async (list) => list.map((name) => names.lookup(name)),
    lookupId: async (id) => names.namesOf(id),
    descs: async (ids) => ids.map((id) => byPmid.get(id)?.desc ?? new PcpError('PM_ERR_PMID_LOG')),
    instances: async (id, query) => instances(id, query),
    text: nothing,
    labels: nothing,
    store: nothing,
    subscribe: () => () => {},
    close: async () => {},
    fetch: async (ids, { requester }): Promise<FetchResult> => {
      for (; next < dataset.samples.length; next++) {
        const sample = dataset.samples[next]!
        const sets = ids.map((id) => setOf(id, sample, requester.profile))
        if (!sets.some(({ status }) => status > 0)) continue
        next++
        const offset = Number(sample.offset)
        const sec = dataset.t0 + Math.floor(offset)
        return { timestamp: { sec, nsec: Math.round((offset % 1) * 1e9) }, changes: 0, sets }
      }
      throw new PcpError('PM_ERR_EOL')
    },
  }
}
