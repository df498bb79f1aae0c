import { expect, test } from 'vitest'
import { matchesGlob } from '../../src/base/glob.ts'

test.each([
  ['sd*', 'sda1', true],
  ['sd*', 'xsda', false],
  ['*.log', 'a.log', true],
  ['a?c', 'a💡c', true],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[^a-c]x', 'dx', true],
  ['[]a]', ']', true],
  ['[a', '[a', true],
  ['\\*', '*', true],
  ['\\*', 'x', false],
  ['a.b', 'axb', false],
  ['', '', true],
  ['*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(3000), false],
])('%s and %s: %s', (pattern, name, wanted) => {
  expect(matchesGlob(pattern, name)).toBe(wanted)
})
