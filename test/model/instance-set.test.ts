/** Instance sets, and the memory use of profiles. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstanceSet } from '../../src/model/instance-set.ts'
import { ALL_INSTANCES, include, type Profile, profileBytes } from '../../src/model/profile.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

test('it equals a Set of the same numbers, in the same order', () => {
  const id = fc.oneof(fc.integer({ min: -5, max: 60 }), fc.integer())
  fc.assert(
    fc.property(fc.array(id, { maxLength: 100 }), fc.array(id), (ids, others) => {
      const model = new Set(ids)
      const set = InstanceSet.over(Int32Array.from(ids))
      expect([...set]).toEqual([...model])
      expect(set.size).toBe(model.size)
      for (const each of [...ids, ...others]) expect(set.has(each)).toBe(model.has(each))
    }),
  )
})

test('an invalid instance number is left out, and not mistaken for another', () => {
  const set = InstanceSet.of([1, 2 ** 32 + 2, 1.5, -1])
  expect([...set]).toEqual([1, -1])
  expect(include(ALL_INSTANCES, 7, [2 ** 32]).entries.get(7)).toEqual({
    indom: 7,
    includeAll: false,
    instances: InstanceSet.NONE,
  })
})

const SHAPES: readonly (readonly [what: string, entries: number, ids: readonly number[]])[] = [
  ['many ids in order', 1, Array.from({ length: 8000 }, (_, i) => i)],
  ['many ids out of order', 1, Array.from({ length: 8000 }, (_, i) => (i * 7919) % 8000)],
  ['many domains of one id', 4000, [1]],
  ['many domains without ids', 4000, []],
  ['some of each', 100, [5, 3, 9, 1]],
]

test.each(SHAPES)(
  'the estimate is between the memory used by a profile and twice that: %s',
  (_what, entries, ids) => {
    const make = (): Profile => ({
      includeByDefault: true,
      entries: new Map(
        Array.from({ length: entries }, (_, i) => [
          i,
          { indom: i, includeAll: false, instances: InstanceSet.over(Int32Array.from(ids)) },
        ]),
      ),
    })
    const COUNT = 100
    const kept: Profile[] = []
    const inUse = (): number => {
      gc()
      gc()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = inUse()
    for (let i = 0; i < COUNT; i++) kept.push(make())
    const each = (inUse() - before) / kept.length
    expect(profileBytes(kept[0]!)).toBeGreaterThan(each * 0.9)
    expect(profileBytes(kept[0]!)).toBeLessThan(each * 2)
  },
)
