import { expect, test } from 'vitest'
import { FreeNames } from '../../../src/agents/lib/free-names.ts'

test('no name is a part of another', () => {
  const names = new FreeNames()
  expect(names.add('a.b.c')).toBe(true)
  expect(['a.b.c', 'a.b', 'a', 'a.b.c.d'].map((name) => names.add(name))).toEqual([
    false,
    false,
    false,
    false,
  ])
  expect(['a.b.d', 'a.bc', 'b'].map((name) => names.add(name))).toEqual([true, true, true])
})

test('names are taken all together or not at all', () => {
  const names = new FreeNames()
  names.add('x.y')
  expect(names.add('free', 'x')).toBe(false)
  expect(names.add('free')).toBe(true)
})
