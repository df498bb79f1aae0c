import { expect, test } from 'vitest'
import { decodePercent, Query } from '../../../src/pmproxy/http/query.ts'

test('splits at & and the first =; a plus is a space, the first of several values is used', () => {
  const query = new Query('expr=a+%2B+b=c&name=%73imple&name=x&empty&=nameless')
  expect(query.get('expr')).toBe('a + b=c')
  expect(query.get('name')).toBe('simple')
  expect(query.all('name')).toEqual(['simple', 'x'])
  expect(query.get('empty')).toBe('')
  expect(query.get('other', 'name')).toBe('simple')
  expect(query.get('no')).toBeUndefined()
})

test('lists leave out empty elements', () => {
  expect(new Query('names=a,,b,').list('names')).toEqual(['a', 'b'])
  expect(new Query('').list('names')).toBeUndefined()
})

test.each([
  ['%', '%'],
  ['%4', '%4'],
  ['%zz', '%zz'],
  ['%C3%A9', 'é'],
  ['100%25', '100%'],
])('%s is read as %s', (text, read) => {
  expect(decodePercent(text)).toBe(read)
})

test('bytes that are not text are kept', () => {
  expect(decodePercent('%ff')).toBe('\udcff')
})
