/** Pages of other origins, and foreign names that resolve to this machine, get nothing from any route. docs/reference/pmproxy.md, docs/explanation/security.md */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

/** Every route, with parameters that make it answer. */
const ROUTES = [
  ...['/pmapi/context', '/pmapi/metric?names=simple.color', '/pmapi/fetch?names=simple.numfetch'],
  ...['/pmapi/_fetch?names=simple.numfetch', '/pmapi/children', '/pmapi/indom?name=simple.color'],
  ...['/pmapi/profile?name=simple.color&expr=add', '/pmapi/derive?name=a.b&expr=simple.numfetch'],
  ...['/pmapi/metrics?names=simple', '/metrics?names=simple', '/pmapi/store?name=simple.numfetch&value=7'],
  ...[
    '/series/ping',
    '/series/query?expr=x',
    '/series/sources?match=x',
    '/search/text?query=x',
    '/search/info',
  ],
  ...['/logger/ping', '/', '/ui', '/ui/', '/ui/assets/x.js', '/ui/api/config', '/ui/api/archives'],
  ...['/ui/api/names?match=simple', '/ui/api/children', '/ui/api/metric?names=simple.color'],
  ...[
    '/ui/api/instances?name=simple.color',
    '/ui/api/check?expr=simple.numfetch',
    '/ui/api/live',
    '/no/such',
  ],
]
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS']
const FOREIGN: readonly Readonly<Record<string, string>>[] = [
  { Origin: 'http://evil.example' },
  { Origin: 'null' },
  { Origin: 'http://localhost:1' },
  { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'GET' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' },
  { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' },
  { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' },
  { Host: 'evil.example:44323' },
  { Host: 'evil.example', Origin: 'http://evil.example', 'Sec-Fetch-Site': 'same-origin' },
  { Host: '127.0.0.1.evil.example' },
  { Host: '127.evil.example' },
  { Host: '192.0.2.7' },
]

let pageDir: string
let server: WebServer
beforeAll(async () => {
  pageDir = mkdtempSync(join(tmpdir(), 'page-'))
  writeFileSync(join(pageDir, 'index.html'), '<p>the page</p>')
  server = await startWebServer(['pmcd', 'simple'], {
    pageDir,
    allowsStore: true,
    archiveDirs: ['test/fixtures'],
  })
})
afterAll(async () => {
  await server.close()
  rmSync(pageDir, { recursive: true })
})

/** Resolves to the status of a WebSocket upgrade: 101, or that of its refusal. */
function upgrade(headers: Readonly<Record<string, string>>, port = server.proxy.port): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ui/api/live`, { headers })
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode!)
      socket.terminate()
    })
    socket.on('error', () => undefined)
    socket.on('open', () => {
      resolve(101)
      socket.terminate()
    })
  })
}

test.each(FOREIGN)(
  '%j gets 403 from every route and method, without a header that permits reading',
  async (headers) => {
    for (const route of ROUTES)
      for (const method of METHODS) {
        const answer = await server.ask(route, { method, headers })
        expect(answer.status, `${method} ${route}`).toBe(403)
        expect(Object.keys(answer.headers).filter((name) => /^access-control/.test(name))).toEqual([])
        expect(answer.text, route).not.toMatch(/simple|the page|numfetch/)
      }
    expect(await upgrade(headers)).toBe(403)
  },
)

test('our own pages and non-browser clients are answered, without CORS headers', async () => {
  const own = `http://127.0.0.1:${server.proxy.port}`
  for (const headers of [
    {},
    { Origin: own, 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
  ] as Record<string, string>[]) {
    for (const route of ROUTES) {
      const answer = await server.ask(route, { headers })
      expect(answer.status, route).not.toBe(403)
      expect(Object.keys(answer.headers).filter((name) => /^access-control/.test(name))).toEqual([])
      if (answer.status === 200)
        expect(answer.headers['cross-origin-resource-policy'], route).toBe('same-origin')
    }
    expect(await upgrade(headers)).toBe(101)
  }
})

test('a link on another site opens the page, and nothing else', async () => {
  const headers = {
    'Sec-Fetch-Site': 'cross-site',
    'Sec-Fetch-Mode': 'navigate',
    'Sec-Fetch-Dest': 'document',
  }
  for (const route of ROUTES) {
    const { status } = await server.ask(route, { headers })
    const isPage = /^\/(?:ui\/?|ui\/assets\/.*)?$/.test(route)
    expect(status === 403, route).toBe(!isPage)
  }
  const { headers: sent } = await server.ask('/ui/', { headers })
  expect(sent['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(sent['cross-origin-opener-policy']).toBe('same-origin')
})

test('a browser request without an origin cannot store', async () => {
  const target = '/pmapi/store?name=simple.numfetch&value=7'
  const agent = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36' }
  const own = `http://127.0.0.1:${server.proxy.port}`
  for (const [headers, isStored] of [
    [agent, false],
    [{ ...agent, Referer: `${own}/ui/` }, false],
    [{ ...agent, Origin: own }, true],
    [{ ...agent, 'Sec-Fetch-Site': 'same-origin' }, true],
    [{ 'User-Agent': 'curl/8.5.0' }, true],
    [{}, true],
  ] as [Record<string, string>, boolean][])
    for (const method of ['GET', 'POST']) {
      const { text } = await server.ask(target, { method, headers })
      expect(text.includes('"success":true'), JSON.stringify(headers)).toBe(isStored)
      if (!isStored) expect(text).toContain('PM_ERR_PERMISSION')
    }
})

describe('with an origin in the configuration', () => {
  const origin = 'http://grafana.example:3000'
  let sharing: WebServer
  afterEach(() => sharing.close())

  test('its pages can read values of the REST API, but not store or read archives', async () => {
    sharing = await startWebServer(['pmcd', 'simple'], {
      origins: [origin],
      allowsStore: true,
      archiveDirs: ['test/fixtures'],
    })
    const headers = { Origin: origin, 'Sec-Fetch-Site': 'cross-site' }
    const found = await sharing.ask('/pmapi/fetch?names=simple.numfetch', { headers })
    expect(found.status).toBe(200)
    expect(found.headers['access-control-allow-origin']).toBe(origin)
    expect(found.headers.vary).toContain('Origin')
    const preflight = await sharing.ask('/pmapi/fetch', {
      method: 'OPTIONS',
      headers: { ...headers, 'Access-Control-Request-Method': 'GET' },
    })
    expect(preflight.headers['access-control-allow-origin']).toBe(origin)
    expect((await sharing.ask('/pmapi/store?name=simple.numfetch&value=7', { headers })).status).toBe(403)
    const { archives } = await sharing.json<{ archives: { id: string }[] }>('/ui/api/archives')
    const archive = `/pmapi/context?archive=${archives[0]!.id}`
    expect((await sharing.ask(archive)).status).toBe(200)
    expect((await sharing.ask(archive, { headers })).status).toBe(403)
    for (const route of ROUTES.filter((each) => /^\/(?:ui|$)/.test(each)))
      expect((await sharing.ask(route, { headers })).status, route).toBe(403)
    for (const other of FOREIGN)
      expect((await sharing.ask('/pmapi/fetch?names=simple.numfetch', { headers: other })).status).toBe(403)
    // An image on another page has no origin that could be configured.
    expect(
      (
        await sharing.ask('/metrics', {
          headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' },
        })
      ).status,
    ).toBe(403)
  })

  test('its pages can use their own contexts, but not guess others by number', async () => {
    sharing = await startWebServer(['pmcd', 'simple'], {
      origins: [origin, 'http://other.example'],
      archiveDirs: ['test/fixtures'],
    })
    const { archives } = await sharing.json<{ archives: { id: string }[] }>('/ui/api/archives')
    const make = async (target: string, headers = {}): Promise<number> =>
      JSON.parse((await sharing.ask(`${target}polltimeout=60`, { headers })).text).context as number
    const use = async (id: number, headers = {}): Promise<number> =>
      (await sharing.ask(`/pmapi/${id}/children`, { headers })).status
    const headers = { Origin: origin }
    for (const target of [`/pmapi/context?archive=${archives[0]!.id}&`, '/pmapi/context?hostspec=local:&']) {
      const id = await make(target)
      expect(await use(id), target).toBe(200)
      expect(await use(id, headers), target).not.toBe(200)
    }
    const id = await make('/pmapi/context?', headers)
    expect(await use(id, headers)).toBe(200)
    expect(await use(id, { Origin: 'http://other.example' })).not.toBe(200)
  })

  test('a name in the configuration is accepted as this machine', async () => {
    sharing = await startWebServer(['pmcd', 'simple'], { names: ['pcp.example.com'] })
    const status = async (Host: string): Promise<number> =>
      (await sharing.ask('/metrics', { headers: { Host } })).status
    expect(await status('PCP.example.com:443')).toBe(200)
    const refused = await sharing.ask('/metrics', { headers: { Host: 'other.example:443' } })
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('names = other.example in [ui] of pmproxy.conf')
    await status('other.example:443')
    const logged = (): readonly string[] => sharing.notices.filter((line) => line.includes('names ='))
    expect(logged()).toEqual([
      expect.stringMatching(/^warning: .*add names = other\.example in \[ui\] of pmproxy\.conf$/),
    ])
    for (let i = 0; i < 100; i++) await status(`h${i}.example`)
    expect(logged()).toHaveLength(32)
    expect(await upgrade({ Host: 'live.example' }, sharing.proxy.port)).toBe(403)
    expect(
      await upgrade({ Host: 'pcp.example.com', Origin: 'https://pcp.example.com' }, sharing.proxy.port),
    ).toBe(101)
  })
})
