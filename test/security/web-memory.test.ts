/**
 * Attack: web clients that make pmproxy store profiles, expressions and subscriptions, or read endless bodies, until its
 * heap is exhausted. Class: memory that a client makes a daemon hold. Prevented by src/base/byte-budget.ts.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../lib/eventually.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const MIB = 2 ** 20
const MEMORY = { each: MIB, all: 4 * MIB }

let server: WebServer
const sockets: Socket[] = []
const pages: WebSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const page of pages.splice(0)) page.terminate()
  await server.close()
})

const start = async (): Promise<void> => {
  server = await startWebServer(['pmcd', 'sample'], {}, { proxy: { memory: MEMORY } })
}
const newContext = async (): Promise<number> =>
  (await server.json<{ context: number }>('/pmapi/context?polltimeout=600')).context
const dropped = (): string[] => server.notices.filter((line) => line.includes('is dropped'))

/** Posts a profile of instances that cannot be stored compactly. */
async function postProfile(context: number, instances: number): Promise<number> {
  const ids = Array.from({ length: instances }, (_, i) => (i * 7919) % 1_000_003)
  const body = `context=${context}&expr=add&indom=29.1&instance=${ids.join()}`
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return (await server.ask('/pmapi/profile', { method: 'POST', headers, body })).status
}

test('the contexts with the largest profiles are dropped, others keep theirs', async () => {
  await start()
  const honest = await newContext()
  expect(await postProfile(honest, 10)).toBe(200)
  for (let i = 0; i < 100; i++) expect(await postProfile(await newContext(), 9000)).toBe(200)
  expect(dropped()).not.toEqual([])
  expect(dropped()[0]).toMatch(/Context \d+ of 127.0.0.1 is dropped: it holds \d+ KiB, the most/)
  expect((await server.ask(`/pmapi/fetch?context=${honest}&names=sample.colour`)).status).toBe(200)
})

test('the contexts with the largest expressions are dropped, others can define theirs', async () => {
  await start()
  const define = async (context: number, characters: number): Promise<number> => {
    const body = Array.from({ length: 4 }, (_, i) => `d.e${i} = 1${' '.repeat(characters / 4 - 3)}+1\n`).join(
      '',
    )
    return (await server.ask(`/pmapi/${context}/derive`, { method: 'POST', body })).status
  }
  const honest = await newContext()
  expect(await define(honest, 100)).toBe(200)
  for (let i = 0; i < 20; i++) expect(await define(await newContext(), 40_000)).toBe(200)
  expect(dropped()).not.toEqual([])
  const { text } = await server.ask(`/pmapi/metric?context=${honest}&name=d.e1`)
  expect(text).toContain('"d.e1"')
})

test('the largest of endless bodies are closed, and other requests are answered', async () => {
  await start()
  const head = `POST /pmapi/derive HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${MIB}\r\n\r\n`
  let closed = 0
  for (let i = 0; i < 20; i++) {
    const socket = connect({ host: '127.0.0.1', port: server.proxy.port })
    sockets.push(socket)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => closed++)
    socket.write(head + 'x'.repeat(MIB - 1))
  }
  await eventually(() => expect(closed).toBeGreaterThan(15))
  expect(dropped()[0]).toMatch(/A request of 127.0.0.1 is dropped/)
  expect((await server.ask('/pmapi/fetch?names=sample.colour')).status).toBe(200)
})

test('a page whose subscriptions take too much memory is closed', async () => {
  await start()
  const page = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  pages.push(page)
  page.on('message', () => undefined)
  await once(page, 'open')
  const metrics = Array.from({ length: 900 }, (_, i) => `sample.${'x'.repeat(100)}.m${i}`)
  for (let key = 0; key < 20; key++) page.send(JSON.stringify({ subscribe: `${key}`, every: 1, metrics }))
  await once(page, 'close')
  expect(dropped()[0]).toMatch(/A page of 127.0.0.1 is dropped: it holds .*; the limit is 1.0 MiB/)
})
