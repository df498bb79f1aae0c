/** CPU lists. */
import { expect, test } from 'vitest'
import { parseCpuList } from '../../src/sys/cpu-list.ts'

test('parses CPU lists', () => {
  expect(parseCpuList('0-3,8,10-11\n')).toEqual([0, 1, 2, 3, 8, 10, 11])
  expect(parseCpuList('\n')).toEqual([])
  expect(parseCpuList('x,2')).toEqual([2])
})

test('a list has no more CPUs than a kernel supports', () => {
  expect(parseCpuList('99999999999999999999,1-2')).toEqual([1, 2])
  expect(parseCpuList('10-92234775808').length).toBeLessThan(65_536)
  expect(parseCpuList('0-65535,'.repeat(100)).length).toBe(65_536)
})
