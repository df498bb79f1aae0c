/** The name space built by program; look-ups of loaded files are in load.test.ts. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import { dynamicRoot, PM_ID_NULL, pmid } from '../../src/model/ids.ts'
import { Pmns } from '../../src/pmns/tree.ts'

function treeOf(names: Readonly<Record<string, number>>): Pmns {
  const pmns = new Pmns()
  for (const [name, id] of Object.entries(names)) pmns.add(name, id)
  return pmns
}

function codeOf(ask: () => unknown): string | undefined {
  try {
    ask()
    return undefined
  } catch (error) {
    return (error as PcpError).code
  }
}

const lookupCode = (pmns: Pmns, name: string): string | undefined => {
  const id = pmns.lookup(name)
  return id instanceof PcpError ? id.code : undefined
}

test('keeps children in the order added', () => {
  const pmns = treeOf({ 'z.b': 1, 'a.c': 2, 'z.a': 3, top: 4 })
  expect(pmns.traverse()).toEqual(['z.b', 'z.a', 'a.c', 'top'])
  expect(pmns.children('')).toEqual([
    { name: 'z', isLeaf: false },
    { name: 'a', isLeaf: false },
    { name: 'top', isLeaf: true },
  ])
  expect(pmns.children('top')).toEqual([])
  expect(pmns.traverse('a.c')).toEqual(['a.c'])
})

test('adding a name again is harmless, adding it with another PMID is an error', () => {
  const pmns = treeOf({ 'a.b': 1 })
  pmns.add('a.b', 1)
  expect(pmns.size).toBe(1)
  expect(codeOf(() => pmns.add('a.b', 2))).toBe('PM_ERR_PMNS')
  expect(codeOf(() => pmns.add('a', 2))).toBe('PM_ERR_PMNS')
  expect(codeOf(() => pmns.add('a.b.c', 2))).toBe('PM_ERR_PMNS')
  expect(codeOf(() => pmns.add('a.c', PM_ID_NULL))).toBe('PM_ERR_PMID')
  for (const name of ['', '.', 'a.', '.a', 'x..y'])
    expect(
      codeOf(() => pmns.add(name, 5)),
      name,
    ).toBe('PM_ERR_NAME')
  expect(pmns.traverse()).toEqual(['a.b'])
})

test('a rejected name leaves nothing visible', () => {
  const pmns = treeOf({ a: 1 })
  expect(codeOf(() => pmns.add('x.y..z', 5))).toBe('PM_ERR_NAME')
  expect(lookupCode(pmns, 'x')).toBe('PM_ERR_NAME')
  expect(pmns.has('x.y')).toBe(false)
  pmns.add('x', 6)
  expect(pmns.lookup('x')).toBe(6)
})

test('distinguishes unknown names from non-leaves', () => {
  const pmns = treeOf({ 'a.b': 1 })
  expect(lookupCode(pmns, 'a')).toBe('PM_ERR_NONLEAF')
  for (const name of ['', 'b', 'a.', 'a.b.c', '.a', 'constructor', '__proto__'])
    expect(lookupCode(pmns, name), name).toBe('PM_ERR_NAME')
  expect(codeOf(() => pmns.children('b'))).toBe('PM_ERR_NAME')
  expect(codeOf(() => pmns.traverse('a.'))).toBe('PM_ERR_NAME')
})

test('lists the last name of a PMID first, in traversal order and not in the order added', () => {
  const pmns = new Pmns()
  const id = pmid(1, 2, 3)
  pmns.add('a.x', 1)
  pmns.add('b.y', id)
  pmns.add('a.z', id)
  pmns.add('a.w', id)
  expect(pmns.traverse()).toEqual(['a.x', 'a.z', 'a.w', 'b.y'])
  expect(pmns.namesOf(id)).toEqual(['b.y', 'a.w', 'a.z'])
  expect(pmns.namesOf(pmid(1, 2, 4))).toEqual([])
})

test('returns the dynamic root for names below it', () => {
  const root = dynamicRoot(29)
  const pmns = treeOf({ 'a.dyn': root, 'a.leaf': 1 })
  expect(pmns.lookup('a.dyn')).toBe(root)
  expect(pmns.lookup('a.dyn.some.thing')).toBe(root)
  expect(pmns.children('a')).toEqual([
    { name: 'dyn', isLeaf: false },
    { name: 'leaf', isLeaf: true },
  ])
  expect(pmns.children('a.dyn')).toEqual([])
  expect(codeOf(() => pmns.children('a.dyn.some'))).toBe('PM_ERR_NAME')
  expect(pmns.has('a.dyn.some')).toBe(false)
  expect(pmns.namesOf(root)).toEqual([])
  expect(pmns.dynamicRoots(29)).toEqual(['a.dyn'])
  expect(pmns.dynamicRoots(30)).toEqual([])
})

test('trims into a new name space', () => {
  const pmns = treeOf({ 'a.b': 1, 'a.c': 2, 'd.e': 3 })
  const trimmed = pmns.trim((id) => id === 2)
  expect(trimmed.traverse()).toEqual(['a.c'])
  expect(lookupCode(trimmed, 'd')).toBe('PM_ERR_NAME')
  expect(pmns.size).toBe(3)
})

test('writes groups depth first', () => {
  const pmns = treeOf({
    top: pmid(1, 1, 1),
    'a.b.c': pmid(60, 0, 24),
    'a.d': dynamicRoot(29),
    'e.f': pmid(2, 0, 0),
  })
  expect(pmns.toString()).toBe(
    'root {\n\ttop\t1:1:1\n\ta\n\te\n}\n\na {\n\tb\n\td\t29:*:*\n}\n\na.b {\n\tc\t60:0:24\n}\n\ne {\n\tf\t2:0:0\n}\n',
  )
})

test('refuses to write reserved identifiers', () => {
  const pmns = treeOf({ derived: pmid(511, 0, 1) })
  expect(codeOf(() => pmns.toString())).toBe('PM_ERR_PMID')
})
