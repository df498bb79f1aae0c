import { expect, test } from 'vitest'
import { inOrder } from '../../src/pmda/in-order.ts'

test('puts names in the order given, and others behind as they came', () => {
  const values = { 'b.z': 1, 'a.y': 2, 'c.d.q': 3, 'b.x': 4, 'a.w': 5 }
  const sorted = inOrder(
    values,
    `
    c.d: q
    b: gone x
      z
  `,
  )
  expect(Object.entries(sorted)).toEqual([
    ['c.d.q', 3],
    ['b.x', 4],
    ['b.z', 1],
    ['a.y', 2],
    ['a.w', 5],
  ])
})
