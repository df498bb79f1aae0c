/** Access control and encryption of pmproxy. docs/reference/pmproxy.md, docs/explanation/security.md */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { tlsServer } from '../../src/net/tls.ts'
import { parseTlsConfig } from '../../src/net/tls-config.ts'
import { canMakeCertificates, makeAuthority, makeCertificate } from '../lib/certificates.ts'
import { startWebServer, type WebServer } from '../lib/web-server.ts'

let dir: string
let server: WebServer | undefined
const hasOpenssl = canMakeCertificates()
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmproxy-tls-'))
  if (!hasOpenssl) return
  makeAuthority(dir, 'ca')
  makeCertificate(dir, 'server', 'ca', 'DNS:localhost,IP:127.0.0.1')
  makeCertificate(dir, 'client', 'ca', 'DNS:client')
})
afterEach(async () => {
  await server?.close()
  server = undefined
})
afterAll(() => rmSync(dir, { recursive: true }))

const basic = (text: string): { headers: { Authorization: string } } => ({
  headers: { Authorization: `Basic ${Buffer.from(text).toString('base64')}` },
})

test('user and password of a request are passed to the collector', async () => {
  const verifier = await makeVerifier('secret')
  const security = {
    requiresUser: true,
    findVerifier: (user: string) => (user === 'fred' ? verifier : undefined),
  }
  server = await startWebServer(['pmcd', 'simple'], {}, { security })
  const target = '/pmapi/fetch?names=simple.numfetch'
  expect((await server.ask(target, basic('fred:wrong'))).status).toBe(401)
  const good = await server.ask(target, basic('fred:secret'))
  expect(good.status).toBe(200)
  // Contexts of one user do not exist for another.
  const { context } = JSON.parse(good.text) as { context: number }
  expect(
    (await server.ask(`/pmapi/${context}/fetch?names=simple.numfetch`, basic('fred:secret'))).status,
  ).toBe(200)
  for (const other of ['bob:x', 'fred:wrong'])
    expect(
      (await server.ask(`/pmapi/${context}/fetch?names=simple.numfetch`, basic(other))).text,
      other,
    ).toContain('unknown context')
})

test('with -S requests without a user get 403', async () => {
  server = await startWebServer(['pmcd', 'simple'], { requiresUser: true })
  expect((await server.ask('/pmapi/context')).status).toBe(403)
  expect((await server.ask('/metrics')).status).toBe(403)
  for (const path of ['names', 'config', 'archives', 'range?archive=0/x'])
    expect((await server.ask(`/ui/api/${path}`)).status, path).toBe(401)
  // This collector has no users, so a name alone does not help.
  expect((await server.ask('/ui/api/archives', basic('fred:secret'))).status).toBe(400)
  expect((await server.ask('/pmapi/context?archive=0/x', basic('fred:secret'))).status).toBe(400)
  const socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  expect(
    await new Promise<string>((resolve) => socket.once('error', ({ message }) => resolve(message))),
  ).toContain('401')
})

test('only listed hosts may be contacted', async () => {
  server = await startWebServer(['pmcd', 'simple'], { hosts: ['localhost'] })
  for (const host of ['localhost', '127.0.0.1', 'local:'])
    expect((await server.ask(`/pmapi/context?hostspec=${encodeURIComponent(host)}`)).status, host).toBe(200)
  for (const host of ['unix:/etc/passwd', 'db1', 'localhost:1', 'localhost@db1'])
    expect((await server.ask(`/pmapi/context?hostspec=${encodeURIComponent(host)}`)).status, host).toBe(403)
})

test("no socket paths are tried except the collector's", async () => {
  server = await startWebServer(['pmcd', 'simple'])
  for (const host of ['unix:/etc/passwd', 'unix:///no/such', 'local:/etc', './x', '/etc'])
    expect((await server.ask(`/pmapi/context?hostspec=${encodeURIComponent(host)}`)).text, host).toMatch(
      /PM_ERR_(PERMISSION|NOTHOST)/,
    )
  for (const host of ['unix:', 'local:', `unix:/${server.dir}/pmcd.socket`])
    expect((await server.ask(`/pmapi/context?hostspec=${encodeURIComponent(host)}`)).status, host).toBe(200)
})

test('pages of other origins cannot store, even where stores are allowed', async () => {
  server = await startWebServer(['pmcd', 'sample'], { allowsStore: true })
  const target = '/pmapi/store?name=sample.write_me&value='
  const foreign = [
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { Host: 'evil.example' },
  ]
  for (const headers of foreign)
    for (const method of ['GET', 'POST'])
      expect((await server.ask(`${target}77`, { method, headers })).status, JSON.stringify(headers)).toBe(403)
  expect((await server.ask('/pmapi/fetch?names=sample.write_me')).text).not.toContain('"value":77')
  const own = `http://127.0.0.1:${server.proxy.port}`
  expect((await server.ask(`${target}78`, { headers: { Origin: own } })).status).toBe(200)
  expect((await server.ask('/pmapi/fetch?names=sample.write_me')).text).toContain('"value":78')
})

test('over loopback a request must use a name of this machine, or a configured one', async () => {
  server = await startWebServer(['pmcd', 'simple'], { names: ['pcp.example.com'] })
  const status = async (Host: string): Promise<number> =>
    (await server!.ask('/ui/api/config', { headers: { Host } })).status
  for (const host of ['localhost:1', '[::1]:44323', '127.0.0.1', 'PCP.example.com:443'])
    expect(await status(host), host).toBe(200)
  expect(await status('evil.example')).toBe(403)
})

test('definitions are limited per context and in total', async () => {
  server = await startWebServer(['pmcd', 'sample'])
  const context = async (): Promise<number> =>
    (await server!.json<{ context: number }>('/pmapi/context?polltimeout=100')).context
  const define = (id: number, body: string) => server!.ask(`/pmapi/${id}/derive`, { method: 'POST', body })
  // The largest number of operators in a row, which is long enough.
  const long = `${'1.00000+'.repeat(1999)}1`
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, i) => `a.b${i} = ${long}\n`).join('')
  const id = await context()
  expect((await define(id, lines(17))).text).toContain('E2BIG')
  expect((await define(id, `a.c = ${long}\n`)).text).toContain('E2BIG')
  // An invalid definition does not count.
  const other = await context()
  for (let i = 0; i < 20; i++) expect((await define(other, `a.b = 1+no.such\n`)).status).toBe(400)
  expect((await define(other, lines(16))).status).toBe(200)
  const small = await context()
  const many = Array.from({ length: 1000 }, (_, i) => `a.b${i} = 1\n`).join('')
  expect((await define(small, many)).status).toBe(200)
  expect((await define(small, 'a.c = 1\n')).text).toContain('Too many per-context derived metrics')
})

test('a profile never exceeds what a collector accepts', async () => {
  server = await startWebServer(['pmcd', 'sample'])
  const { context } = await server.json<{ context: number }>('/pmapi/context?polltimeout=100')
  const list = Array.from({ length: 1200 }, (_, i) => i).join(',')
  const statuses = new Set<number>()
  for (let i = 1; i <= 10; i++)
    statuses.add(
      (await server.ask(`/pmapi/${context}/profile?expr=add&indom=29.${i}&instance=${list}`)).status,
    )
  expect(statuses).toEqual(new Set([200, 400]))
  expect((await server.ask(`/pmapi/${context}/fetch?names=sample.colour`)).status).toBe(200)
})

test('contexts on archives are few, and unused ones are closed for new ones', async () => {
  server = await startWebServer(['pmcd'], { archiveDirs: ['test/fixtures'] })
  const { archives } = await server.json<{ archives: { id: string; bytes: number }[] }>('/ui/api/archives')
  const [small] = archives.sort((a, b) => a.bytes - b.bytes)
  const target = `/pmapi/context?polltimeout=100&archive=${small!.id}`
  const made: number[] = []
  for (let i = 0; i <= 100; i++) made.push((await server.json<{ context: number }>(target)).context)
  // The first context, which was unused, was closed for the last one.
  const isThere = async (id: number): Promise<boolean> =>
    (await server!.ask(`/pmapi/${id}/children`)).status === 200
  expect(await isThere(made[0]!)).toBe(false)
  for (const id of made.slice(1)) expect(await isThere(id), `${id}`).toBe(true)
  expect((await server.ask(target)).text).toContain('PM_ERR_CONNLIMIT')
  expect((await server.ask('/pmapi/context')).status).toBe(200)
})

test('client input is never copied to a header, and a compressed body is not decompressed', async () => {
  server = await startWebServer(['pmcd', 'simple'])
  const evil = encodeURIComponent('x\r\nX-Evil: 1')
  for (const path of ['/pmapi/context?client=', '/pmapi/', '/ui/', '/', '/pmapi/fetch?names=']) {
    const { headers } = await server.ask(path + evil)
    expect(headers).not.toHaveProperty('x-evil')
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
  const { context } = await server.json<{ context: number }>('/pmapi/context')
  const body = gzipSync(Buffer.alloc(100_000_000, 32))
  const { status } = await server.ask(`/pmapi/${context}/derive`, {
    ...{ method: 'POST', body, headers: { 'Content-Encoding': 'gzip' } },
  })
  expect(status).toBe(400)
})

describe.skipIf(!hasOpenssl)('with a certificate', () => {
  const tls = () =>
    tlsServer(
      parseTlsConfig(
        `tls-cert-file = ${dir}/server.crt\ntls-key-file = ${dir}/server.key\ntls-ca-cert-file = ${dir}/ca.crt\n`,
        'tls.conf',
      ),
    )!

  const askSecurely = (port: number, options: object = {}): Promise<number> =>
    new Promise((resolve, reject) => {
      const ca = readFileSync(join(dir, 'ca.crt'))
      const request = get(
        { host: 'localhost', port, path: '/pmapi/fetch?names=simple.numfetch', ca, agent: false, ...options },
        (response) => {
          response.resume()
          response.on('end', () => resolve(response.statusCode!))
        },
      )
      request.on('error', reject)
    })

  test('one port speaks HTTPS and HTTP', async () => {
    server = await startWebServer(['pmcd', 'simple'], {}, { proxy: { tls: tls() } })
    expect(await askSecurely(server.proxy.port)).toBe(200)
    expect((await server.ask('/pmapi/context')).status).toBe(200)
  })

  test('a failing or stalled handshake ends only its connection', async () => {
    server = await startWebServer(
      ['pmcd', 'simple'],
      {},
      { proxy: { tls: tls(), limits: { firstByteMs: 1000 } } },
    )
    for (const hello of ['\x16\x03\x01', '\x16\x03\x01\x00\x05hello', '\x16nonsense nonsense']) {
      const socket = connect({ host: '127.0.0.1', port: server.proxy.port })
      socket.on('error', () => undefined).resume()
      socket.write(hello, 'latin1')
      await new Promise((resolve) => socket.once('close', resolve))
    }
    const rude = connect({ host: '127.0.0.1', port: server.proxy.port })
    await new Promise<void>((resolve) => rude.write('\x16\x03\x01', 'latin1', () => resolve()))
    rude.resetAndDestroy()
    expect(await askSecurely(server.proxy.port)).toBe(200)
  })

  test('with -Q only clients with a certificate are served', async () => {
    server = await startWebServer(
      ['pmcd', 'simple'],
      {},
      { proxy: { tls: tls(), requiresCertificate: true } },
    )
    const known = { cert: readFileSync(join(dir, 'client.crt')), key: readFileSync(join(dir, 'client.key')) }
    expect(await askSecurely(server.proxy.port, known)).toBe(200)
    await expect(askSecurely(server.proxy.port)).rejects.toThrow()
    await expect(server.ask('/pmapi/context')).rejects.toThrow()
  })
})
