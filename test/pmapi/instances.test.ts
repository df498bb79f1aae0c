/** Finding instances in value sets without a linear search for each. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import type { ValueSet } from '../../src/model/values.ts'
import { Context } from '../../src/pmapi/context.ts'
import { FetchGroup } from '../../src/pmapi/fetch-group.ts'
import { indexOfInstance } from '../../src/pmapi/instances.ts'
import { datasetSource } from './dataset-source.ts'

test('finds what indexOf finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 50 }),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: -1, max: 50 }))),
      (ids, questions) => {
        const inst = Int32Array.from(ids)
        for (const [instance, guess] of questions) {
          const expected = inst[guess] === instance ? guess : inst.indexOf(instance)
          expect(indexOfInstance(inst, instance, guess)).toBe(expected)
        }
      },
    ),
  )
})

const COUNT = 5000
const ID = pmid(246, 0, 0)
const INDOM = indom(246, 0)

/** A set of consecutive instances whose array refuses to be searched. */
function setFrom(first: number): ValueSet {
  const ids = Array.from({ length: COUNT }, (_, i) => first + i)
  const set = makeSet(
    ID,
    PM_TYPE_U32,
    ids,
    ids.map((id) => first + 2 * id),
  )
  Object.defineProperty(set.inst, 'indexOf', {
    value: () => {
      throw new Error('searched')
    },
  })
  return set
}

/** Instances move up by one with each fetch: each is at another index, one vanishes and one is new. */
function moving(onInstances: () => void = () => {}): Context {
  let next = 0
  return Context.over({
    ...datasetSource(),
    lookupNames: async (names) => names.map(() => ID),
    descs: async (ids) =>
      ids.map((id) => ({ pmid: id, type: PM_TYPE_U32, indom: INDOM, sem: PM_SEM_COUNTER, units: 0 })),
    instances: async (indom) => {
      onInstances()
      const ids = Array.from({ length: COUNT + 10 }, (_, i) => i)
      return { indom, ids, names: ids.map(String) }
    },
    fetch: async () => {
      const sec = next++
      return { timestamp: { sec, nsec: 0 }, changes: 0, sets: [setFrom(sec)] }
    },
  })
}

test('rates of rows and groups when all instances have moved', async () => {
  const context = moving()
  for await (const row of context.sample(['x'], { every: '1ms', rates: true, count: 1 }))
    expect(row.get('x').instances.size).toBe(COUNT - 1)
  const group = FetchGroup.over(moving())
  const all = await group.indom('x', { scale: 'rate' })
  await group.fetch()
  await group.fetch()
  expect(all.instances.filter(({ value }) => value !== undefined)).toHaveLength(COUNT - 1)
  await Promise.all([context.close(), group.close()])
})

test('names of a domain are fetched once for all samplers of a context, and again when sampling starts', async () => {
  let requests = 0
  const context = moving(() => requests++)
  const columns = {
    one: { metric: 'x', instances: 'all' },
    other: { metric: 'x', instances: 'all' },
  } as const
  for await (const { values } of context.table(columns, { every: '1ms', count: 2 }))
    expect(values.other.size).toBeLessThanOrEqual(COUNT)
  expect(requests).toBe(1)
  const group = FetchGroup.over(context)
  const all = await group.indom('x', { scale: 'instant' })
  await group.fetch()
  await group.fetch()
  expect(all.instances[0]?.name).toBe(String(all.instances[0]?.id))
  expect(requests).toBe(2)
  await context.values(['x'])
  expect(requests).toBe(3)
  await group.close()
})
