import { expect, test } from 'vitest'
import { sortInstances } from '../../src/model/sort-instances.ts'
import { PM_TYPE_32, PM_TYPE_STRING } from '../../src/model/types.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { emptySet } from '../../src/model/values.ts'

const timestamp = { sec: 1, nsec: 2 }

test('values follow their instances, negative ones first', () => {
  const sets = [
    makeSet(1, PM_TYPE_32, [7, -1, 3], [70, 10, 30]),
    makeSet(2, PM_TYPE_STRING, [2, 1], ['two', 'one']),
  ]
  const sorted = sortInstances({ timestamp, changes: 0, sets })
  expect(valuesOf(sorted.sets[0]!, PM_TYPE_32)).toEqual([
    { inst: -1, value: 10 },
    { inst: 3, value: 30 },
    { inst: 7, value: 70 },
  ])
  expect(valuesOf(sorted.sets[1]!, PM_TYPE_STRING).map(({ value }) => value)).toEqual(['one', 'two'])
  expect(sorted.timestamp).toBe(timestamp)
})

test('sets in order, empty ones and errors stay the same objects', () => {
  const sets = [makeSet(1, PM_TYPE_32, [1, 2], [1, 2]), emptySet(2), emptySet(3, -12350)]
  expect(sortInstances({ timestamp, changes: 0, sets }).sets).toEqual(sets)
  for (const [i, set] of sortInstances({ timestamp, changes: 0, sets }).sets.entries())
    expect(set).toBe(sets[i])
})
