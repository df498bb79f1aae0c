import { expect, test } from 'vitest'
import { inNameOrder, type OrderedRow } from '../../../src/agents/lib/name-order.ts'

const ROW: OrderedRow = { item: 0, type: 'u32', sem: 'instant', units: 'none', help: 'x', value: () => 0 }
const after = (sibling: string): OrderedRow => ({ ...ROW, after: sibling })

function ordered(rows: { readonly [name: string]: OrderedRow }, groups?: string): string[] {
  return Object.keys(inNameOrder(rows, groups))
}

test('has the metrics of a group before its groups, both in the order of the rows', () => {
  expect(ordered({ 'b.z.q': ROW, 'b.x': ROW, 'a.y': ROW, 'b.w.q': ROW, 'b.v': ROW })).toEqual([
    'b.x',
    'b.v',
    'b.z.q',
    'b.w.q',
    'a.y',
  ])
})

test('puts rows after the siblings that they name, wherever these are', () => {
  const rows = { 'a.5': after('4'), 'a.3': after('2'), 'a.4': after('2'), 'a.1': ROW, 'a.2': ROW, 'a.6': ROW }
  expect(ordered(rows)).toEqual(['a.1', 'a.2', 'a.3', 'a.4', 'a.5', 'a.6'])
})

test('keeps the position of a row if the named sibling is missing', () => {
  expect(ordered({ 'a.x': after('b'), 'b.b': ROW, 'a.y': ROW })).toEqual(['a.x', 'a.y', 'b.b'])
})

test('has the groups given first, and passes over those without rows', () => {
  expect(ordered({ 'a.x': ROW, 'b.y.z': ROW, 'b.x.z': ROW, 'c.x': ROW }, 'c none b.x')).toEqual([
    'c.x',
    'b.x.z',
    'b.y.z',
    'a.x',
  ])
})
