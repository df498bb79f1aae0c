/** Vectors: format/profile.json. */
import { expect, test } from 'vitest'
import { indom, PM_IN_NULL, PM_INDOM_NULL } from '../../src/model/ids.ts'
import { ALL_INSTANCES, exclude, include, includesInstance, type Profile } from '../../src/model/profile.ts'
import { readVectors } from '../vectors.ts'

type Op = [op: 'add' | 'del' | 'dup', domain: string, instances: number[]]

interface ProfileCase {
  ops: Op[]
  status: (number | string)[]
  instances: { 'm.a.kb': number[]; 'm.b.val': number[] }
}

const DOMAINS: { readonly [name: string]: number } = {
  A: indom(245, 1),
  B: indom(245, 2),
  '*': PM_INDOM_NULL,
}
const A = DOMAINS['A']!

function apply(profile: Profile, [op, domain, instances]: Op): Profile {
  if (op === 'dup') return profile
  return (op === 'add' ? include : exclude)(profile, DOMAINS[domain]!, instances)
}

const wanted = (profile: Profile, domain: string, ids: number[]): number[] =>
  ids.filter((id) => includesInstance(profile, DOMAINS[domain]!, id))

test('follows pmAddProfile and pmDelProfile', () => {
  const { cases } = readVectors<ProfileCase>('format/profile.json')
  let mended = 0
  for (const vector of cases) {
    let profile = ALL_INSTANCES
    vector.ops.forEach((op, i) => {
      const [name, domain, instances] = op
      const name0 = JSON.stringify(vector.ops)
      if (vector.status[i] !== 0) {
        expect(() => apply(profile, op), name0).toThrow(expect.objectContaining({ code: vector.status[i] }))
        return
      }
      // Defects of the reference: a first del that lists instances drops the whole domain, so here it has none listed;
      // a duplicate of a context loses the default of excluding everything, so here that is set again.
      const isFirst = !profile.entries.has(DOMAINS[domain]!)
      if (name === 'del' && isFirst && instances.length > 0) mended++
      if (name === 'dup' && !profile.includeByDefault) {
        mended++
        profile = { ...profile, includeByDefault: true }
        return
      }
      profile = apply(profile, name === 'del' && isFirst ? [name, domain, []] : op)
    })
    expect(wanted(profile, 'A', [1, 2, 3]), JSON.stringify(vector.ops)).toEqual(vector.instances['m.a.kb'])
    expect(wanted(profile, 'B', [10, 20]), JSON.stringify(vector.ops)).toEqual(vector.instances['m.b.val'])
  }
  console.info(`format/profile.json: ${cases.length} cases, ${mended} mended defects in them`)
})

test('excluding listed instances first leaves the others in', () => {
  const profile = exclude(ALL_INSTANCES, A, [2])
  expect(wanted(profile, 'A', [1, 2, 3])).toEqual([1, 3])
  expect(wanted(exclude(profile, A, [3]), 'A', [1, 2, 3])).toEqual([1])
  expect(wanted(include(profile, A, [2]), 'A', [1, 2, 3])).toEqual([1, 2, 3])
})

test('excluding instances of a domain excluded by default includes nothing', () => {
  const nothing = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  expect(wanted(exclude(nothing, A, [2]), 'A', [1, 2, 3])).toEqual([])
  expect(wanted(include(exclude(nothing, A, [2]), A, [3]), 'A', [1, 2, 3])).toEqual([3])
})

test('a change makes a new profile and leaves the old one alone', () => {
  const before = include(ALL_INSTANCES, A, [1])
  const after = include(before, A, [2])
  expect(wanted(before, 'A', [1, 2])).toEqual([1])
  expect(wanted(after, 'A', [1, 2])).toEqual([1, 2])
})

test('metrics without instance domain are never filtered', () => {
  const nothing = exclude(ALL_INSTANCES, PM_INDOM_NULL)
  expect(includesInstance(nothing, 7, 0)).toBe(false)
  expect(includesInstance(nothing, PM_INDOM_NULL, PM_IN_NULL)).toBe(true)
})
