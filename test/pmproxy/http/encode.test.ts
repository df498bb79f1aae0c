import { gunzipSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { chooseCoding, compress } from '../../../src/pmproxy/http/encode.ts'

test.each([
  ['gzip', 'gzip'],
  ['deflate,gzip', 'deflate'],
  ['deflate;q=0.5, gzip;q=0.8', 'gzip'],
  ['gzip;q=0', undefined],
  ['br, *', 'gzip'],
  ['br', undefined],
  ['', undefined],
  ['GZIP', 'gzip'],
  ['gzip;q=nonsense', undefined],
])('of "%s" it takes %s', (accepted, coding) => {
  expect(chooseCoding(accepted, 10_000)).toBe(coding)
})

test('short answers are left as they are', () => {
  expect(chooseCoding('gzip', 200)).toBeUndefined()
})

test('what was compressed can be read', async () => {
  const body = Buffer.from('x'.repeat(5000))
  expect(gunzipSync(await compress(body, 'gzip'))).toEqual(body)
  expect(inflateSync(await compress(body, 'deflate'))).toEqual(body)
})
