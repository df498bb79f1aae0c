/** Requests that make no sense, by thousands: each is answered, none with a 500, and nothing is left behind. */
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

const SECONDS = Number(process.env['PCP_TS_FUZZ_SECONDS'] ?? 10)
/** Another one makes other requests. */
const SEED = Number(process.env['PCP_TS_FUZZ_SEED'] ?? 0)

/** Requests at the same time. */
const TOGETHER = 16

let server: WebServer
const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER })
beforeAll(async () => {
  server = await startWebServer(['pmcd', 'sample', 'simple'], {
    allowsStore: true,
    archiveDirs: ['test/fixtures', '/tmp'],
  })
})
afterAll(() => {
  agent.destroy()
  return server.close()
})

const PATHS = [
  ...['context', 'metric', 'fetch', 'children', 'indom', 'profile', 'store', 'derive', 'metrics'].map(
    (route) => `/pmapi/${route}`,
  ),
  ...[
    '/metrics',
    '/series/query',
    '/series/values',
    '/search/text',
    '/logger/label',
    '/',
    '/ui/',
    '/ui/index.html',
  ],
  ...['config', 'archives', 'names', 'children', 'metric', 'instances', 'check', 'range', 'live'].map(
    (route) => `/ui/api/${route}`,
  ),
]
const NAMES = [
  ...[
    'context',
    'polltimeout',
    'client',
    'names',
    'name',
    'prefix',
    'pmids',
    'pmid',
    'indom',
    'instance',
    'iname',
    'match',
    'expr',
    'value',
  ],
  ...[
    'filter',
    'times',
    'target',
    'archive',
    'host',
    'start',
    'finish',
    'points',
    'derive',
    'offset',
    'limit',
    'raw',
    'time',
  ],
]
const VALUES = [
  ...[
    '',
    '0',
    '-1',
    '1e309',
    'NaN',
    '4294967295',
    '29.1',
    '29.0.5',
    '0x740000a',
    '999.999.999',
    'glob',
    'regex',
    'exact',
    'add',
    'del',
  ],
  ...[
    'sample.colour',
    'sample',
    'sample.bin,simple.color',
    'no.such',
    '.',
    '..',
    '*',
    'sample.long.one+1',
    'rate(',
    'a=b;c',
    '0/../etc',
    '%',
    '%00',
    '%ff%fe',
  ],
  ...['(a+)+$', '[', '(((((', 'sample.string.write_me', '0/x', 'local:', '1,2,3', 'red', 'true'],
]

const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.string({ maxLength: 40 }).map(encodeURIComponent) },
)
const parameter = fc
  .tuple(fc.constantFrom(...NAMES), text)
  .map(([name, value]) => `${name}=${value.replace(/[^!-~]/g, '?')}`)
const request = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
  path: fc.oneof(
    fc.constantFrom(...PATHS),
    fc.tuple(fc.constantFrom(...PATHS), fc.webPath({ size: 'small' })).map((parts) => parts.join('')),
  ),
  parameters: fc.array(parameter, { maxLength: 5 }),
  body: fc.option(fc.oneof(fc.string({ maxLength: 60 }), text), { nil: undefined }),
})

interface Answer {
  readonly status: number
  readonly type: string | undefined
  readonly text: string
}

/** Asks on a connection that others have used before: what they left must not be taken for part of it. */
function ask(target: string, method: string, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.proxy.port, path: target, method, agent }
    const message = httpRequest(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, type: response.headers['content-type'], text }),
      )
    })
    message.on('error', reject)
    message.end(body)
  })
}

/** What `request` makes. */
type Asked = typeof request extends fc.Arbitrary<infer T> ? T : never

test('no request gets a 500', async () => {
  const until = Date.now() + SECONDS * 1000
  let count = 0
  const statuses = new Map<number, number>()
  const one = async ({ method, path, parameters, body }: Asked): Promise<void> => {
    if (/^\/ui\/api\/live/.test(path)) return
    const target = `${path}?${parameters.join('&')}`
    const { status, type, text } = await ask(target, method, method === 'POST' ? (body ?? '') : undefined)
    count++
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    expect(status, `${method} ${target}`).toBeLessThan(500)
    if (type === 'application/json' && method !== 'HEAD') JSON.parse(text)
  }
  while (Date.now() < until) {
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: TOGETHER, size: 'max' }),
        async (requests) => {
          await Promise.all(requests.map(one))
        },
      ),
      { numRuns: 200, seed: SEED + count },
    )
  }
  console.log(`${count} requests: ${[...statuses].map(([status, n]) => `${n} × ${status}`).join(', ')}`)
  expect(server.notices.filter((notice) => notice.startsWith('error'))).toEqual([])
  expect(server.proxy.statistics.pages).toBe(0)
})

test('no bytes end it', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .constantFrom(
        'GET / HTTP/1.1\r\n',
        'GET / HTTP/9.9\r\n\r\n',
        'POST /pmapi/store HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nx',
      )
      .map(Buffer.from),
    fc
      .constantFrom(
        'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      )
      .map(Buffer.from),
    fc
      .array(fc.constantFrom('X: y\r\n'), { minLength: 300, maxLength: 300 })
      .map((lines) => Buffer.from(`GET / HTTP/1.1\r\n${lines.join('')}\r\n`)),
    fc.constantFrom('pmproxy-client 1\n\0\n', 'p', '\x16\x03\x01').map(Buffer.from),
  )
  const until = Date.now() + (SECONDS * 1000) / 2
  let count = 0
  while (Date.now() < until)
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        count++
        const socket = connect({ port: server.proxy.port, host: '127.0.0.1' })
        await new Promise<void>((resolve) => {
          socket.once('close', () => resolve()).on('error', () => resolve())
          socket.resume()
          socket.end(sent)
          socket.setTimeout(300, () => resolve())
        })
        socket.destroy()
      }),
      { numRuns: 50, seed: SEED + count },
    )
  expect((await server.ask('/pmapi/fetch?names=sample.long.one')).status).toBe(200)
})
