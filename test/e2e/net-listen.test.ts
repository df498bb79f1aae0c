/** Listening and dialing on loopback. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dial } from '../../src/net/dial.ts'
import { parseHostSpec } from '../../src/net/host-spec.ts'
import { type Listeners, listen } from '../../src/net/listen.ts'
import { attrText, decodeAttr } from '../../src/wire/attr.ts'
import { decodeCreds } from '../../src/wire/creds.ts'
import { encodeChallenge } from '../../src/wire/error.ts'
import { PDU_ATTR, PDU_CREDS, pduType } from '../../src/wire/pdu.ts'
import { hasIpv6 } from '../lib/ipv6.ts'
import { fakePmcd, standStill } from '../lib/net-peers.ts'

let dir = ''
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pcp-listen-'))
})
afterAll(() => rmSync(dir, { recursive: true }))

const open: Listeners[] = []
async function listenOn(ports: readonly number[], more: object = {}): Promise<Listeners> {
  const listeners = await listen({ ports, retryMs: 1, onConnection: (socket) => socket.destroy(), ...more })
  open.push(listeners)
  return listeners
}
afterAll(() => Promise.all(open.map((listeners) => listeners.close())))

test('one port chosen by the kernel serves IPv4 and IPv6, and all users may use the unix socket', async () => {
  const socketPath = join(dir, 'both')
  const { endpoints } = await listenOn([0], { localOnly: true, socketPath })
  expect(endpoints.map(({ family }) => family)).toEqual(['unix', 'inet', 'ipv6'])
  expect(endpoints.map(({ address }) => address)).toEqual([socketPath, 'INADDR_LOOPBACK', 'INADDR_LOOPBACK'])
  expect(endpoints[1]!.port).toBeGreaterThan(0)
  if (endpoints[2]!.error === undefined) expect(endpoints[2]!.port).toBe(endpoints[1]!.port)
  expect(endpoints[1]!.fd).toBeGreaterThanOrEqual(0)
  expect(statSync(socketPath).mode & 0o777).toBe(0o666)
})

test('a unix socket is accessible to all from its creation, regardless of the umask', async () => {
  const umask = process.umask(0o077)
  try {
    const socketPath = join(dir, 'moment')
    const listening = listenOn([], { socketPath })
    expect(statSync(socketPath).mode & 0o777).toBe(0o666)
    expect(process.umask()).toBe(0o077)
    await listening
  } finally {
    process.umask(umask)
  }
})

test('a path that is too long for a unix socket is not truncated', async () => {
  const { endpoints } = await listenOn([], { socketPath: join(dir, 'x'.repeat(110)) })
  expect(endpoints[0]!.error!.message).toMatch(/^Cannot listen on .*x: File name too long$/)
  expect(readdirSync(dir).filter((name) => name.startsWith('xx'))).toEqual([])
})

test('an address that this machine lacks is reported, with valid examples', async () => {
  const { endpoints } = await listenOn([0], { addresses: ['non sense', '192.0.2.1'] })
  const told = (i: number): string => endpoints[i]!.error!.message
  for (const [i, address] of [
    [0, 'non sense'],
    [1, '192.0.2.1'],
  ] as const)
    expect(told(i)).toBe(
      `Cannot listen on port 0 (inet, ${address}): Cannot assign requested address; it takes an address of this machine, such as 127.0.0.1 or ::1`,
    )
})

test('a port in use is reported, not thrown', async () => {
  const { endpoints } = await listenOn([0], { addresses: ['127.0.0.1'] })
  const again = await listenOn([endpoints[0]!.port], { addresses: ['127.0.0.1'] })
  expect(again.endpoints.map(({ error }) => error?.code)).toEqual(['EADDRINUSE'])
  expect(again.endpoints[0]!.error!.message).toMatch(/Cannot listen on port \d+ .*another one/)
  expect(again.endpoints[0]!.fd).toBe(-1)
})

test('a repeated port or address is opened once', async () => {
  const probe = await listenOn([0], { addresses: ['127.0.0.1'] })
  const { port } = probe.endpoints[0]!
  await probe.close()
  const { endpoints } = await listenOn([port, port], { addresses: ['127.0.0.1', '127.0.0.1'] })
  expect(endpoints.map(({ error, ...each }) => [each.port, each.address, error])).toEqual([
    [port, '127.0.0.1', undefined],
  ])
  const chosen = await listenOn([0, 0], { addresses: ['127.0.0.1'] })
  expect(new Set(chosen.endpoints.map((each) => each.port)).size).toBe(2)
})

test('an address is only opened in its own family', async () => {
  const { endpoints } = await listenOn([0], { addresses: hasIpv6() ? ['127.0.0.1', '::1'] : ['127.0.0.1'] })
  expect(endpoints.map(({ family, error }) => [family, error])).toEqual([
    ['inet', undefined],
    ...(hasIpv6() ? [['ipv6', undefined]] : []),
  ])
})

test('a stale socket file is replaced; one in use is kept', async () => {
  const socketPath = join(dir, 'stale')
  const first = createServer()
  await new Promise<void>((resolve) => first.listen(socketPath, resolve))
  const taken = await listenOn([], { socketPath })
  expect(taken.endpoints[0]!.error?.code).toBe('EADDRINUSE')
  const alive = connect(socketPath)
  await new Promise((resolve) => alive.once('connect', resolve))
  alive.destroy()
  // A crash leaves the file behind; keep it from being removed by the orderly close.
  const keep = `${socketPath}.keep`
  const { renameSync } = process.getBuiltinModule('node:fs')
  renameSync(socketPath, keep)
  await new Promise((resolve) => first.close(resolve))
  renameSync(keep, socketPath)
  expect((await listenOn([], { socketPath })).endpoints[0]!.error).toBeUndefined()
  const file = join(dir, 'file')
  writeFileSync(file, 'no socket')
  expect((await listenOn([], { socketPath: file })).endpoints[0]!.error).toBeDefined()
})

test('ports are tried in order until one completes the handshake', async () => {
  const mute = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const mutePort = (mute.address() as { port: number }).port
  const pmcd = await fakePmcd(0xe00, () => [])
  const dialed = await dial(parseHostSpec(`127.0.0.1:${mutePort},${pmcd.port}`))
  expect(dialed.address).toBe(`127.0.0.1:${pmcd.port}`)
  expect(dialed.features).toBe(0xe00)
  dialed.connection.destroy()
  mute.close()
  await pmcd.close()
})

test('PMCD_PORT gives the ports, and the last error is thrown', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const port = (closed.address() as { port: number }).port
  await new Promise((resolve) => closed.close(resolve))
  await expect(dial(parseHostSpec('127.0.0.1'), { env: { PMCD_PORT: `${port}` } })).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    message: `127.0.0.1:${port}: Connection refused`,
  })
  await expect(dial(parseHostSpec(`unix:/${dir}/none`))).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(dial(parseHostSpec(''))).rejects.toMatchObject({ code: 'PM_ERR_NOTHOST' })
  await expect(dial(parseHostSpec('h:99999'))).rejects.toMatchObject({ code: 'EINVAL' })
})

test.runIf(hasIpv6())('localhost is whichever loopback address has a listener', async () => {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve))
  const { port } = server.address() as { port: number }
  await expect(dial(parseHostSpec(`localhost:${port}`))).rejects.toMatchObject({ code: 'PM_ERR_EOF' })
  await new Promise((resolve) => server.close(resolve))
  await expect(dial(parseHostSpec(`localhost:${port}`))).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    message: `localhost:${port}: Connection refused`,
  })
})

test('a refused connection gives the reason', async () => {
  const pmcd = await fakePmcd(0, () => [], -12387)
  await expect(dial(parseHostSpec(`127.0.0.1:${pmcd.port}`))).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
  })
  await pmcd.close()
})

test('a silent collector times out', async () => {
  const mute = createServer(() => undefined)
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const { port } = mute.address() as { port: number }
  const env = { PMCD_REQUEST_TIMEOUT: '0.02' }
  await expect(dial(parseHostSpec(`127.0.0.1:${port}`), { env })).rejects.toMatchObject({
    code: 'PM_ERR_TIMEOUT',
  })
  const signal = AbortSignal.timeout(10)
  await expect(dial(parseHostSpec(`127.0.0.1:${port}`), { signal })).rejects.toMatchObject({
    code: 'ECANCELED',
  })
  mute.close()
})

test('a challenge that arrived while this process was stopped is in time', async () => {
  const pmcd = createServer(async (socket) => {
    // Now the challenge is being awaited.
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
    socket.write(encodeChallenge(0))
    standStill(100)
  })
  await new Promise<void>((resolve) => pmcd.listen(0, '127.0.0.1', resolve))
  const { port } = pmcd.address() as { port: number }
  const { connection } = await dial(parseHostSpec(`127.0.0.1:${port}`), {
    env: { PMCD_REQUEST_TIMEOUT: '0.05' },
  })
  connection.destroy()
  pmcd.close()
})

test('a container is announced and named; a collector without containers is refused', async () => {
  const got = new Promise<readonly Uint8Array[]>((resolve) => {
    void fakePmcd(0x40, (_, connection) => {
      connection.destroy()
      resolve(pmcd.got)
      return []
    }).then(async (made) => {
      pmcd = made
      const dialed = await dial(parseHostSpec(`127.0.0.1:${pmcd.port}?container=box`))
      dialed.connection.flush()
    })
  })
  let pmcd: Awaited<ReturnType<typeof fakePmcd>>
  const [creds, attr] = await got
  expect(pduType(creds!)).toBe(PDU_CREDS)
  expect(decodeCreds(creds!)).toEqual([{ type: 1, version: 2, flags: 0x40 }])
  expect(pduType(attr!)).toBe(PDU_ATTR)
  expect(attrText(decodeAttr(attr!))).toBe('box')
  await pmcd!.close()
  const plain = await fakePmcd(0, () => [])
  const env = { PCP_CONTAINER: 'box' }
  await expect(dial(parseHostSpec(`127.0.0.1:${plain.port}`), { env })).rejects.toMatchObject({
    code: 'ENOTSUP',
  })
  await expect(dial(parseHostSpec(`h?container=a b`))).rejects.toMatchObject({ code: 'EINVAL' })
  await plain.close()
})

test('encryption and authentication that are not offered, and compression, are refused', async () => {
  const pmcd = await fakePmcd(0xe00, () => [])
  const host = `127.0.0.1:${pmcd.port}`
  for (const spec of [`pcps://${host}`, `${host}?secure`, `${host}?user=me&password=x`, 'h?compress'])
    await expect(dial(parseHostSpec(spec)), spec).rejects.toMatchObject({ code: 'ENOTSUP' })
  expect(pmcd.got).toEqual([])
  for (const spec of ['h?user=me', 'h?authorise', 'h?password=x'])
    await expect(dial(parseHostSpec(spec)), spec).rejects.toMatchObject({ code: 'EINVAL' })
  await (await dial(parseHostSpec(`${host}?secure=relaxed`))).connection.close()
  await pmcd.close()
})

test('unmet requirements of a collector are reported before anything is sent', async () => {
  const pmcd = await fakePmcd(0xe0c, () => [])
  await expect(dial(parseHostSpec(`127.0.0.1:${pmcd.port}`))).rejects.toMatchObject({
    code: 'PM_ERR_PERMISSION',
    message: expect.stringMatching(/username=NAME/),
  })
  expect(pmcd.got).toEqual([])
  await pmcd.close()
})

test('a proxy forwards after one line each way', async () => {
  const pmcd = await fakePmcd(0xe00, () => [])
  const lines: string[] = []
  const proxy = createServer((socket) => {
    let text = ''
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      if (!text.endsWith('\n')) return
      lines.push(text)
      text = ''
      if (lines.length === 1) socket.write('pmproxy-server 1\n')
      if (lines.length < 2) return
      socket.removeListener('data', read)
      const [host, port] = lines[1]!.trim().split(' ')
      const onward = connect(Number(port), host)
      socket.pipe(onward).pipe(socket)
      onward.on('error', () => socket.destroy())
      socket.on('error', () => onward.destroy())
    }
    socket.on('data', read)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as { port: number }
  const dialed = await dial(parseHostSpec(`127.0.0.1:${pmcd.port}@127.0.0.1:${port}`))
  expect(lines).toEqual(['pmproxy-client 1\n', `127.0.0.1 ${pmcd.port}\n`])
  expect(dialed.features).toBe(0xe00)
  dialed.connection.destroy()
  const notProxy = `127.0.0.1:1@127.0.0.1:${pmcd.port}`
  await expect(dial(parseHostSpec(notProxy))).rejects.toMatchObject({ code: 'PM_ERR_IPC' })
  proxy.close()
  await pmcd.close()
})

test('waiting for a silent proxy ends on abort, and its connection is closed', async () => {
  const proxy = createServer()
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as { port: number }
  const controller = new AbortController()
  const closed = new Promise<void>((resolve) => {
    proxy.on('connection', (socket) => {
      socket.on('data', () => controller.abort()).on('close', () => resolve())
    })
  })
  await expect(
    dial(parseHostSpec(`127.0.0.1:1@127.0.0.1:${port}`), { signal: controller.signal }),
  ).rejects.toMatchObject({ code: 'ECANCELED' })
  await closed
  proxy.close()
})
