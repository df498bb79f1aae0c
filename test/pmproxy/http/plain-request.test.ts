import { expect, test } from 'vitest'
import { plainRequest } from '../../../src/pmproxy/http/plain-request.ts'

const PLAIN = 'GET /metrics?names=a HTTP/1.1\r\nHost: localhost\r\n'

test('a GET in one piece is understood', () => {
  const { url, headers } = plainRequest(`${PLAIN}Accept:text/plain, */*\r\nConnection: Keep-Alive\r\n\r\n`)!
  expect(url).toBe('/metrics?names=a')
  expect({ ...headers }).toEqual({
    host: 'localhost',
    accept: 'text/plain, */*',
    connection: 'Keep-Alive',
  })
})

test.each([
  ['a piece of one', PLAIN],
  ['two of them', `${PLAIN}\r\n${PLAIN}\r\n`],
  ['another method', `${PLAIN.replace('GET', 'HEAD')}\r\n`],
  ['another version', `${PLAIN.replace('1.1', '1.0')}\r\n`],
  ['the URL of a proxy', `${PLAIN.replace('/metrics', 'http://x/metrics')}\r\n`],
  ['a blank in the URL', `${PLAIN.replace('names', 'na mes')}\r\n`],
  ['no host', 'GET / HTTP/1.1\r\nAccept: a\r\n\r\n'],
  ['no headers', 'GET / HTTP/1.1\r\n\r\n'],
  ['a header twice', `${PLAIN}host: other\r\n\r\n`],
  ['a body', `${PLAIN}Content-Length: 2\r\n\r\n`],
  ['a body in chunks', `${PLAIN}Transfer-Encoding: chunked\r\n\r\n`],
  ['a connection that ends', `${PLAIN}Connection: close\r\n\r\n`],
  ['an upgrade', `${PLAIN}Upgrade: websocket\r\n\r\n`],
  ['an expectation', `${PLAIN}Expect: 100-continue\r\n\r\n`],
  ['a header that goes on', `${PLAIN}Accept: a\r\n b\r\n\r\n`],
  ['a blank before a colon', `${PLAIN}Accept : a\r\n\r\n`],
  ['a lone line feed', `${PLAIN}Accept: a\nContent-Length: 2\r\n\r\n`],
  ['a byte that is no text', `${PLAIN}Accept: \0\r\n\r\n`],
  ['many headers', `${PLAIN}${Array.from({ length: 32 }, (_, i) => `X-${i}: 1\r\n`).join('')}\r\n`],
  ['a long one', `${PLAIN}X: ${'x'.repeat(4096)}\r\n\r\n`],
])('%s is left to a whole parser', (_, text) => {
  expect(plainRequest(text)).toBeUndefined()
})
