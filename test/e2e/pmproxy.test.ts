/** pmproxy on real sockets: contexts that expire, live pages, archives, forwarding, TLS. docs/reference/pmproxy.md */

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ChangeReport } from '../../src/analysis/what-changed.ts'
import { connect } from '../../src/pmapi/connect.ts'
import { archiveOutput } from '../../src/sys/archive-output.ts'
import { recordIncident, SPAN_START, WINDOW_SEC } from '../analysis/lib/incident-archive.ts'
import { INCIDENTS } from '../analysis/lib/incidents.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const BIG = 'export const big = 1\n'.repeat(200)
let dir: string
let server: WebServer
const pages: WebSocket[] = []
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pmproxy-files-'))
  mkdirSync(join(dir, 'page', 'assets'), { recursive: true })
  writeFileSync(join(dir, 'page', 'index.html'), '<!doctype html><title>x</title>')
  writeFileSync(join(dir, 'page', 'assets', 'app-abc.js'), 'export {}\n')
  writeFileSync(join(dir, 'page', 'assets', 'big-abc.js'), BIG)
  writeFileSync(join(dir, 'page', 'assets', 'big-abc.js.br'), brotliCompressSync(BIG))
  writeFileSync(join(dir, 'secret.txt'), 'secret')
  symlinkSync(join(dir, 'secret.txt'), join(dir, 'page', 'assets', 'link.txt'))
  server = await startWebServer(['pmcd', 'sample', 'simple'], { pageDir: join(dir, 'page') })
})
afterEach(() => {
  for (const page of pages.splice(0)) page.terminate()
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true })
})

test('an unused context expires, and is unknown later', async () => {
  /** Messages about contexts unused for longer than their timeout, by number. */
  const told = new Map<number, string>()
  const ask = async (context: number): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { status, text } = await server.ask(`/pmapi/${context}/fetch?names=sample.long.one`)
    expect(status).toBe(400)
    told.set(context, (JSON.parse(text) as { message: string }).message)
  }
  let context: number
  // A context may be swept, and so unknown, before the request; then use the next one.
  do {
    context = (await server.json<{ context: number }>('/pmapi/context?polltimeout=0.05')).context
    await ask(context)
  } while (told.get(context) === `unknown context identifier: ${context}`)
  expect(told.get(context)).toBe(`expired context identifier: ${context}`)
  while (told.get(context) !== `unknown context identifier: ${context}`) await ask(context)
})

test('contexts are isolated: profiles and expressions are separate', async () => {
  const [a, b] = [await newContext(), await newContext()]
  await server.json(`/pmapi/${a}/profile?expr=del&name=sample.colour`)
  await server.json(`/pmapi/${a}/derive?name=own.metric&expr=sample.long.one%2B1`)
  const red = (id: number): Promise<{ values: { instances: unknown[] }[] }> =>
    server.json(`/pmapi/${id}/fetch?name=sample.colour`)
  expect((await red(a)).values[0]!.instances).toEqual([])
  expect((await red(b)).values[0]!.instances).toHaveLength(3)
  expect((await server.ask(`/pmapi/${b}/fetch?name=own.metric`)).status).toBe(400)
  expect(await server.json(`/pmapi/${a}/fetch?name=own.metric`)).toMatchObject({
    values: [{ instances: [{ value: 2 }] }],
  })
})

test('its own counters are visible through the collector', async () => {
  const watched = await startWebServer(['pmcd', 'pmproxy'])
  try {
    const requests = async (): Promise<number> => {
      const { values } = await watched.json<{ values: { instances: { value: number }[] }[] }>(
        '/pmapi/fetch?names=pmproxy.http.requests',
      )
      return values[0]!.instances[0]!.value
    }
    while ((await requests()) < 2) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await watched.json('/pmapi/fetch?names=pmproxy.pid')).toMatchObject({
      values: [{ pmid: '4.1.0', instances: [{ value: process.pid }] }],
    })
  } finally {
    await watched.close()
  }
})

test.each([
  ['derive?name=x&expr=rate(', 'Syntax Error'],
  ['derive?name=y&expr=rate(pmcd.hostname)', 'Semantic Error'],
  ['indom?name=sample.byte_ctr', 'metric has null indom'],
  ['metric?names=no.such', 'Unknown metric name'],
  ['store?name=no.such&value=1', 'failed to lookup metric'],
  ['store?name=sample.write_me&value=1', 'No permission to perform requested operation'],
])('the error for %s has the text that Grafana searches for', async (route, words) => {
  const { status, text } = await server.ask(`/pmapi/${await newContext()}/${route}`)
  expect(status).toBeGreaterThanOrEqual(400)
  expect((JSON.parse(text) as { message: string }).message).toContain(words)
})

test('a request with 128 headers is refused', async () => {
  // Host and Connection are always sent.
  const headers = (count: number) =>
    Object.fromEntries(Array.from({ length: count - 2 }, (_, i) => [`X-${i}`, 'y']))
  expect((await server.ask('/pmapi/fetch?names=sample.long.one', { headers: headers(127) })).status).toBe(200)
  expect((await server.ask('/pmapi/fetch?names=sample.long.one', { headers: headers(128) })).status).toBe(431)
})

test('stores are refused unless configured', async () => {
  const { status, text } = await server.ask('/pmapi/store?name=sample.write_me&value=3')
  expect(status).toBe(403)
  expect(JSON.parse(text)).toMatchObject({
    message: 'failed to store value to metric sample.write_me: No permission to perform requested operation',
  })
})

test('the page is served with a strict policy, and nothing beside it', async () => {
  const index = await server.ask('/ui/')
  expect(index.status).toBe(200)
  expect(index.headers['content-security-policy']).toContain("default-src 'none'")
  expect(index.headers['content-security-policy']).not.toContain("'unsafe-")
  expect(index.headers['cache-control']).toBe('no-cache')
  expect(index.headers['access-control-allow-origin']).toBeUndefined()
  const asset = await server.ask('/ui/assets/app-abc.js')
  expect(asset.headers['cache-control']).toContain('immutable')
  for (const path of [
    '/ui/../secret.txt',
    '/ui/%2e%2e/secret.txt',
    '/ui/assets/link.txt',
    '/ui//etc/passwd',
    '/ui/assets/',
  ])
    expect((await server.ask(path)).status, path).toBe(404)
  expect((await server.ask('/')).headers.location).toBe('/ui/')
})

test('files of the page are sent as they were compressed, also for HEAD and with a range', async () => {
  const headers = { 'Accept-Encoding': 'gzip, deflate, br, zstd' }
  const got = await server.ask('/ui/assets/big-abc.js', { headers })
  expect(got.status).toBe(200)
  expect(got.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
  expect(brotliDecompressSync(got.body).toString()).toBe(BIG)
  const head = await server.ask('/ui/assets/big-abc.js', { headers, method: 'HEAD' })
  expect(head.body.length).toBe(0)
  for (const name of ['content-encoding', 'content-length', 'content-type', 'etag'])
    expect(head.headers[name], name).toBe(got.headers[name])
  const range = await server.ask('/ui/assets/big-abc.js', { headers: { ...headers, Range: 'bytes=0-9' } })
  expect([range.status, range.body.length]).toEqual([200, got.body.length])
  const known = { ...headers, 'If-None-Match': got.headers.etag! }
  const again = await server.ask('/ui/assets/big-abc.js', { headers: known })
  expect([again.status, again.text, again.headers['content-length']]).toEqual([304, '', undefined])
  // The connection is still in step.
  expect((await server.ask('/ui/', { headers })).status).toBe(200)
})

test('pages of other origins get no data of the page', async () => {
  const foreign = [
    { Origin: 'http://evil.example' },
    { Host: 'evil.example:44323' },
    { Host: 'evil.example', Origin: 'http://evil.example' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ]
  for (const headers of foreign) expect((await server.ask('/ui/api/config', { headers })).status).toBe(403)
  const own = { Origin: `http://127.0.0.1:${server.proxy.port}` }
  expect((await server.ask('/ui/api/config', { headers: own })).status).toBe(200)
})

test('metrics are found by words of their names and help', async () => {
  const found = await server.json<{ total: number; metrics: { name: string }[] }>(
    '/ui/api/names?match=sample%20colour',
  )
  expect(found.metrics.map(({ name }) => name)).toContain('sample.colour')
  const all = await server.json<{ total: number; metrics: unknown[] }>('/ui/api/names?limit=3&offset=1')
  expect(all.total).toBeGreaterThan(found.total)
  expect(all.metrics).toHaveLength(3)
})

test('an expression is checked on request: an error has its column', async () => {
  expect(await server.json('/ui/api/check?expr=sample.long.ten%2F2')).toMatchObject({
    ok: true,
    units: 'none',
  })
  const bad = await server.json<{ ok: boolean; at: number }>('/ui/api/check?expr=sample.long.ten%20*')
  expect(bad).toMatchObject({ ok: false })
  expect(bad.at).toBeGreaterThan(10)
})

interface Message {
  readonly type: string
  readonly topic: number
  readonly [member: string]: unknown
}

/** A page that records its messages. */
async function openPage(): Promise<{
  socket: WebSocket
  heard: Message[]
  until(type: string, count?: number): Promise<Message>
}> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  pages.push(socket)
  const heard: Message[] = []
  let wake = (): void => {}
  socket.on('message', (data) => {
    heard.push(JSON.parse(String(data)) as Message)
    wake()
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const until = async (type: string, count = 1): Promise<Message> => {
    for (;;) {
      const of = heard.filter((message) => message.type === type)
      if (of.length >= count) return of[count - 1]!
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { socket, heard, until }
}

test('a live page receives metadata once, instances before values, and expressions', async () => {
  const page = await openPage()
  const wish = {
    metrics: ['sample.colour', 'sample.long.ten', 'no.such', 'my.x'],
    derive: { 'my.x': 'sample.long.ten + 1' },
  }
  page.socket.send(JSON.stringify({ subscribe: 'a', every: 0.2, ...wish }))
  await page.until('row', 3)
  const types = page.heard.map(({ type }) => type)
  expect(types.slice(0, 3)).toEqual(['topic', 'insts', 'row'])
  expect(types.filter((type) => type === 'insts')).toHaveLength(1)
  expect(page.heard[0]).toMatchObject({
    key: 'a',
    hostname: 'vm',
    metrics: [
      { name: 'sample.colour', pmid: '29.0.5', indom: '29.1' },
      { name: 'sample.long.ten', indom: null },
      { name: 'no.such', code: 'PM_ERR_NAME' },
      { name: 'my.x', type: 'u32' },
    ],
  })
  expect(page.heard[1]).toMatchObject({ metric: 0, names: ['red', 'green', 'blue'] })
  expect(page.heard[2]!['values']).toMatchObject([expect.any(Array), [10], null, [11]])
})

test('200 pages cause as many fetches as one', async () => {
  const names = ['pmcd.pdu_in.fetch', 'pmcd.pdu_in.highres_fetch']
  const watching = JSON.stringify({ subscribe: 'x', every: 0.25, metrics: names })
  // Counted by the collector itself: each row has the number of fetches so far.
  const fetchesARow = (heard: readonly Message[]): number => {
    const counts = heard
      .filter(({ type }) => type === 'row')
      .map(({ values }) => (values as number[][]).flat().reduce((sum, count) => sum + count, 0))
    return (counts.at(-1)! - counts[0]!) / (counts.length - 1)
  }
  const alone = await openPage()
  alone.socket.send(watching)
  await alone.until('row', 6)
  expect(fetchesARow(alone.heard)).toBe(1)
  const many = await Promise.all(Array.from({ length: 199 }, openPage))
  for (const { socket } of many) socket.send(watching)
  await Promise.all(many.map((page) => page.until('row', 2)))
  alone.heard.splice(0, alone.heard.length)
  await alone.until('row', 6)
  expect(fetchesARow(alone.heard)).toBe(1)
  await Promise.all(many.map((page) => page.until('row', 6)))
  expect(new Set(many.map(({ heard }) => heard[0]!.topic)).size).toBe(1)
})

test('an invalid message of a page gets an error, and the page continues', async () => {
  const page = await openPage()
  page.socket.send('nonsense')
  page.socket.send(JSON.stringify({ subscribe: 'k', metrics: [] }))
  page.socket.send(JSON.stringify({ subscribe: 'h', host: 'no.such.host.invalid', metrics: ['a'] }))
  page.socket.send(JSON.stringify({ subscribe: 'ok', every: 0.2, metrics: ['sample.long.one'] }))
  await page.until('row')
  // Resolving the host's name may take longer than the first row.
  const errors = (): unknown[] => page.heard.filter(({ type }) => type === 'error').map(({ key }) => key)
  await expect.poll(errors).toEqual([null, 'k', 'h'])
})

test('a page of another origin gets no stream', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`, {
    origin: 'http://evil.example',
  })
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve))
  expect(error.message).toContain('403')
})

test('clients of PCP reach collectors through it, by name', async () => {
  const env = { PMPROXY_PORT: String(server.proxy.port) }
  const context = await connect(`localhost:${server.collector.port}@127.0.0.1:${server.proxy.port}`, { env })
  expect((await context.values(['sample.long.ten'])).value('sample.long.ten')).toBe(10)
  await context.close()
  expect(server.proxy.statistics.proxied).toBeGreaterThan(0)
})

test.each([
  ['another version', 'pmproxy-client 2\n'],
  ['a carriage return', 'pmproxy-client 1\r\n'],
  ['no port', 'pmproxy-client 1\n127.0.0.1\n'],
  ['a bad port', 'pmproxy-client 1\n127.0.0.1 abc\n'],
  ['a port without a listener', 'pmproxy-client 1\n127.0.0.1 1\n'],
  ['an unknown host', 'pmproxy-client 1\nno.such.host.invalid 44321\n'],
  ['a line without end', `pmproxy-client 1\n${'a'.repeat(5000)}`],
  ['no protocol at all', 'zzzz'],
])('a forwarded connection with %s is closed', async (_, text) => {
  const socket = connectSocket({ port: server.proxy.port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  socket.write(text)
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
})

test('a client of a forwarded connection that sends a longer PDU than -L allows is closed', async () => {
  const limited = await startWebServer(['pmcd'], {}, { proxy: { mostPdu: 1000 } })
  try {
    const env = { PMPROXY_PORT: String(limited.proxy.port) }
    const host = `localhost:${limited.collector.port}@127.0.0.1:${limited.proxy.port}`
    const context = await connect(host, { env })
    const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `no.such.metric.${i}`)
    expect(await context.lookupNames(names(10))).toHaveLength(10)
    await expect(context.lookupNames(names(1000))).rejects.toMatchObject({ code: 'PM_ERR_EOF' })
    await context.close()
  } finally {
    await limited.close()
  }
})

test('a greeting in pieces, and data that follows the line, are understood', async () => {
  const socket = connectSocket({ port: server.proxy.port, host: '127.0.0.1', noDelay: true })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  for (const part of ['p', 'mproxy-cl', `ient 1\nlocalhost ${server.collector.port}\n`]) {
    await new Promise<void>((resolve) => void socket.write(part, () => resolve()))
    await new Promise((resolve) => setImmediate(resolve))
  }
  // The collector sends first: a challenge of 20 bytes.
  while (text.length < 17 + 20) await new Promise((resolve) => socket.once('data', resolve))
  expect(text.slice(0, 17)).toBe('pmproxy-server 1\n')
  expect(Buffer.from(text.slice(17, 25), 'latin1').toString('hex')).toBe('0000001400007000')
  socket.destroy()
})

async function newContext(): Promise<number> {
  return (await server.json<{ context: number }>('/pmapi/context?polltimeout=60')).context
}

test('archives below the configured directories are listed and charted; others are not found', async () => {
  const archives = join(dir, 'archives')
  mkdirSync(archives, { recursive: true })
  const source = '/var/lib/pcp/testsuite/archives'
  for (const part of ['0', 'meta', 'index'])
    try {
      cpSync(join(source, `bozo-disk.${part}`), join(archives, `bozo-disk.${part}`))
    } catch {
      return // the reference's archives are not here
    }
  const other = await startWebServer(['pmcd'], { archiveDirs: [archives] })
  try {
    const { archives: listed } = await other.json<{ archives: { id: string; start: number; end: number }[] }>(
      '/ui/api/archives',
    )
    expect(listed).toMatchObject([{ id: '0/bozo-disk' }])
    const chart = await other.json<{ metrics: { columns: { values: unknown[] }[] }[]; times: unknown[][] }>(
      '/ui/api/range?archive=0/bozo-disk&names=disk.dev.read&points=50',
    )
    expect(chart.metrics[0]!.columns.length).toBeGreaterThan(0)
    const { start, end } = listed[0]!
    const computed = await other.json<typeof chart>(
      `/ui/api/range?archive=0/bozo-disk&names=x&derive=x%3Drate(disk.dev.read)&points=50&start=${start - 600}&finish=${end}`,
    )
    expect(computed.metrics[0]!.columns.length, 'an expression over more than was recorded').toBeGreaterThan(
      0,
    )
    const { context } = await other.json<{ context: number }>('/pmapi/context?archive=0/bozo-disk')
    expect(
      await other.json(`/pmapi/${context}/fetch?names=disk.dev.read&time=${listed[0]!.start + 5}`),
    ).toHaveProperty('values')
    for (const id of ['0/../secret', '1/bozo-disk', '0//etc/passwd', '/etc/passwd', '0/nothing', '..'])
      expect((await other.ask(`/ui/api/range?archive=${id}&names=x`)).status, id).toBe(400)
  } finally {
    await other.close()
  }
})

test('what changed in a span of an archive is ranked; other requests are refused without names of directories', async () => {
  const archives = join(dir, 'changes')
  mkdirSync(archives)
  const incident = INCIDENTS.find(({ name }) => name === 'steal')!
  recordIncident(archiveOutput(join(archives, 'steal')), incident, 1)
  const other = await startWebServer(['pmcd'], { archiveDirs: [archives] })
  const path = '/ui/api/changes?archive=0/steal'
  const window = `start=${SPAN_START}&finish=${SPAN_START + WINDOW_SEC}`
  try {
    const { before, changes } = await other.json<ChangeReport>(`${path}&${window}&limit=3`)
    expect(before).toMatchObject({ finish: SPAN_START })
    expect(changes).toHaveLength(3)
    expect(changes[0]).toMatchObject({ metric: 'kernel.all.cpu.steal', direction: 'up', isRate: true })
    const same = `before=${SPAN_START - 900}&until=${SPAN_START - 600}`
    expect((await other.json<ChangeReport>(`${path}&${window}&${same}`)).before).toEqual({
      start: SPAN_START - 900,
      finish: SPAN_START - 600,
    })
    expect(await other.json(`${path}&start=5&finish=10`)).toMatchObject({ unrecorded: 'span' })
    for (const wrong of [
      path,
      `${path}&start=x&finish=1`,
      `${path}&start=5&finish=5`,
      `${path}&${window}&limit=101`,
      `${path}&${window}&before=${SPAN_START + 5}`,
      `/ui/api/changes?host=local:&${window}`,
      `/ui/api/changes?archive=0/nothing&${window}`,
    ]) {
      const reply = await other.ask(wrong)
      expect(reply.status, wrong).toBe(400)
      expect(reply.text).not.toContain(archives)
    }
  } finally {
    await other.close()
  }
})
