/** Merging name spaces without files. */
import { describe, expect, test } from 'vitest'
import { PM_ID_NULL, pmid } from '../../src/model/ids.ts'
import { byDatestamp, datestamp, type MergeConflict, mergePmns } from '../../src/pmns/merge.ts'
import { parsePmns } from '../../src/pmns/parse.ts'
import { Pmns } from '../../src/pmns/tree.ts'

function pmnsOf(names: Readonly<Record<string, number>>): Pmns {
  const pmns = new Pmns()
  for (const [name, item] of Object.entries(names)) pmns.add(name, pmid(60, 0, item))
  return pmns
}

function merge(into: Pmns, from: Pmns): MergeConflict[] {
  const conflicts: MergeConflict[] = []
  mergePmns(into, from, (conflict) => conflicts.push(conflict))
  return conflicts
}

describe('mergePmns', () => {
  test('appends to existing names, leaves before non-leaves', () => {
    const into = pmnsOf({ 'a.b': 1, c: 2 })
    expect(merge(into, pmnsOf({ 'a.d.e': 3, 'a.f': 4, 'x.y': 5, z: 6 }))).toEqual([])
    expect(into.traverse()).toEqual(['a.b', 'a.f', 'a.d.e', 'c', 'z', 'x.y'])
  })

  test('keeps the first PMID of a name and reports the conflict', () => {
    const into = pmnsOf({ a: 1, b: 2 })
    expect(merge(into, pmnsOf({ a: 1, b: 3 }))).toEqual([
      { name: 'b', kept: pmid(60, 0, 2), ignored: pmid(60, 0, 3), isLeafRemoved: false },
    ])
    expect(into.lookup('b')).toBe(pmid(60, 0, 2))
  })

  test('keeps a non-leaf where the other has a leaf', () => {
    const into = pmnsOf({ 'a.b': 1 })
    expect(merge(into, pmnsOf({ a: 2 }))).toMatchObject([
      { name: 'a', kept: PM_ID_NULL, isLeafRemoved: false },
    ])
    expect(into.traverse()).toEqual(['a.b'])
  })

  test('a leaf makes room for names below it, and keeps its place', () => {
    const into = pmnsOf({ a: 1, b: 2 })
    expect(merge(into, pmnsOf({ 'a.x.y': 3, 'a.z': 4 }))).toMatchObject([{ name: 'a', isLeafRemoved: true }])
    expect(into.traverse()).toEqual(['a.z', 'a.x.y', 'b'])
    expect(into.namesOf(pmid(60, 0, 1))).toEqual([])
  })
})

describe('Pmns.remove', () => {
  test('takes leaves, subtrees and the non-leaves left empty', () => {
    const pmns = pmnsOf({ 'a.b.c': 1, 'a.b.d': 2, e: 1 })
    expect(pmns.namesOf(pmid(60, 0, 1))).toEqual(['e', 'a.b.c'])
    expect(pmns.remove('a.b.c')).toBe(true)
    expect(pmns.namesOf(pmid(60, 0, 1))).toEqual(['e'])
    expect(pmns.remove('a.b.d')).toBe(true)
    expect(pmns.has('a')).toBe(false)
    expect(pmns.size).toBe(1)
    expect(String(pmns)).toBe('root {\n\te\t60:0:1\n}\n')
  })

  test.each(['', '.', 'a', 'a.', 'a.b.c.d', 'nope'])('knows no %j', (name) => {
    const pmns = pmnsOf({ 'a.b.c': 1 })
    expect(pmns.remove(name)).toBe(name === 'a')
  })
})

describe('datestamp', () => {
  test.each([
    ['#define _DATESTAMP 20200101\nroot {', '20200101'],
    ['x\n#define\t_DATESTAMP\t1999 \n', '1999'],
    ['#define _DATESTAMP\n', ''],
    ['#define _DATESTAMPS 1\n', undefined],
    [' #define _DATESTAMP 1\n', undefined],
    ['', undefined],
  ])('%j has %j', (text, stamp) => expect(datestamp(text)).toBe(stamp))

  test('orders files, those without first, otherwise as given', () => {
    const stamped = (name: string, stamp?: string) => ({
      name,
      text: stamp === undefined ? '' : `#define _DATESTAMP ${stamp}\n`,
    })
    const files = [
      stamped('a', '2020'),
      stamped('b'),
      stamped('c', '1999'),
      stamped('d', '2020'),
      stamped('e'),
    ]
    expect(byDatestamp(files).map(({ name }) => name)).toEqual(['b', 'e', 'c', 'a', 'd'])
  })
})

describe('a subtree', () => {
  const names = (text: string): unknown => {
    const { pmns, diagnostics } = parsePmns(text, { subtree: true })
    return pmns?.traverse() ?? diagnostics.map(({ message }) => message)
  }

  test('may be one name with its PMID, on its own', () => {
    const text = (source: string): string => parsePmns(source, { subtree: true }).pmns!.toString()
    expect(text('# 1 "trivial"\n\ntrivial 250:*:*\n')).toEqual(text('root { trivial 250:*:* }'))
    expect(text('a.b.c  1 : 2 : 3')).toEqual(text('a.b { c 1:2:3 }'))
    expect(parsePmns('a 1:2:3 b 1:2:4', { subtree: true }).diagnostics).toHaveLength(1)
  })

  test('is attached at the path of its first group', () => {
    expect(names('a.b {\n\tc\t1:2:3\n\td\n}\na.b.d {\n\te 1:2:4\n}\n')).toEqual(['a.b.c', 'a.b.d.e'])
  })

  test('is a whole name space when it has a root', () => {
    expect(names('x {\n\ty 1:2:3\n}\nroot {\n\tx\n}\n')).toEqual(['x.y'])
  })

  test('must hold together', () => {
    expect(names('a.b {\n\tc 1:2:3\n}\nd {\n\te 1:2:4\n}\n')).toEqual([
      'Disconnected subtree ("d") in name space',
    ])
    expect(names('')).toEqual(['No name space entry for "root"'])
  })
})
