/** Unusual or invalid requests, where HTTP requires care because intermediaries may read them differently. RFC 9110, RFC 9112 */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RawAnswer, rawRequest } from '../lib/raw-http.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

let server: WebServer
let derive = ''
beforeAll(async () => {
  server = await startWebServer(['pmcd', 'simple'])
  const { context } = await server.json<{ context: number }>('/pmapi/context?polltimeout=600')
  derive = `POST /pmapi/${context}/derive HTTP/1.1\r\nHost: localhost\r\n`
})
afterAll(() => server.close())

async function ask(text: string): Promise<RawAnswer> {
  const answer = await rawRequest(server.proxy.port, text)
  if (answer === undefined) throw new Error('no answer')
  return answer
}

const GET = (target: string, headers = 'Host: localhost\r\n'): string =>
  `GET ${target} HTTP/1.1\r\n${headers}\r\n`
const LONG = 1024 * 1024 + 1

test('a body beyond the limit is refused before it is sent, and the connection closed', async () => {
  for (const expects of ['', 'Expect: 100-continue\r\n']) {
    const { status, headers, body } = await ask(`${derive}${expects}Content-Length: ${LONG}\r\n\r\n`)
    expect([status, headers.get('connection')]).toEqual([400, 'close'])
    expect(String(body)).toContain('the body has more than 1048576 bytes')
  }
  const chunk = `${LONG.toString(16)}\r\n${'x'.repeat(LONG)}\r\n0\r\n\r\n`
  const { status, headers } = await ask(`${derive}Transfer-Encoding: chunked\r\n\r\n${chunk}`)
  expect([status, headers.get('connection')]).toEqual([400, 'close'])
})

test('a body that waits for 100 Continue gets it; other expectations fail', async () => {
  const text = `${derive}Expect: 100-continue\r\nContent-Length: 6\r\n\r\na = 1\n`
  expect((await ask(text)).status).toBe(200)
  expect((await ask(GET('/pmapi/context', 'Host: x\r\nExpect: miracles\r\n'))).status).toBe(417)
})

test('ambiguous requests are refused', async () => {
  for (const headers of [
    'Content-Length: 6\r\nContent-Length: 6\r\n\r\n',
    'Content-Length: 6\r\nContent-Length: 7\r\n\r\n',
    'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n',
    'Content-Length: -1\r\n\r\n',
    'Transfer-Encoding: gzip\r\n\r\n',
    'host: evil.example\r\n\r\n',
    'Folded: a\r\n b\r\n\r\n',
    'Blank : a\r\n\r\n',
  ]) {
    const { status, headers: got } = await ask(`${derive}${headers}b = 1\n`)
    expect([status, got.get('connection')], headers).toEqual([400, 'close'])
    expect(got.has('content-length')).toBe(true)
    expect(got.get('x-content-type-options'), headers).toBe('nosniff')
  }
  expect((await ask(GET('/pmapi/context', ''))).status).toBe(400)
  const upgrade = 'Host: localhost\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
  expect((await ask(GET('/ui/api/live', upgrade))).status).toBe(400)
})

test('an absolute URL is reduced to its path, and its host replaces the Host header', async () => {
  expect((await ask(GET('http://localhost/pmapi/context'))).status).toBe(200)
  expect((await ask(GET('HTTP://localhost:1?x'))).status).toBe(302)
  expect((await ask(GET('http://localhost/ui/api/config'))).status).toBe(200)
  // A foreign name that resolves to this machine.
  expect((await ask(GET('http://evil.example/ui/api/config'))).status).toBe(403)
  expect((await ask(GET('ftp://localhost/pmapi/context'))).status).toBe(404)
})

test('HEAD returns only headers; other methods are treated like GET, except those with another meaning', async () => {
  const whole = await ask(GET('/nothing'))
  const head = await ask('HEAD /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect([head.status, head.headers.get('content-length')]).toEqual([404, String(whole.body.length)])
  expect(head.rest.length).toBe(0)
  // Like PCP's server: spec/vectors/web/http.json, put and delete.
  for (const method of ['PUT', 'DELETE', 'PATCH', 'POST'])
    expect((await ask(`${method} /pmapi/context HTTP/1.1\r\nHost: localhost\r\n\r\n`)).status, method).toBe(
      200,
    )
  for (const line of ['CONNECT localhost:80', 'TRACE /pmapi/context'])
    expect((await ask(`${line} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).status, line).toBe(405)
  const { status, headers } = await ask('OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n')
  expect([status, headers.get('access-control-allow-methods')]).toEqual([
    200,
    'GET, PUT, HEAD, POST, TRACE, OPTIONS',
  ])
})

/** Sends requests on one connection; resolves to the statuses of the responses once there are `count`, or the server closes it. */
function statuses(text: string, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: server.proxy.port })
    let got = ''
    const found = (): string[] => got.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      if (found().length >= count) socket.destroy()
    })
    socket.once('close', () => resolve(found()))
    socket.write(text, 'latin1')
  })
}

const PATH = '/pmapi/fetch?names=simple.now'
const UPGRADE = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: '
const KEY = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

test.each([
  ['an offer of HTTP/2', GET(PATH, `${UPGRADE}h2c\r\n`), '200'],
  ['a request for a WebSocket', GET('/ui/api/live', `${UPGRADE}websocket\r\n${KEY}`), '101'],
  ['a malformed offer', GET(PATH, `${UPGRADE}h2c\r\nHost: other\r\n`), '400'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', '405'],
  ['a malformed request', '!\r\n\r\n', '400'],
  ['a malformed request and much more', `!\r\n${'x'.repeat(300_000)}`, '400'],
  ['too many headers', GET(PATH, `X: ${'x'.repeat(40_000)}\r\n`), '431'],
  [
    'a malformed body',
    `POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    '400',
  ],
])('the response to %s follows those to earlier requests', async (_what, last, status) => {
  expect(await statuses(GET(PATH) + GET('/no/such') + last, 3)).toEqual(['200', '404', status])
})
