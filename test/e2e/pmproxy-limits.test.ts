/** Limits of docs/explanation/security.md on connections to pmproxy that need a real socket. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ProxyConfig } from '../../src/pmproxy/config.ts'
import type { Limits } from '../../src/pmproxy/limits.ts'
import { eventually } from '../lib/eventually.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

let server: WebServer
const sockets: Socket[] = []
const closers: (() => void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
})

async function start(limits: Partial<Limits>, config: Partial<ProxyConfig> = {}): Promise<void> {
  server = await startWebServer(
    ['pmcd', 'sample', 'simple'],
    { hosts: ['*'], ...config },
    { proxy: { limits } },
  )
}

/** Sends a text over a new connection; `closed` resolves to everything received. */
function say(text: string): { readonly socket: Socket; readonly closed: Promise<string> } {
  const socket = connect({ host: '127.0.0.1', port: server.proxy.port })
  sockets.push(socket)
  let got = ''
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  socket.write(text)
  return { socket, closed: new Promise((resolve) => socket.once('close', () => resolve(got))) }
}

const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

test('a silent connection is closed', async () => {
  await start({ firstByteMs: 50 })
  expect(await say('').closed).toBe('')
})

test('headers that do not end in time close the connection', async () => {
  await start({ headersMs: 50 })
  expect(await say('GET / HTTP/1.1\r\nHost: x\r\n').closed).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
})

test('a body that does not arrive in time closes the connection', async () => {
  await start({ headersMs: 50, requestMs: 100 })
  const head = 'POST /pmapi/derive HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc'
  expect(await say(head).closed).toMatch(/^HTTP\/1\.1 408 /)
})

test('an idle connection is closed', async () => {
  await start({ idleMs: 50 })
  expect(await say(GET('/pmapi/context')).closed).toMatch(/^HTTP\/1\.1 200 /)
})

test('a connection that does not read its answer is closed', async () => {
  await start({ stalledMs: 200 })
  const { socket } = say(GET('/metrics').repeat(50))
  socket.pause()
  await eventually(async () => expect(server.proxy.statistics.requests).toBe(50))
  // The close is noticed only when the connection is used.
  await eventually(async () => {
    socket.write(GET('/'))
    expect(socket.destroyed).toBe(true)
  })
})

test('pipelined requests are limited', async () => {
  await start({ pipelined: 10 })
  expect(await say(GET('/pmapi/context').repeat(11)).closed).toBe('')
  expect(await say(`${GET('/pmapi/context').repeat(9)}GET / HTTP/1.0\r\n\r\n`).closed).toMatch(/ 302 /)
})

test('large answers that cannot be sent are not generated', async () => {
  await start({ unreadBytes: 1000 })
  const { status, headers } = await server.ask('/metrics')
  expect([status, headers['retry-after']]).toEqual([503, '10'])
  expect((await server.ask('/pmapi/fetch?names=simple.numfetch')).status).toBe(200)
})

test('an answer whose reader has left no longer counts, even while it waits', async () => {
  await start({ unreadBytes: 400_000 })
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const first = GET(`/pmapi/context?hostspec=127.0.0.1:${port}`)
  const { socket, closed } = say(first + GET('/metrics'))
  await eventually(() => expect(server.proxy.statistics.uncompressedCount).toBe(1))
  expect((await server.ask('/metrics')).status).toBe(503)
  socket.destroy()
  await closed
  await eventually(async () => expect((await server.ask('/metrics')).status).toBe(200))
  silent.close()
})

test('the number of connections is limited', async () => {
  await start({ connections: 2 })
  say('')
  say('')
  await eventually(async () => expect(server.proxy.statistics.connections).toBe(2))
  expect(await say(GET('/')).closed).toBe('')
})

test('an upgrade to another protocol than WebSocket is answered in HTTP/1.1', async () => {
  await start({})
  const offer = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': '' }
  expect(await server.ask('/pmapi/fetch?names=simple.numfetch', { headers: offer })).toMatchObject({
    status: 200,
  })
  const post = { method: 'POST', headers: offer, body: 'x' }
  expect((await server.ask('/pmapi/derive', post)).status).toBe(400)
})

test('a connection that does not read such an answer is closed', async () => {
  await start({ stalledMs: 200 })
  const { socket } = say(
    'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  )
  socket.pause()
  await eventually(async () => {
    socket.write('x')
    expect(socket.destroyed).toBe(true)
  })
})

test('requests about archives are limited in number and time', async () => {
  const archiveDirs = ['test/fixtures']
  await start({ archives: { concurrent: 1, queued: 40, waitMs: 60_000 } }, { archiveDirs })
  const { archives } = await server.json<{ archives: { id: string; bytes: number }[] }>('/ui/api/archives')
  const [small] = archives.sort((a, b) => a.bytes - b.bytes)
  const children = `/ui/api/children?archive=${small!.id}`
  const answers = await Promise.all(Array.from({ length: 40 }, () => server.ask(children)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  await server.close()
  await start({ archives: { concurrent: 0, queued: 0, waitMs: 1 } }, { archiveDirs })
  for (const path of [children, '/ui/api/archives']) {
    const { status, headers, text } = await server.ask(path)
    expect([status, headers['retry-after']]).toEqual([503, '10'])
    expect(JSON.parse(text)).toMatchObject({ code: 'EBUSY', success: false })
  }
  expect((await server.ask('/ui/api/children?prefix=sample')).status).toBe(200)
})

/** Returns a page that watches a collector which never answers. */
async function waitingPage(): Promise<{
  page: WebSocket
  subscribe: (key: number, metrics: string[]) => void
}> {
  await start({})
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  closers.push(() => void silent.close())
  const host = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  const page = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  closers.push(() => page.terminate())
  await once(page, 'open')
  const subscribe = (key: number, metrics: string[]): void =>
    page.send(JSON.stringify({ subscribe: `${key}`, every: 1, metrics, host }))
  return { page, subscribe }
}

test('a page may wait for as many hosts as it has subscriptions', async () => {
  const { page, subscribe } = await waitingPage()
  const heard = new Promise((resolve) => {
    page.once('message', (data) => resolve(JSON.parse(String(data))))
    page.once('close', resolve)
  })
  const metrics = ['sample.long.one']
  // Each replaces a subscription without an answer so far.
  for (let i = 0; i < 400; i++) subscribe(i % 200, metrics)
  page.send(JSON.stringify({ subscribe: '200', every: 1, metrics }))
  expect(await heard).toMatchObject({ type: 'error', key: '200', code: 'PM_ERR_TOOBIG' })
  expect(page.readyState).toBe(WebSocket.OPEN)
})

test('a page whose waiting answers exceed the byte limit is closed', async () => {
  const { page, subscribe } = await waitingPage()
  const ended = once(page, 'close')
  const metrics = Array.from({ length: 1000 }, (_, i) => `${'no.such.metric.'.repeat(14)}${i}`)
  for (let i = 0; i < 160; i++) subscribe(i, metrics)
  expect((await ended)[0]).toBe(1008)
})

test('a page that does not read its data is closed', async () => {
  await start({ pageUnreadBytes: 1_000_000 })
  const page = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  page.on('error', () => undefined)
  await new Promise((resolve) => page.once('open', resolve))
  page.pause()
  // Fewer messages than the limit, each answered with a list longer than itself.
  const metrics = Array.from({ length: 1000 }, (_, i) => `${'no.such.metric.'.repeat(14)}${i}`)
  for (let i = 0; i < 90; i++) page.send(JSON.stringify({ subscribe: `${i}`, every: 60, metrics }))
  expect(server.proxy.statistics.pages).toBe(1)
  await eventually(() => expect(server.proxy.statistics.pages).toBe(0))
  page.terminate()
})
