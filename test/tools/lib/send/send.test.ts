/** Requests of exporters to servers that fail. */
import { expect, test } from 'vitest'
import { freePort } from '../../../../bench/macro/lib/free-port.ts'
import { httpServer, sendHttp } from '../../../../src/tools/lib/send/http.ts'
import { exchange, portOf, TcpStream } from '../../../../src/tools/lib/send/tcp.ts'
import { httpStore, tcpStore } from '../../../lib/store-server.ts'

const { signal } = new AbortController()
const LIMITS = { timeoutMs: 60_000, signal }
const REQUEST = { method: 'POST', type: 'text/plain', body: 'x', ...LIMITS } as const
const text = (chars: string): Uint8Array => Buffer.from(chars)

test('a stream keeps its connection, and opens another one after a failure', async () => {
  const port = await freePort()
  const stream = new TcpStream({ host: '127.0.0.1', port })
  await expect(stream.send(text('lost'), LIMITS)).rejects.toThrow(
    `cannot send to 127.0.0.1:${port}: Connection refused`,
  )
  await using store = await tcpStore()
  const second = new TcpStream({ host: '127.0.0.1', port: store.port })
  await second.send(text('one '), LIMITS)
  await second.send(text('two'), LIMITS)
  await second.close(LIMITS)
  await second.send(text('three'), LIMITS)
  await second.close(LIMITS)
  await store.until(2)
  expect(store.received).toEqual(['one two', 'three'])
})

test('an answer is read until the server closes, but not without end', async () => {
  await using short = await tcpStore((bytes) => (bytes.length === 4 ? text('done') : undefined))
  const answer = await exchange({ host: '127.0.0.1', port: short.port }, text('ping'), LIMITS)
  expect(Buffer.from(answer).toString()).toBe('done')
  await using long = await tcpStore(() => new Uint8Array(100_000))
  await expect(exchange({ host: '127.0.0.1', port: long.port }, text('ping'), LIMITS)).rejects.toThrow(
    'the answer is too long',
  )
})

test('a server without an answer is left after the time limit, or at once when interrupted', async () => {
  await using store = await tcpStore()
  const server = { host: '127.0.0.1', port: store.port }
  await expect(exchange(server, text('x'), { timeoutMs: 1, signal })).rejects.toThrow(
    `cannot send to 127.0.0.1:${store.port}: no answer within 0.001 s`,
  )
  const stopped = AbortSignal.abort()
  await expect(exchange(server, text('x'), { timeoutMs: 60_000, signal: stopped })).rejects.toThrow()
})

test('a refusal of HTTP is shown with the beginning of its text', async () => {
  await using store = await httpStore(() => ({ status: 400, body: `bad\nline ${'x'.repeat(10_000)}` }))
  const server = httpServer(`http://127.0.0.1:${store.port}`)
  await expect(sendHttp(server, REQUEST)).rejects.toThrow(/: 400 Bad Request bad line x{291}$/)
  await sendHttp(server, { ...REQUEST, accepts: [400] })
  expect(store.received).toEqual(['POST /\nx', 'POST /\nx'])
})

test('accounts come from the settings or the URL, and are not shown', async () => {
  await using store = await httpStore()
  const address = `127.0.0.1:${store.port}`
  await sendHttp(httpServer(`http://a:b%20c@${address}/base`), { ...REQUEST, path: 'write' })
  await sendHttp(httpServer(`http://a:b@${address}`, 'u', 'p'), REQUEST)
  const base64 = (login: string): string => Buffer.from(login).toString('base64')
  expect(store.received).toEqual([
    `POST /base/write\nBasic ${base64('a:b c')}\nx`,
    `POST /\nBasic ${base64('u:p')}\nx`,
  ])
  const closed = await freePort()
  await expect(sendHttp(httpServer(`http://a:secret@127.0.0.1:${closed}`), REQUEST)).rejects.toThrow(
    `cannot send to http://127.0.0.1:${closed}/: Connection refused`,
  )
  expect(() => httpServer('ftp://a:secret@there')).toThrow(
    'ftp://there: not a URL: expected http://HOST:PORT',
  )
})

test.each(['0', '65536', '1.5', '-1', '', 'http'])('%s is not a port', (port) => {
  expect(() => portOf('graphite_port', port)).toThrow(`graphite_port: ${port}: expected a port number`)
})
