/** Live pages when hosts come and go, and when pages do not read. docs/reference/pmproxy.md */
import { createServer, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector } from '../../src/pmcd/options.ts'
import { readHostLabels } from '../../src/routing/host-labels.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

interface Message {
  readonly type: string
  readonly [field: string]: unknown
}

let server: WebServer
const closers: (() => unknown)[] = []
beforeAll(async () => {
  server = await startWebServer(['pmcd', 'pmproxy', 'sample'], { hosts: ['*'] })
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(() => server.close())

/** A page that records the messages of each subscription. */
class TestPage {
  readonly heard: Message[] = []
  readonly socket: WebSocket
  #keys = new Map<unknown, unknown>()
  #wake: () => void = () => {}

  constructor() {
    this.socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
    closers.push(() => this.socket.terminate())
    this.socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message
      if (message.type === 'topic') this.#keys.set(message['topic'], message['key'])
      this.heard.push({ ...message, key: message['key'] ?? this.#keys.get(message['topic']) })
      this.#wake()
    })
  }

  async subscribe(key: string, wish: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.socket.once('open', resolve))
    this.socket.send(JSON.stringify({ subscribe: key, every: 0.2, ...wish }))
  }

  /** Returns the next unread message of a kind about a key. */
  async next(type: string, key: string): Promise<Message> {
    for (;;) {
      const i = this.heard.findIndex((message) => message.type === type && message['key'] === key)
      if (i >= 0) return this.heard.splice(0, i + 1).at(-1)!
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

/** A collector that can be stopped and restarted on its port. */
async function collectorAt(port: number, agents: readonly string[]): Promise<Collector> {
  const quiet = {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    notice: () => undefined,
    line: () => undefined,
  }
  const collector = await startCollector({
    agents: builtinAgents(agents, []),
    ports: [port],
    localOnly: true,
    hostname: 'other',
    log: quiet,
    agentDir: server.dir,
    variables: { ...process.env, PCP_TMP_DIR: server.dir },
    readLabels: () => readHostLabels({ sysconfDir: server.dir, hostname: 'other', root: '/' }),
  })
  closers.push(() => collector.close())
  return collector
}

/** Returns a port whose listener never answers. */
async function silentPort(): Promise<number> {
  const silent: Server = createServer((socket) => {
    closers.push(() => socket.destroy())
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  closers.push(() => silent.close())
  return (silent.address() as { port: number }).port
}

test('a silent host does not delay other hosts of the page', async () => {
  const page = new TestPage()
  await page.subscribe('silent', { host: `127.0.0.1:${await silentPort()}`, metrics: ['sample.long.one'] })
  await page.subscribe('other', { metrics: ['sample.long.one'] })
  await page.next('row', 'other')
  expect(page.heard.some(({ key }) => key === 'silent')).toBe(false)
})

test('a host that is unreachable, appears, leaves, and returns with other metrics', async () => {
  const port = await freePort()
  const [page, late] = [new TestPage(), new TestPage()]
  const wish = { host: `localhost:${port}`, metrics: ['simple.color', 'sample.colour', 'pmcd.pid'] }
  await page.subscribe('h', wish)
  expect(await page.next('error', 'h')).toMatchObject({ code: 'ECONNREFUSED' })
  const second = await collectorAt(port, ['pmcd', 'sample'])
  expect(await page.next('topic', 'h')).toMatchObject({
    hostname: 'other',
    metrics: [{ code: 'PM_ERR_NAME' }, { pmid: '29.0.5' }, { sem: 'discrete' }],
  })
  expect((await page.next('row', 'h'))['values']).toEqual([null, expect.any(Array), [process.pid]])
  await second.close()
  await page.next('lost', 'h')
  await late.subscribe('h', wish)
  await late.next('lost', 'h')
  await collectorAt(port, ['pmcd', 'simple'])
  for (const each of [page, late])
    expect(await each.next('topic', 'h')).toMatchObject({
      metrics: [{ pmid: '253.0.1' }, { code: 'PM_ERR_NAME' }, {}],
    })
  expect(await page.next('insts', 'h')).toMatchObject({ metric: 0, names: ['red', 'green', 'blue'] })
  for (const each of [page, late])
    expect((await each.next('row', 'h'))['values']).toEqual([expect.any(Array), null, [process.pid]])
})

test('after replacing a subscription only the new one sends messages under its key', async () => {
  const page = new TestPage()
  for (const n of ['one', 'ten', 'hundred']) await page.subscribe('a', { metrics: [`sample.long.${n}`] })
  expect(await page.next('topic', 'a')).toMatchObject({ metrics: [{ name: 'sample.long.hundred' }] })
  expect((await page.next('row', 'a'))['values']).toEqual([[100]])
  expect(page.heard).toEqual([])
})

test('a page that does not read delays no other; when it reads again it gets the newest rows, and fewer', async () => {
  const [slow, other] = [new TestPage(), new TestPage()]
  const keys = Array.from({ length: 10 }, (_, i) => `wide ${i}`)
  // The system's buffers for a connection have to fill up first.
  const wide = Array.from({ length: 900 }, () => 'sample.bin')
  for (const key of keys) await slow.subscribe(key, { metrics: [...wide, `sample.no.${key}`] })
  await slow.next('row', keys.at(-1)!)
  slow.socket.pause()
  await other.subscribe('count', { metrics: ['pmproxy.live.missed'] })
  let missed = 0
  while (missed < 80) missed = ((await other.next('row', 'count'))['values'] as number[][])[0]?.[0] ?? 0
  const resumed = Date.now() / 1000
  slow.socket.resume()
  const times: number[] = []
  do times.push(Number((await slow.next('row', keys[0]!))['time']))
  while (times.at(-1)! < resumed)
  const longest = Math.max(...times.slice(1).map((time, i) => time - times[i]!))
  expect(longest).toBeGreaterThan(0.5)
})
