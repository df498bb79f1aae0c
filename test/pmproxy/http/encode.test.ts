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
])('for "%s" it chooses %s', (accepted, coding) => {
  expect(chooseCoding(accepted, 10_000)).toBe(coding)
})

test('short responses are not compressed', () => {
  expect(chooseCoding('gzip', 200)).toBeUndefined()
})

test('compressed responses can be decompressed', async () => {
  const body = Buffer.from('x'.repeat(5000))
  expect(gunzipSync(await compress(body, 'gzip'))).toEqual(body)
  expect(inflateSync(await compress(body, 'deflate'))).toEqual(body)
})
