import { expect, test } from 'vitest'
import { matchKind, matchNames } from '../../src/pmproxy/match.ts'

const NAMES = ['sda', 'sdb', 'nvme0n1']

test.each([
  ['exact', ['sda', 'x'], [true, false, false]],
  ['glob', ['sd*'], [true, true, false]],
  ['glob', ['*a*b*c*d*', 'nvme?n?'], [false, false, true]],
  ['regex', ['^sd(a|c)$'], [true, false, false]],
  ['regex', ['n1'], [false, false, true]],
] as const)('%s %j', (kind, patterns, wanted) => {
  expect(matchNames(kind, patterns, NAMES)).toEqual(wanted)
})

test('an expression that would take for ever is given up', () => {
  expect(() => matchNames('regex', ['^(a+)+$'], [`${'a'.repeat(40)}b`])).toThrow(/longer than/)
  expect(() => matchNames('glob', ['*a*a*a*a*a*a*a*a*a*a*a*ab'], ['a'.repeat(300)])).toThrow(/longer than/)
})

test('what is no pattern says so', () => {
  expect(() => matchNames('regex', ['('], NAMES)).toThrow(/^\( - /)
  expect(() => matchKind('zz')).toThrow("zz - invalid 'match' parameter value")
})
