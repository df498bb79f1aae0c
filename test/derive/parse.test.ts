/** Valid and invalid expressions: the parser never throws. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFault, parseExpr } from '../../src/derive/parse.ts'

const PIECES =
  '1 2.5 . m.a.cnt type units novalue( mkconst( rate( avg( topk( quantile( anon( defined( matchinst( /x/ rescale( "byte" [one] ( ) + - * / < <= == != > >= && || ! ? : , = % "'.split(
    ' ',
  )

test('any text yields a tree or a position in it', () => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(' ')),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
  )
  fc.assert(
    fc.property(text, (expression) => {
      const parsed = parseExpr(expression)
      if (isFault(parsed)) expect(parsed.offset).toBeLessThan(Math.max(1, expression.length))
    }),
    { numRuns: 5000 },
  )
})

test('depth is limited, for sequences of operators as for parentheses', () => {
  expect(parseExpr(`${'('.repeat(5000)}1${')'.repeat(5000)}`)).toMatchObject({
    why: 'Expression nested too deeply',
  })
  expect(parseExpr(`1${'+1'.repeat(1999)}`)).toMatchObject({ kind: 'binary' })
  expect(parseExpr(`1${'+1'.repeat(2000)}`)).toMatchObject({ why: 'Expression nested too deeply' })
  expect(parseExpr(`-${'-'.repeat(5000)}1`)).toMatchObject({ why: 'Expression nested too deeply' })
})

test('functions over instances take a number first', () => {
  expect(parseExpr('topk(3, rate(m.a.cnt))')).toMatchObject({ kind: 'rank', name: 'topk', by: 3 })
  expect(parseExpr('quantile(0.95, m.a.val)')).toMatchObject({ kind: 'rank', name: 'quantile', by: 0.95 })
  expect(parseExpr('topk(2.5, m)')).toEqual({ offset: 5, why: "Illegal number for topk: '2.5'" })
  expect(parseExpr('quantile(2, m)')).toEqual({ offset: 9, why: "Illegal number for quantile: '2'" })
  expect(parseExpr('topk(m, 3)')).toEqual({ offset: 5, why: '<number>, <expr>) expected to follow topk(' })
  expect(parseExpr('topk(3 m)')).toEqual({ offset: 7, why: '<number>, <expr>) expected to follow topk(' })
  expect(parseExpr('topk(3,)')).toEqual({ offset: 7, why: '<expr>) expected to follow topk(<number>,' })
  expect(parseExpr('topk + 1')).toMatchObject({ kind: 'binary' })
})
