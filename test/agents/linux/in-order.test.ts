import { expect, test } from 'vitest'
import { inOrder } from '../../../src/agents/linux/in-order.ts'

const names = (
  values: { readonly [name: string]: number },
  order: { readonly [node: string]: string },
): string[] => Object.keys(inOrder(values, order))

test('puts children in the order given for their parent, and others behind as they came', () => {
  const values = { 'b.z': 1, 'a.y': 2, 'c.q': 3, 'b.x': 4, 'a.w': 5, d: 6 }
  expect(names(values, { '': 'a\n  d', b: 'x z' })).toEqual(['a.y', 'a.w', 'd', 'b.x', 'b.z', 'c.q'])
})

test('keeps every value under its name', () => {
  const values = { 'b.z': 1, a: 2, 'b.c.d': 3 }
  expect(inOrder(values, { '': 'a b', b: 'c z' })).toEqual(values)
})

test('brings together what stands under one parent', () => {
  expect(names({ 'a.x': 1, b: 2, 'a.y': 3 }, {})).toEqual(['a.x', 'a.y', 'b'])
})
