import { expect, test } from 'vitest'
import { InstanceFilter } from '../../../../src/tools/lib/report/instances.ts'

const NAMES = ['lo', 'eth0', 'eth1', 'virbr0']

test('instances are in the order of the patterns that select them', () => {
  expect(new InstanceFilter(['virbr0', 'lo']).choose(NAMES)).toEqual([3, 0])
  expect(new InstanceFilter(['eth.*', 'lo', 'eth1']).choose(NAMES)).toEqual([1, 2, 0, 2])
})

test('numbers and commands select processes', () => {
  const processes = ['000001 /sbin/init', '000007 (kworker)', '000012 -bash']
  expect(new InstanceFilter(['12', 'kworker', 'init']).choose(processes)).toEqual([2, 1, 0])
})
