/** Instance patterns, which may come from untrusted links. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFound, isPattern } from '../../src/ui/view/patterns.ts'
import { isChosen, setMatcher } from '../../src/ui/view/view.ts'

const matches = (text: string, name: string): boolean => isChosen({ mode: 'matching', text }, name)

test('simple patterns match immediately, others once the matcher is loaded', () => {
  setMatcher(() => undefined)
  expect(matches('^(lo|bond\\d+|face)$', 'bond0')).toBe(true)
  expect(matches('^sd.*', 'sda')).toBe(true)
  expect(matches('^sd', 'nvme0')).toBe(false)
  const choice = { mode: 'not-matching', text: '^(sd|nvme)+[0-9]+$' } as const
  expect(isChosen(choice, 'lo')).toBe(false)
  setMatcher(isFound)
  expect([isChosen(choice, 'lo'), isChosen(choice, 'sd1')]).toEqual([true, false])
})

test.each([
  '(a+)+$',
  '(a|a)*$',
  'a*a*a*a*a*a*a*a*b',
  '(a|a)(a|a)'.repeat(9).concat('$'),
  '((a?){50}){20}',
  '(.*)*\\1$',
])('%s takes time linear in the name, or is given up', (text) => {
  setMatcher(isFound)
  const name = `${'a'.repeat(2000)}!`
  // The browser's own regular expressions would take years.
  for (let i = 0; i < 50; i++) expect(typeof matches(text, `${name}${i}`)).toBe('boolean')
})

test('patterns left to the browser match as in our engine', () => {
  setMatcher(isFound)
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '[]a]',
    '[[.a.]b]',
    '[\\d]',
    '\\d',
    '\\<',
    '\\t',
    '\\.',
    '|',
    '^',
    '$',
    'x*',
    'a+',
    'b?',
    '(a|b)',
  )
  const text = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, fc.stringMatching(/^[ab1.]{0,8}$/), (pattern, name) => {
      fc.pre(isPattern(pattern))
      expect(matches(pattern, name)).toBe(isFound(pattern, name))
    }),
  )
})

test('invalid and oversized patterns select nothing', () => {
  for (const text of ['(', '[a', '(?=a)', '(((a{99}){99}){99})']) {
    expect(isPattern(text), text).toBe(false)
    for (const mode of ['matching', 'not-matching'] as const)
      expect(isChosen({ mode, text }, 'a'), text).toBe(false)
  }
})
