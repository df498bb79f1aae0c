/** Values over several fetches and requesters, and functions that the reference does not have. */
import { describe, expect, test } from 'vitest'
import { DerivedDefinitions } from '../../src/derive/definitions.ts'
import { type DerivedSource, withDerived } from '../../src/derive/derived-source.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { ALL_INSTANCES, exclude } from '../../src/model/profile.ts'
import { ANONYMOUS, type MetricSource, type Requester } from '../../src/model/source.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_FLOAT, PM_TYPE_U64 } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { emptySet, type Value } from '../../src/model/values.ts'
import { datasetSource } from './dataset.ts'

const ID = pmid(60, 0, 1)
const DISKS = indom(60, 1)
type Sample = readonly (readonly [inst: number, value: Value])[] | number

/** Returns a source with one metric, `m`, with these samples ten seconds apart; a number is an error. */
function samplesOf(type: number, sem: number, samples: readonly Sample[]): MetricSource {
  let next = 0
  return {
    ...datasetSource(),
    lookupNames: async (names) => names.map(() => ID),
    descs: async (ids) => ids.map((id) => ({ pmid: id, type, sem, indom: DISKS, units: 0 })),
    instances: async () => ({ indom: DISKS, ids: [0, 1, 2, 3], names: ['sda', 'sdb root', 'sdc', 'nvme0'] }),
    fetch: async (ids) => {
      const sample = samples[next % samples.length]!
      const timestamp = { sec: 1000 + 10 * next++, nsec: 0 }
      const set = (id: number) =>
        typeof sample === 'number'
          ? emptySet(id, sample)
          : makeSet(
              id,
              type,
              sample.map(([inst]) => inst),
              sample.map(([, value]) => value),
            )
      return { timestamp, changes: 0, sets: ids.map(set) }
    },
  }
}

const ask = { requester: ANONYMOUS }

async function derived(under: MetricSource, text: string): Promise<{ source: DerivedSource; id: number }> {
  const source = withDerived(under, new DerivedDefinitions('global'))
  return { source, id: await source.define('d.x', text, ask) }
}

async function fetchAll(
  under: MetricSource,
  text: string,
  times: number,
  requester: Requester = ANONYMOUS,
): Promise<unknown[]> {
  const { source, id } = await derived(under, text)
  const [desc] = await source.descs([id], ask)
  const rows: unknown[] = []
  for (let i = 0; i < times; i++) {
    const { sets } = await source.fetch([id], { requester })
    const set = sets[0]!
    rows.push(
      set.status < 0
        ? set.status
        : valuesOf(set, (desc as { type: number }).type).map(({ inst, value }) => [inst, value]),
    )
  }
  return rows
}

const counter = (samples: readonly Sample[]): MetricSource => samplesOf(PM_TYPE_U64, PM_SEM_COUNTER, samples)
const doubles = (...values: number[]): MetricSource =>
  samplesOf(PM_TYPE_DOUBLE, 3, [values.map((value, inst) => [inst, value])])

describe('from fetch to fetch', () => {
  test('instances that come and go have a rate if they were in the previous fetch', async () => {
    const source = counter([
      [
        [0, 0],
        [1, 10],
      ],
      [
        [0, 100],
        [2, 5],
      ],
      [
        [2, 25],
        [0, 50],
      ],
    ])
    expect(await fetchAll(source, 'rate(m)', 3)).toEqual([[], [[0, 10]], [[2, 2]]])
  })

  test('an error is the result, and the values before it are forgotten', async () => {
    const source = counter([[[0, 0]], -12345, [[0, 20]], [[0, 40]]])
    expect(await fetchAll(source, 'rate(m)', 4)).toEqual([[], -12345, [], [[0, 2]]])
  })

  test('64-bit integers are exact', async () => {
    const big = 2n ** 63n + 1n
    const source = counter([[[0, big]], [[0, big + 7n]]])
    expect(await fetchAll(source, 'instant(m) + 1', 1)).toEqual([[[0, big + 1n]]])
    expect(await fetchAll(counter([[[0, big]]]), 'm + m', 1)).toEqual([[[0, 2]]])
    expect(await fetchAll(counter([[[0, big]], [[0, big + 7n]]]), 'delta(m)', 2)).toEqual([[], [[0, 7]]])
    expect(await fetchAll(counter([[[0, 2 ** 52]]]), 'm + m', 1)).toEqual([[[0, 2n ** 53n]]])
  })

  test('each requester has a separate history until it ends', async () => {
    const { source, id } = await derived(counter([[[0, 0]], [[0, 10]]]), 'delta(m)')
    const one = { requester: { ...ANONYMOUS, client: 1 } }
    const two = { requester: { ...ANONYMOUS, client: 2 } }
    const count = async (who: typeof one): Promise<number> => (await source.fetch([id], who)).sets[0]!.status
    expect([await count(one), await count(one), await count(two), await count(two)]).toEqual([0, 1, 0, 1])
    source.endClient?.(1)
    expect([await count(one), await count(two)]).toEqual([0, 1])
    source.forget(two.requester)
    expect([await count(one), await count(two)]).toEqual([1, 0])
  })

  test('constants with a domain have a value for each included instance', async () => {
    const profile = exclude(ALL_INSTANCES, DISKS, [1, 3])
    const rows = await fetchAll(doubles(1), 'mkconst(7, indom=60.1)', 1, { ...ANONYMOUS, profile })
    expect(rows).toEqual([
      [
        [0, 7],
        [2, 7],
      ],
    ])
  })
})

describe('over instances', () => {
  test('topk and bottomk keep the order of the instances', async () => {
    const source = doubles(5, 9, 7, 9)
    expect(await fetchAll(source, 'topk(2, m)', 1)).toEqual([
      [
        [1, 9],
        [3, 9],
      ],
    ])
    expect(await fetchAll(source, 'topk(1, m)', 1)).toEqual([[[1, 9]]])
    expect(await fetchAll(source, 'bottomk(2, m)', 1)).toEqual([
      [
        [0, 5],
        [2, 7],
      ],
    ])
    expect(await fetchAll(source, 'topk(9, m)', 1)).toEqual([
      [
        [0, 5],
        [1, 9],
        [2, 7],
        [3, 9],
      ],
    ])
    expect(await fetchAll(source, 'topk(0, m)', 1)).toEqual([[]])
    expect(await fetchAll(doubles(Number.NaN, 1), 'topk(2, m)', 1)).toEqual([[[1, 1]]])
  })

  test('topk compares all bits of large integers', async () => {
    const big = 2n ** 60n
    const source = counter([
      [
        [0, big],
        [1, big + 2n],
        [2, big + 1n],
      ],
    ])
    expect(await fetchAll(source, 'topk(1, m)', 1)).toEqual([[[1, big + 2n]]])
  })

  test('quantiles are interpolated between values', async () => {
    const source = doubles(4, 1, 3, 2)
    expect(await fetchAll(source, 'quantile(0, m)', 1)).toEqual([[[-1, 1]]])
    expect(await fetchAll(source, 'quantile(1, m)', 1)).toEqual([[[-1, 4]]])
    expect(await fetchAll(source, 'quantile(0.5, m)', 1)).toEqual([[[-1, 2.5]]])
    expect(await fetchAll(source, 'quantile(0.25, m)', 1)).toEqual([[[-1, 1.75]]])
    expect(await fetchAll(counter([[]]), 'quantile(0.5, m)', 1)).toEqual([[]])
    expect(await fetchAll(counter([-12350]), 'quantile(0.5, m)', 1)).toEqual([-12350])
  })

  test('they can be combined with other expressions', async () => {
    const source = counter([
      [
        [0, 0],
        [1, 0],
        [3, 0],
      ],
      [
        [0, 100],
        [1, 400],
        [3, 900],
      ],
    ])
    const text = 'topk(2, rate(matchinst(/^sd/, m))) / scalar(quantile(0.5, rate(m)))'
    expect(await fetchAll(source, text, 2)).toEqual([
      [],
      [
        [0, 0.25],
        [1, 1],
      ],
    ])
  })

  test('one instance is chosen by its name, or the name up to its first blank', async () => {
    expect(await fetchAll(doubles(1, 2, 3), 'm[sdb]', 1)).toEqual([[[1, 2]]])
    expect(await fetchAll(doubles(1, 2, 3), 'm[sdb root]', 1)).toEqual([[[1, 2]]])
    expect(await fetchAll(doubles(1, 2, 3), 'm[root]', 1)).toEqual([[]])
  })

  test('single precision stays single', async () => {
    const source = samplesOf(PM_TYPE_FLOAT, 3, [
      [
        [0, Math.fround(0.1)],
        [1, 3],
      ],
    ])
    expect(await fetchAll(source, 'sum(m)', 1)).toEqual([[[-1, Math.fround(Math.fround(0.1) + 3)]]])
  })
})
