import { expect, test } from 'vitest'
import { matchKind, matchNames } from '../../src/pmproxy/match.ts'

const NAMES = ['sda', 'sdb', 'nvme0n1']

test.each([
  ['exact', ['sda', 'x'], [true, false, false]],
  ['glob', ['sd*'], [true, true, false]],
  ['glob', ['*a*b*c*d*', 'nvme?n?'], [false, false, true]],
  ['regex', ['^sd(a|c)$'], [true, false, false]],
  ['regex', ['n1'], [false, false, true]],
  ['regex', [], [false, false, false]],
  ['regex', ['^[[:alpha:]]+$', '^x'], [true, true, false]],
] as const)('%s %j', (kind, patterns, wanted) => {
  expect(matchNames(kind, patterns, NAMES)).toEqual(wanted)
})

test('every expression takes bounded time', () => {
  const name = `${'a'.repeat(3000)}b`
  expect(matchNames('regex', ['^(a+)+$', '(a|a)*c'], [name])).toEqual([false])
  expect(matchNames('glob', ['*a*a*a*a*a*a*a*a*a*a*a*ac'], [name])).toEqual([false])
})

test('patterns that are too big together are rejected', () => {
  expect(() => matchNames('regex', Array(20).fill('a{999}'), NAMES)).toThrow('too big')
  expect(() => matchNames('glob', Array(9000).fill('a'), NAMES)).toThrow('too big')
})

test('a name too long for a pattern is rejected', () => {
  expect(() => matchNames('regex', ['(a|b){500}c'], ['a'.repeat(100_000)])).toThrow('longer than')
})

test('an invalid pattern is reported', () => {
  expect(() => matchNames('regex', ['('], NAMES)).toThrow(/^\( - /)
  expect(() => matchKind('zz')).toThrow("zz - invalid 'match' parameter value")
})
