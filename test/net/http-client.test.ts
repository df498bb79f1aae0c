/** Requests to a server in this process whose answers each test chooses. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { basicAuthorization, HttpClient, retryAfterMs } from '../../src/net/http-client.ts'

let server: Server
let answer: (request: IncomingMessage, response: ServerResponse) => void
let client: HttpClient
let connections: number

beforeEach(async () => {
  connections = 0
  server = createServer((request, response) => answer(request, response))
  server.on('connection', () => connections++)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  client = new HttpClient({ maxSockets: 1 })
})
afterEach(async () => {
  client.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

function request(more: object = {}): Parameters<HttpClient['exchange']>[0] {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c`)
  return { method: 'POST', url, headers: { x: 'y' }, body: 'é', ...more }
}

test('requests share a connection, and answers of any status arrive', async () => {
  answer = async (received, response) => {
    const { method, url, headers } = received
    let body = ''
    for await (const part of received.setEncoding('utf8')) body += part as string
    response.writeHead(503, { 'Retry-After': '7' })
    response.end(JSON.stringify([method, url, headers.x, headers['content-length'], body]))
  }
  for (let i = 0; i < 3; i++) {
    const { status, header, body } = await client.exchange(request(), { maxBytes: 100 })
    expect([status, header('retry-after'), header('nothing')]).toEqual([503, '7', undefined])
    expect(JSON.parse(String(body))).toEqual(['POST', '/a?b=c', 'y', '2', 'é'])
  }
  expect(connections).toBe(1)
})

test('a connection that is not kept is closed after its answer', async () => {
  answer = (_, response) => response.end('x')
  const once = new HttpClient({ keepsOpen: false })
  for (let i = 0; i < 2; i++) await once.exchange(request(), { maxBytes: 1 })
  expect(connections).toBe(2)
})

test.each([
  ['plain', (text: string) => text, {}],
  ['compressed', (text: string) => gzipSync(text), { 'Content-Encoding': 'gzip' }],
])('answers are limited: %s', async (_, form, headers) => {
  answer = (_, response) => response.writeHead(200, headers).end(form('x'.repeat(100_000)))
  const whole = await client.exchange(request(), { maxBytes: 100_000 })
  expect(whole.body.length).toBe(100_000)
  await expect(client.exchange(request(), { maxBytes: 99_999 })).rejects.toMatchObject({ code: 'E2BIG' })
  const start = await client.exchange(request(), { maxBytes: 10, isStartEnough: true })
  expect(String(start.body)).toBe('x'.repeat(10))
})

test.each(['before the answer', 'within the answer'])('time limits and aborts %s', async (when) => {
  let isAsked = (): void => {}
  answer = (_, response) => {
    if (when !== 'before the answer') response.write('x')
    isAsked()
  }
  const limits = { maxBytes: 100 }
  await expect(client.exchange(request({ stalledMs: 10 }), limits)).rejects.toMatchObject({
    code: 'ETIMEDOUT',
  })
  await expect(client.exchange(request(), { ...limits, timeoutMs: 10 })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
  const abort = new AbortController()
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const ended = client.exchange(request({ signal: abort.signal }), limits).catch((error: unknown) => error)
  await asked
  abort.abort(new Error('enough'))
  expect(await ended).toMatchObject({ message: 'enough' })
})

test('a broken connection and a missing server are errors', async () => {
  answer = ({ socket }, response) => {
    response.write('x', () => socket.destroy())
  }
  await expect(client.exchange(request(), { maxBytes: 100 })).rejects.toMatchObject({ code: 'ECONNRESET' })
  const url = new URL('http://127.0.0.1:1/')
  await expect(client.exchange(request({ url }), { maxBytes: 1 })).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  })
})

test('a unix socket replaces host and port', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'http-'))
  const local = createServer((_, response) => response.end('local'))
  await new Promise<void>((done) => local.listen(join(directory, 's'), done))
  const other = new HttpClient({ socketPath: join(directory, 's') })
  expect(String((await other.exchange(request(), { maxBytes: 10 })).body)).toBe('local')
  other.close()
  await new Promise((done) => local.close(done))
  rmSync(directory, { recursive: true })
})

test('headers of accounts and pauses', () => {
  expect(basicAuthorization('me:ü')).toBe('Basic bWU6w7w=')
  const now = Date.parse('2026-01-01T00:00:00Z')
  const texts = [
    undefined,
    '7',
    ' 7 ',
    'soon',
    'Thu, 01 Jan 2026 00:00:30 GMT',
    'Wed, 31 Dec 2025 00:00:00 GMT',
  ]
  expect(texts.map((text) => retryAfterMs(text, now))).toEqual([
    undefined,
    ...[7000, 7000, undefined, 30_000, 0],
  ])
})
