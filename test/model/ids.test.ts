import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  clusterOf,
  domainOf,
  dynamicRoot,
  indom,
  isDynamicRoot,
  itemOf,
  PM_ID_NULL,
  PM_INDOM_NULL,
  pmid,
  pmidStr,
  serialOf,
} from '../../src/model/ids.ts'

test('identifiers are unsigned and give their fields back', () => {
  fc.assert(
    fc.property(
      fc.nat(511),
      fc.nat(4095),
      fc.nat(1023),
      fc.nat(0x3fffff),
      (domain, cluster, item, serial) => {
        const id = pmid(domain, cluster, item)
        expect(id).toBe(domain * 2 ** 22 + cluster * 2 ** 10 + item)
        expect([domainOf(id), clusterOf(id), itemOf(id)]).toEqual([domain, cluster, item])
        const instances = indom(domain, serial)
        expect(instances).toBe(domain * 2 ** 22 + serial)
        expect([domainOf(instances), serialOf(instances)]).toEqual([domain, serial])
      },
    ),
  )
  expect([PM_ID_NULL, PM_INDOM_NULL]).toEqual([0xffffffff, 0xffffffff])
})

test('masks fields that are out of range', () => {
  expect(pmid(512, 4096, 1024)).toBe(0)
  expect(indom(513, 0x400001)).toBe(indom(1, 1))
})

test('the root of a dynamic subtree names its domain', () => {
  expect(pmidStr(dynamicRoot(29))).toBe('29.*.*')
  expect(isDynamicRoot(dynamicRoot(29))).toBe(true)
  expect(isDynamicRoot(pmid(511, 29, 1))).toBe(false)
})
