import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePattern, PatternError } from '../../src/base/pattern.ts'

test('patterns are those of POSIX', () => {
  const matches = (pattern: string, text: string): boolean => compilePattern(pattern).test(text)
  expect(matches('^sd[a-c]$', 'sdb')).toBe(true)
  expect(matches('^[[:alpha:]]+[[:digit:]]*$', 'nvme0')).toBe(true)
  expect(matches('^[]a]$', ']')).toBe(true)
  expect(matches('^[^]a]$', ']')).toBe(false)
  expect(matches('a{2}', 'baab')).toBe(true)
  expect(matches('^a{,2}$', 'aa')).toBe(true)
  expect(matches('a|b', 'b')).toBe(true)
  expect(matches('^a+?$', '')).toBe(true) // a, optional, or repeated
  expect(matches('a}', 'a}')).toBe(true)
  expect(matches('^a)$', 'a)')).toBe(true)
  expect(matches('^[[.a.]-[=c=]]$', 'b')).toBe(true)
  for (const bad of [
    '(',
    '[',
    '[b-a]',
    '[[:no:]]',
    '*a',
    'a{',
    'a{2,1}',
    'a{x}',
    'a{40000}',
    '|+',
    '[[.hyphen.]]',
  ])
    expect(() => compilePattern(bad), bad).toThrow(PatternError)
  fc.assert(
    fc.property(fc.string(), (pattern) => {
      try {
        compilePattern(pattern.replaceAll('\\', ''))
      } catch (error) {
        expect(error).toBeInstanceOf(PatternError)
      }
    }),
  )
})

test.each([
  ['sd\\.a', 'sd.a', true],
  ['sd\\.a', 'sdxa', false],
  ['^\\w+\\s\\d+$', 'cpu_a 12', true],
  ['^\\W\\S$', '-x', true],
  ['\\<ab\\>', 'x ab y', true],
  ['\\bab\\b', 'xab', false],
  ['a\\Bb', 'ab', true],
])('with escapes %s is found in "%s": %s', (pattern, text, wanted) => {
  expect(compilePattern(pattern, true).test(text)).toBe(wanted)
})

test('without escapes a backslash is a character', () => {
  expect(compilePattern('a\\.b').test('a\\xb')).toBe(true)
})

test('patterns that need more than linear time, and incomplete ones, are rejected', () => {
  for (const bad of ['(a)\\1', 'a\\']) expect(() => compilePattern(bad, true), bad).toThrow(PatternError)
})

/** Expressions with the same meaning in JavaScript. */
const expression = fc.letrec<{ one: string; many: string }>((tie) => ({
  one: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', 'é', '💡'),
    fc
      .tuple(tie('one'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,}'))
      .map(([one, times]) => `(${one})${times}`),
    tie('many').map((many) => `(${many})`),
  ),
  many: fc
    .array(fc.oneof(tie('one'), fc.constantFrom('|', '^', '$')), { maxLength: 4, size: 'small' })
    .map((parts) => parts.join('')),
})).many

test('matches are the same as in JavaScript', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'é', '💡')).map((letters) => letters.join(''))
  fc.assert(
    fc.property(expression, text, (pattern, subject) => {
      expect(compilePattern(pattern).test(subject)).toBe(new RegExp(pattern, 'su').test(subject))
    }),
    { numRuns: 2000 },
  )
})

const manyRanges = Array.from({ length: 3900 }, (_, i) => String.fromCharCode(0x100 + 2 * i)).join('')

test.each([
  ['nested repetitions', '(a+)+$'],
  ['equal alternatives', '^(a|a)*$'],
  ['repetitions of nothing', '(a*)*b'],
  ['many repetitions', `${'a*'.repeat(200)}b`],
  ['many options', `${'(a?)'.repeat(200)}${'a'.repeat(400)}b`],
  ['many ranges, many times', `([${manyRanges}]?){500}b`],
])('every pattern takes linear time: %s', (_, pattern) => {
  expect(compilePattern(pattern).test(`${'a'.repeat(1000)}c`)).toBe(false)
})

test.each([
  ['bounds of bounds', '((a{999}){999}){999}'],
  ['bounds of nothing', '(((){9999}){9999}){9999}b{20000}'],
  ['groups in groups', '('.repeat(5000)],
  ['repetitions of repetitions of nothing', `a{0}${'{2}'.repeat(50_000)}`],
])('too large a pattern is rejected: %s', (_, pattern) => {
  expect(() => compilePattern(pattern)).toThrow('Regular expression too big')
})

test('repetitions may be repeated any number of times', () => {
  expect(compilePattern(`^a${'*+?'.repeat(5000)}$`).test('aaa')).toBe(true)
  expect(compilePattern('^a+?$').test('')).toBe(true)
})
