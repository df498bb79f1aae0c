/** TLS and authentication between our clients and our collector. docs/explanation/security.md */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { buildAccess } from '../../src/net/access/table.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { formatUsers } from '../../src/net/sasl/user-file.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import { type ClientRequirements, processSecurity } from '../../src/pmcd/security.ts'
import { parseAccessFile } from '../../src/routing/pmcd-conf.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'
import { encodeAttr, PCP_ATTR_CONTAINER, PCP_ATTR_NONE } from '../../src/wire/attr.ts'
import {
  encodeCreds,
  PDU_FLAG_AUTH,
  PDU_FLAG_CONTAINER,
  PDU_FLAG_CREDS_REQD,
  PDU_FLAG_SECURE,
  PDU_FLAG_SECURE_ACK,
} from '../../src/wire/creds.ts'
import { decodeError } from '../../src/wire/error.ts'
import { Framer } from '../../src/wire/framer.ts'
import { encodePmnsTraverse } from '../../src/wire/pmns.ts'
import { canMakeCertificates, makeAuthority, makeCertificate, writeTlsConf } from '../lib/certificates.ts'

const hasOpenssl = canMakeCertificates()
if (!hasOpenssl) console.log('security tests skipped: no openssl command to create certificates')

const VERSION = pmid(2, 0, 7)
const ME = userInfo().username
const REMOTE = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && each.family === 'IPv4' && !each.internal)?.address

let dir: string
let collector: Collector | undefined
const sources: HostSource[] = []
const lines: string[] = []
const file = (name: string): string => join(dir, name)

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-security-'))
  const users = new Map([
    [ME, await makeVerifier('secret')],
    ['ghost', await makeVerifier('boo')],
  ])
  writeFileSync(file('passwd.conf'), formatUsers(users))
  if (!hasOpenssl) return
  makeAuthority(dir, 'ca')
  makeAuthority(dir, 'other')
  makeCertificate(dir, 'server', 'ca', `DNS:localhost${REMOTE === undefined ? '' : `,IP:${REMOTE}`}`)
  makeCertificate(dir, 'client', 'ca', 'DNS:client')
  makeCertificate(dir, 'stranger', 'other', 'DNS:localhost')
  const server = { 'cert-file': file('server.crt'), 'key-file': file('server.key') }
  const ca = { 'ca-cert-file': file('ca.crt') }
  writeTlsConf(file('server.conf'), { ...server, ...ca })
  writeTlsConf(file('strict.conf'), { ...server, ...ca, 'verify-clients': 'true' })
  writeTlsConf(file('no-ca.conf'), server)
  writeTlsConf(file('client.conf'), ca)
  writeTlsConf(file('other.conf'), { 'ca-cert-file': file('other.crt') })
  writeTlsConf(file('known.conf'), {
    ...ca,
    'client-cert-file': file('client.crt'),
    'client-key-file': file('client.key'),
  })
  writeTlsConf(file('forged.conf'), {
    ...ca,
    'client-cert-file': file('stranger.crt'),
    'client-key-file': file('stranger.key'),
  })
  writeTlsConf(file('no-key.conf'), { ...server, 'key-file': file('nosuch.key') })
})
afterEach(async () => {
  for (const source of sources.splice(0)) await source.close()
  await collector?.close()
  collector = undefined
  lines.length = 0
})
afterAll(() => rmSync(dir, { recursive: true }))

const log: Log = {
  ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
  notice: (level, text) => lines.push(`${level}: ${text}`),
  line: (text) => lines.push(text),
}

async function start(
  tlsConf: string,
  demands: ClientRequirements = {},
  options: Partial<CollectorOptions> = {},
): Promise<number> {
  const variables = { PCP_TLSCONF_PATH: file(tlsConf), PCP_SYSCONF_DIR: dir }
  collector = await startCollector({
    agents: builtinAgents(['pmcd']),
    ports: [0],
    socketPath: file('socket'),
    hostname: 'vm',
    log,
    security: processSecurity(variables, log, demands),
    ...options,
  })
  return collector.port
}

/** Connects and fetches a value; rejects with the reason of a failure. */
async function ask(spec: string, tlsConf = 'client.conf'): Promise<HostSource> {
  const source = await HostSource.connect(spec, { env: { PCP_TLSCONF_PATH: file(tlsConf) } })
  sources.push(source)
  const { sets } = await source.fetch([VERSION], { requester: ANONYMOUS })
  expect(sets[0]!.status).toBe(1)
  return source
}

/** Sends PDUs over a raw connection; resolves to the statuses received when it ends. */
function talk(port: number, host: string, ...pdus: Uint8Array[]): Promise<number[]> {
  const statuses: number[] = []
  const framer = new Framer((pdu) => statuses.push(decodeError(pdu).status))
  return new Promise((resolve) => {
    const socket = connect(port, host)
    socket.on('data', (chunk) => framer.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(statuses))
    for (const pdu of pdus) socket.write(pdu)
  })
}

describe.skipIf(!hasOpenssl)('TLS', () => {
  test('a client gets it on request, and the collector is verified by its certificate', async () => {
    const port = await start('server.conf')
    const { features } = await ask(`pcps://localhost:${port}`)
    expect(features).toBe(0x0e55)
    await ask(`localhost:${port}?secure=relaxed`)
    await ask(`127.0.0.1:${port}?secure`, 'no-ca.conf')
    await ask(`unix:/${file('socket')}?secure`)
    await ask(`localhost:${port}`)
  })

  test('a large reply arrives completely, and many concurrent requests are answered in order', async () => {
    const port = await start('server.conf', {}, { agents: builtinAgents(['pmcd', 'simple', 'linux']) })
    const source = await ask(`pcps://localhost:${port}`)
    const names = await source.traverse('', { requester: ANONYMOUS })
    const ids = await source.lookupNames(names, { requester: ANONYMOUS })
    const several = Array.from({ length: 50 }, (_, i) =>
      source.fetch([...(ids as number[]).slice(i), VERSION], { requester: ANONYMOUS }),
    )
    const results = await Promise.all(several)
    expect(results.map(({ sets }) => sets.length)).toEqual(results.map((_, i) => ids.length - i + 1))
  })

  test.each([
    ['other.conf', 'localhost', /not signed by .*other\.crt/],
    ['client.conf', '127.0.0.2', /another host/],
    ['no-key.conf', 'localhost', undefined],
  ])('a client with %s at %s: %s', async (conf, host, problem) => {
    const port = await start('server.conf')
    const asked = ask(`pcps://${host}:${port}`, conf)
    if (problem === undefined) await asked
    else
      await expect(asked).rejects.toMatchObject({
        code: 'PM_ERR_TLS',
        message: expect.stringMatching(problem),
      })
  })

  test("a collector without certificates offers no TLS, and the client's error has the remedy", async () => {
    const port = await start('no-key.conf')
    expect(lines.join()).toMatch(/error: Cannot read .*nosuch\.key: .*not encrypted/)
    await expect(ask(`pcps://localhost:${port}`)).rejects.toMatchObject({ code: 'ENOTSUP' })
    const { features } = await ask(`localhost:${port}?secure=relaxed`)
    expect(features).toBe(0x0e44)
  })

  test('tls-verify-clients requires a certificate of every client with TLS', async () => {
    const port = await start('strict.conf')
    await ask(`pcps://localhost:${port}`, 'known.conf')
    await ask(`localhost:${port}`)
    for (const conf of ['client.conf', 'forged.conf'])
      await expect(ask(`pcps://localhost:${port}`, conf)).rejects.toMatchObject({
        code: 'PM_ERR_NEEDCLIENTCERT',
      })
  })

  test.skipIf(REMOTE === undefined)('-Q requires TLS and a certificate of remote clients', async () => {
    const port = await start('server.conf', { requiresCertificate: true })
    await ask(`localhost:${port}`)
    await ask(`pcps://localhost:${port}`)
    await ask(`unix:/${file('socket')}`)
    await ask(`pcps://${REMOTE}:${port}`, 'known.conf')
    for (const conf of ['client.conf', 'forged.conf'])
      await expect(ask(`pcps://${REMOTE}:${port}`, conf)).rejects.toMatchObject({
        code: 'PM_ERR_NEEDCLIENTCERT',
      })
    await expect(ask(`${REMOTE}:${port}`)).rejects.toMatchObject({ code: 'PM_ERR_NEEDCLIENTCERT' })
    expect(await talk(port, REMOTE!, encodeCreds(0), encodePmnsTraverse(''))).toEqual([0, -12408])
  })

  test('-Q without a CA does not start', async () => {
    await expect(start('no-ca.conf', { requiresCertificate: true })).rejects.toMatchObject({
      code: 'PM_ERR_TLS',
    })
  })

  test.each([
    ['with an acknowledgement', PDU_FLAG_SECURE_ACK],
    ['without one', 0],
  ])('the TLS handshake may follow CREDS in the same chunk, %s', async (_what, ack) => {
    const port = await start('server.conf')
    const socket = await challenged(port)
    // Sent before the first bytes of TLS, in one write with them.
    let first = encodeCreds(PDU_FLAG_SECURE | ack)
    if (ack !== 0) {
      socket.write(first)
      first = new Uint8Array(0)
      expect(decodeError(await nextChunk(socket)).status).toBe(0)
    }
    const pipe = new Duplex({
      read: () => undefined,
      write: (chunk, _encoding, done) => {
        socket.write(Buffer.concat([first, chunk]), done)
        first = new Uint8Array(0)
      },
    })
    socket.on('data', (chunk) => pipe.push(chunk)).resume()
    const secure = connectTls({ socket: pipe, rejectUnauthorized: false })
    await new Promise((resolve, reject) => secure.once('secureConnect', resolve).once('error', reject))
    secure.write(encodePmnsTraverse('pmcd.version'))
    const reply = await new Promise<Buffer>((resolve) => secure.once('data', resolve))
    expect(reply.readUInt32BE(4)).toBe(0x700e)
    secure.destroy()
    socket.destroy()
  })

  test('a client that stops in the middle of the handshake is dropped', async () => {
    const port = await start('server.conf', {}, { handshakeMs: 1000 })
    const socket = await challenged(port)
    socket.write(encodeCreds(PDU_FLAG_SECURE))
    await new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined))
    await ask(`pcps://localhost:${port}`)
  })

  test('garbage instead of the handshake ends only that connection', async () => {
    const port = await start('server.conf')
    const socket = await challenged(port)
    socket.write(Buffer.concat([encodeCreds(PDU_FLAG_SECURE), Buffer.alloc(2000, 'x')]))
    await new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined))
    await ask(`pcps://localhost:${port}`)
  })

  test('certificates are reread with the configuration', async () => {
    writeTlsConf(file('changing.conf'), {})
    const port = await start('changing.conf')
    await expect(ask(`pcps://localhost:${port}`)).rejects.toMatchObject({ code: 'ENOTSUP' })
    writeTlsConf(file('changing.conf'), { 'cert-file': file('server.crt'), 'key-file': file('server.key') })
    await collector!.reconfigure()
    await ask(`pcps://localhost:${port}`)
    writeTlsConf(file('changing.conf'), { 'cert-file': file('nosuch.crt'), 'key-file': file('server.key') })
    await collector!.reconfigure()
    expect(lines.join()).toMatch(/Certificates left unchanged: Cannot read .*nosuch\.crt/)
    await ask(`pcps://localhost:${port}`)
  })
})

/** Returns a raw connection after the challenge. */
async function challenged(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await nextChunk(socket)
  return socket
}

function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve) => {
    socket.once('data', (chunk) => {
      socket.pause()
      resolve(chunk)
    })
    socket.resume()
  })
}

describe('authentication', () => {
  const me = `username=${ME}&password=secret`

  test('a user authenticates by SCRAM on any connection, by PLAIN on a private one', async () => {
    const port = await start('nosuch.conf')
    await ask(`localhost:${port}?${me}`)
    await ask(`localhost:${port}?${me}&method=scram-sha-256`)
    await ask(`unix:/${file('socket')}?${me}&method=plain`)
    await ask(`localhost:${port}?${me}&container=box`)
    await expect(ask(`localhost:${port}?${me}&method=plain`)).rejects.toMatchObject({
      status: -21348,
    })
  })

  test('failed clients get an error and are disconnected, and are logged once', async () => {
    const port = await start('nosuch.conf')
    for (const query of [`username=${ME}&password=wrong`, 'username=nobody-at-all&password=secret'])
      for (const host of [`localhost:${port}?${query}`, `unix:/${file('socket')}?${query}&method=plain`])
        await expect(ask(host), host).rejects.toMatchObject({ status: -21357 })
    const told = lines.filter((line) => line.includes('Authentication of a client'))
    expect(told).toEqual([
      expect.stringMatching(/from (::1|127\.0\.0\.1) failed: Wrong name or password: /),
      `warning: Authentication of a client from this host failed: Wrong name or password: "${ME}"`,
    ])
  })

  test('the final error arrives, whatever the client has sent meanwhile', async () => {
    const port = await start('nosuch.conf', { requiresUser: true })
    const requests = Array.from({ length: 200 }, () => encodePmnsTraverse('pmcd'))
    for (let i = 0; i < 20; i++)
      expect(await talk(port, '127.0.0.1', encodeCreds(0), ...requests)).toEqual([0, -12387])
  })

  test('-S admits only clients that authenticate', async () => {
    const port = await start('nosuch.conf', { requiresUser: true })
    const { features } = await ask(`localhost:${port}?${me}`)
    expect(features).toBe(0x0e4c)
    await expect(ask(`localhost:${port}`)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
    expect(await talk(port, '127.0.0.1', encodeCreds(0), encodePmnsTraverse(''))).toEqual([0, -12387])
    await ask(`unix:/${file('socket')}?${me}`)
    // Here the kernel does not identify the peer.
    await expect(ask(`unix:/${file('socket')}`)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  })

  test("-S accepts the kernel's identification on a unix socket", async () => {
    const peerCredentials = { of: () => ({ uid: 12, gid: 34 }), problem: () => undefined }
    await start('nosuch.conf', { requiresUser: true }, { peerCredentials })
    await ask(`unix:/${file('socket')}`)
  })

  test('access rules apply to the authenticated user', async () => {
    const uid = process.getuid?.() ?? 0
    const rules = `allow user ${ME} : fetch;\ndisallow user * : all;\n`
    const { table } = await buildAccess(parseAccessFile(rules).access, {
      addressesOf: async () => [],
      ownAddresses: () => ['127.0.0.1', '::1'],
      accounts: () => ({
        userId: (name) => (name === ME ? uid : undefined),
        groupId: () => undefined,
        membersOf: () => [],
      }),
    })
    const port = await start('nosuch.conf', {}, { access: table })
    await ask(`localhost:${port}?${me}`)
    await expect(ask(`localhost:${port}?username=ghost&password=boo`)).rejects.toMatchObject({
      code: 'PM_ERR_PERMISSION',
      message: expect.stringMatching(/this user has no permission/),
    })
    await expect(ask(`localhost:${port}`)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
    expect(table.rules('user').map(({ current }) => current)).toEqual([1, 1])
  })

  test('requests after the last message wait for the result', async () => {
    const port = await start('nosuch.conf', { requiresUser: true })
    const plain = encodeAttr(PCP_ATTR_NONE, 'NOSUCH\0')
    const framed: number[] = []
    await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      const framer = new Framer((pdu) => framed.push(new DataView(pdu.buffer, pdu.byteOffset).getUint32(4)))
      socket.on('data', (chunk) => framer.push(chunk)).on('close', resolve)
      socket.write(Buffer.concat([encodeCreds(PDU_FLAG_AUTH), plain, encodePmnsTraverse('')]))
    })
    expect(framed).toEqual([0x7000, 0x7011, 0x7000])
  })

  test.each([
    ['CREDS twice', [encodeCreds(PDU_FLAG_AUTH), encodeCreds(0)], [0x7000, 0x7011, 0x7000]],
    ['CREDS that demand users and name none', [encodeCreds(PDU_FLAG_CREDS_REQD)], [0x7000, 0x7011, 0x7000]],
    [
      'a container instead of a user',
      [encodeCreds(PDU_FLAG_AUTH | PDU_FLAG_CONTAINER), encodeAttr(PCP_ATTR_CONTAINER, 'box')],
      [0x7000, 0x7011, 0x7000],
    ],
    ['CREDS without a version', [encodeCreds(0, 0, 0)], [0x7000]],
    ['encryption that is not offered', [encodeCreds(PDU_FLAG_SECURE | PDU_FLAG_AUTH)], [0x7000, 0x7000]],
    ['no CREDS', [], [0x7000]],
  ])('-S cannot be bypassed by %s', async (_what, pdus, types) => {
    const port = await start('nosuch.conf', { requiresUser: true })
    const got: number[] = []
    await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      const framer = new Framer((pdu) => got.push(new DataView(pdu.buffer, pdu.byteOffset).getUint32(4)))
      socket.on('data', (chunk) => framer.push(chunk)).on('close', resolve)
      socket.write(Buffer.concat([...pdus, encodePmnsTraverse('')]))
    })
    expect(got).toEqual(types)
  })
})
