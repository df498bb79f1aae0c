/** Who may ask pmproxy, and how it is encrypted. docs/pmproxy.md, docs/security.md */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test('user and password of a request are those the collector asks for', async () => {
  const verifier = await makeVerifier('secret')
  const security = {
    requiresUser: true,
    findVerifier: (user: string) => (user === 'fred' ? verifier : undefined),
  }
  server = await startWebServer(['pmcd', 'simple'], {}, { security })
  const target = '/pmapi/fetch?names=simple.numfetch'
  expect((await server.ask(target, basic('fred:wrong'))).status).toBe(400)
  const good = await server.ask(target, basic('fred:secret'))
  expect(good.status).toBe(200)
  // What one user has made is not there for another.
  const { context } = JSON.parse(good.text) as { context: number }
  expect(
    (await server.ask(`/pmapi/${context}/fetch?names=simple.numfetch`, basic('fred:secret'))).status,
  ).toBe(200)
  expect((await server.ask(`/pmapi/${context}/fetch?names=simple.numfetch`, basic('bob:x'))).text).toContain(
    'unknown context',
  )
})

test('with -S requests without a user get 403', async () => {
  server = await startWebServer(['pmcd', 'simple'], { requiresUser: true })
  expect((await server.ask('/pmapi/context')).status).toBe(403)
  expect((await server.ask('/metrics')).status).toBe(403)
  for (const path of ['names', 'config', 'archives', 'range?archive=0/x'])
    expect((await server.ask(`/ui/api/${path}`)).status, path).toBe(401)
  // This collector knows nobody, so a name alone does not help.
  expect((await server.ask('/ui/api/archives', basic('fred:secret'))).status).toBe(400)
  expect((await server.ask('/pmapi/context?archive=0/x', basic('fred:secret'))).status).toBe(400)
  const socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  expect(
    await new Promise<string>((resolve) => socket.once('error', ({ message }) => resolve(message))),
  ).toContain('401')
})

test('only hosts on the list may be asked', async () => {
  server = await startWebServer(['pmcd', 'simple'], { hosts: ['localhost'] })
  expect((await server.ask('/pmapi/context')).status).toBe(200)
  for (const host of [
    '127.0.0.1',
    'unix:/etc/passwd',
    'local:',
    'localhost:1',
    'localhost?username=x&password=y',
  ])
    expect((await server.ask(`/pmapi/context?hostspec=${encodeURIComponent(host)}`)).status, host).toBe(403)
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
