import { expect, test } from 'vitest'
import { FreeNames, foreignLabels, labelName } from '../../../src/agents/lib/foreign-names.ts'
import { makeLabelSet, mergeLabelSets } from '../../../src/model/label-set.ts'
import { LABEL_ITEM } from '../../../src/model/labels.ts'

test('names are letters, digits and underscores', () => {
  expect(['http.route', '_x', '1', 'a b', '', 'ü'].map(labelName)).toEqual([
    'http_route',
    '_x',
    'key_1',
    'a_b',
    'key_',
    '_',
  ])
})

test('values stay what they are, the last of equal names stays', () => {
  expect(
    foreignLabels([
      ['a.b', 1],
      ['c', ['x']],
      ['a_b', 'y'],
      ['__proto__', 'z'],
    ]),
  ).toEqual(
    Object.fromEntries([
      ['a_b', 'y'],
      ['c', ['x']],
      ['__proto__', 'z'],
    ]),
  )
})

test.each([
  ['control characters', '\u0001'],
  ['characters of four bytes', '\u{10ffff}'],
  ['quotes', '"'],
])('two sets of very many labels of %s fit into one set of PCP', (_what, char) => {
  const entries = (prefix: string): [string, string][] =>
    Array.from({ length: 300 }, (_, i) => [`${prefix}${i}${char}`, char.repeat(i === 0 ? 3000 : 20)])
  const labels = makeLabelSet(foreignLabels(entries('a')), LABEL_ITEM)
  const notes = makeLabelSet(foreignLabels(entries('b')), LABEL_ITEM, { isOptional: true })
  expect(mergeLabelSets([labels, notes]).labels.length).toBeGreaterThan(50)
})

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
