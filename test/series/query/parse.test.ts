import { expect, test } from 'vitest'
import { expressionId } from '../../../src/series/ids.ts'
import { parseQuery } from '../../../src/series/query/parse.ts'
import { canonicalText } from '../../../src/series/query/syntax.ts'

test('the canonical text has neither blanks nor windows', () => {
  const text = ' avg_inst ( rate( kernel.all.pswitch { hostname == "bozo-laptop" } [ count : 5 ] ) )'
  const canonical = canonicalText(parseQuery(text).body)
  expect(canonical).toBe('avg_inst(rate(kernel.all.pswitch{hostname=="bozo-laptop"}))')
  expect(expressionId(canonical)).toBe('13aa6794e44d5733314658ac243cbcaa6f78e272')
})

test.each([
  ['bad[', 3],
  ['a.b{x=="1"', 7],
  ['nofunc(a.b)', 6],
  ['topk_inst(a.b[count:1],x)', 23],
  ['a.b[count:1] + c.d', 15],
  ['', 0],
])('%s: the caret is below the error', (text, at) => {
  const caret = `${' '.repeat(at)}^ -- syntax error`
  expect(() => parseQuery(text)).toThrow(`cannot parse given string\n\n${text}\n${caret}\n`)
})

test('neither length nor nesting is unlimited', () => {
  expect(() => parseQuery(`a.b{x=="${'y'.repeat(70_000)}"}`)).toThrow('at most 65536 characters')
  expect(() => parseQuery(`${'abs('.repeat(200)}a.b${')'.repeat(200)}`)).toThrow('at most 100 functions')
})

test('random texts are parsed or refused', () => {
  const words = [
    'a.b',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '==',
    '"x"',
    '3',
    '*',
    '+',
    'count',
    ':',
    ',',
    'rate',
    '5min',
  ]
  let seed = 7
  const next = (): number => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed
  }
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: next() % 14 }, () => words[next() % words.length]).join(' ')
    try {
      parseQuery(text)
    } catch (error) {
      expect((error as { code?: string }).code, text).toBe('EINVAL')
    }
  }
})
