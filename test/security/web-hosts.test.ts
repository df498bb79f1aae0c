/** The web side connects only to configured hosts: it cannot be used to scan ports or reach other networks. docs/reference/pmproxy.md */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ByteBudget } from '../../src/base/byte-budget.ts'
import { parseHostSpec } from '../../src/net/host-spec.ts'
import { ArchiveRoots } from '../../src/pmproxy/archives.ts'
import { DEFAULT_CONFIG } from '../../src/pmproxy/config.ts'
import { type WebContext, WebContexts } from '../../src/pmproxy/contexts.ts'
import { HostRules } from '../../src/pmproxy/host-rules.ts'
import { HostConnections } from '../../src/pmproxy/hosts.ts'
import type { WebUser } from '../../src/pmproxy/web-user.ts'
import { startWebServer, type WebAnswer, type WebServer } from '../lib/web-server.ts'

let server: WebServer
/** An unrelated server on this machine. */
let bystander: Server
let visits = 0
let port: number
beforeAll(async () => {
  bystander = createServer((socket) => {
    visits++
    socket.destroy()
  })
  await once(bystander.listen(0, '127.0.0.1'), 'listening')
  port = (bystander.address() as AddressInfo).port
  server = await startWebServer(['pmcd', 'simple'])
})
afterAll(async () => {
  await server.close()
  bystander.close()
})

/** Hosts that the web side must not contact: open ports, closed ones, names that resolve and others. */
const strangers = (): string[] => [
  ...[
    `localhost:${port}`,
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
    'localhost:1',
    '127.0.0.1:1',
    'localhost:22',
  ],
  ...['169.254.169.254:80', '192.0.2.1', 'no.such.example', '0.0.0.0', `0:${port}`, `127.1:${port}`],
  ...[
    `localhost:${server.collector.port},${port}`,
    `localhost@127.0.0.1:${port}`,
    `localhost:${port}@localhost`,
  ],
  ...[
    'unix:/etc/passwd',
    'unix:/no/such',
    'local:/etc/hostname',
    './x',
    '/etc/passwd',
    `pcps://localhost:${port}`,
  ],
]
const hostile = [
  'x\r\ny',
  'localhost\r\nX: 1',
  'local\0host',
  'localhost?container=a%0d%0ab',
  'localhost\x7f',
  '\tlocalhost',
]

/** Returns an answer's text without context numbers. */
const words = ({ status, text }: WebAnswer): string => `${status} ${text}`

test('all routes give the same answer for every host that is not configured, without connecting', async () => {
  for (const route of [
    ...[
      '/pmapi/context?hostspec=',
      '/pmapi/fetch?names=simple.now&hostspec=',
      '/metrics?names=simple&hostspec=',
    ],
    ...['/pmapi/context?hostname=', '/pmapi/context?host=', '/ui/api/names?host=', '/ui/api/children?host='],
    ...[
      '/ui/api/metric?names=x&host=',
      '/ui/api/instances?name=simple.color&host=',
      '/ui/api/check?expr=1&host=',
    ],
  ]) {
    const answers = new Set<string>()
    for (const host of strangers()) answers.add(words(await server.ask(route + encodeURIComponent(host))))
    expect([...answers], route).toHaveLength(1)
    expect([...answers][0], route).toMatch(/^403 .*PM_ERR_PERMISSION/)
  }
  expect(visits).toBe(0)
})

test('so does the live stream', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  await once(socket, 'open')
  const hosts = strangers()
  const messages: string[] = []
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const { code, message } = JSON.parse(String(data)) as { code: string; message: string }
      messages.push(`${code} ${message}`)
      if (messages.length === hosts.length) resolve()
    })
  })
  for (const [i, host] of hosts.entries())
    socket.send(JSON.stringify({ subscribe: `k${i}`, host, every: 1, metrics: ['simple.now'] }))
  await all
  socket.terminate()
  expect([...new Set(messages)]).toEqual([expect.stringContaining('PM_ERR_PERMISSION')])
  expect(visits).toBe(0)
})

/** Returns the reply to a forwarding request in PCP's protocol; '' for nothing after the greeting. */
async function forwarded(line: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: server.proxy.port })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    if (text.length > 'pmproxy-server 1\n'.length) socket.destroy()
  })
  socket.on('error', () => undefined)
  socket.write(`pmproxy-client 1\n${line}\n`)
  await once(socket, 'close')
  return text.replace('pmproxy-server 1\n', '')
}

test('connections are forwarded to our own collector only, and the log explains how to change that', async () => {
  expect(await forwarded(`localhost ${server.collector.port}`)).not.toBe('')
  expect(await forwarded(`127.0.0.1 ${server.collector.port}`)).not.toBe('')
  for (const line of [
    `localhost ${port}`,
    `127.0.0.1 ${port}`,
    `::1 ${port}`,
    `0 ${port}`,
    'db1 44321',
    'localhost 22',
  ])
    expect(await forwarded(line), line).toBe('')
  expect(visits).toBe(0)
  expect(server.notices.join('\n')).toMatch(
    /Refused to forward a connection to db1:44321; to allow it, add it to hosts in \[ui\]/,
  )
})

test('control characters are refused in every name', async () => {
  for (const host of hostile) {
    expect(() => parseHostSpec(host), JSON.stringify(host)).toThrow(/control characters/)
    for (const route of ['/pmapi/context?hostspec=', '/ui/api/names?host=']) {
      const answer = await server.ask(route + encodeURIComponent(host))
      expect(answer.status, JSON.stringify(host)).toBe(400)
      expect(Object.keys(answer.headers)).not.toContain('x')
    }
  }
  for (const name of [
    'names',
    'name',
    'pmid',
    'iname',
    'prefix',
    'target',
    'filter',
    'match',
    'context',
    'archive',
    'polltimeout',
  ]) {
    const answer = await server.ask(`/pmapi/fetch?names=simple.now&${name}=a%0d%0ab%1b[2J`)
    expect(answer.status, name).toBe(400)
    expect(answer.text, name).not.toContain('\x1b')
  }
})

describe('connections of one client', () => {
  /** Users of requests from these addresses. */
  const from = (address: string): WebUser => ({ kind: 'unknown', from: address })
  const spellings = ['userid', 'groupid', 'processid', 'local', 'unixsock', 'exclusive', 'realm', 'compress']
  let hosts: HostConnections
  let name: string
  let env: Record<string, string>
  beforeEach(() => {
    name = `localhost:${server.collector.port}`
    env = { PMCD_PORT: String(server.collector.port), PMCD_SOCKET: `${server.dir}/pmcd.socket` }
    hosts = new HostConnections(env, new HostRules(env, DEFAULT_CONFIG))
  })
  afterEach(() => hosts.close())

  test('are not multiplied by meaningless attributes or other spellings', async () => {
    for (const attribute of spellings)
      await expect(hosts.lease(`${name}?${attribute}=1`), attribute).rejects.toMatchObject({
        code: 'EINVAL',
      })
    const { port } = server.collector
    for (const same of [name, `LocalHost:${port}`, `${name},${port}`, 'localhost', `pcp://${name}`])
      await hosts.lease(same)
    expect(hosts.count).toBe(1)
  })

  test('are limited, which leaves room for others', async () => {
    const answers: PromiseSettledResult<unknown>[] = []
    for (let i = 0; i < 40; i++)
      answers.push(...(await Promise.allSettled([hosts.lease(`${name}?container=c${i}`, from('192.0.2.1'))])))
    const refused = answers.filter(({ status }) => status === 'rejected')
    expect(answers.length - refused.length).toBeLessThanOrEqual(34)
    for (const each of refused) expect(each).toMatchObject({ reason: { code: 'PM_ERR_CONNLIMIT' } })
    await hosts.lease(name, from('192.0.2.2'))
    await hosts.lease(`${name}?container=mine`, { kind: 'owner', from: '192.0.2.1' })
    // All addresses of an IPv6 network count as one client.
    await expect(
      Promise.all(
        Array.from({ length: 40 }, (_, i) => hosts.lease(`${name}?container=d${i}`, from(`2001:db8::${i}`))),
      ),
    ).rejects.toMatchObject({ code: 'PM_ERR_CONNLIMIT' })
  })

  test('are closed for new ones when idle', async () => {
    for (let i = 0; i < 80; i++) {
      const source = await hosts.lease(`${name}?container=c${i}`, from('192.0.2.1'))
      await source.close()
    }
    expect(hosts.count).toBeLessThanOrEqual(34)
  })

  test('are closed for new ones when their contexts are unused', async () => {
    let now = 0
    const contexts = new WebContexts(
      hosts,
      new ArchiveRoots([], env),
      env,
      new ByteBudget({ each: 1e9, all: 1e9 }, () => undefined),
      () => now,
    )
    const make = (i: number): Promise<unknown> =>
      contexts.make({
        host: `${name}?container=c${i}`,
        timeoutMs: 80_000_000,
        user: from('192.0.2.1'),
        address: '192.0.2.1',
      })
    let made = 0
    const fill = async (): Promise<void> => {
      for (;;) {
        contexts.release((await make(made)) as WebContext)
        made++
      }
    }
    await expect(fill()).rejects.toMatchObject({ code: 'PM_ERR_CONNLIMIT' })
    now += 6000
    await make(made)
    await contexts.close()
  })

  test('leave room for the key holder, however many addresses anonymous clients use', async () => {
    let refused = 0
    for (let i = 0; i < 260; i++)
      await hosts.lease(`${name}?container=c${i}`, from(`192.0.2.${i % 16}`)).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'PM_ERR_CONNLIMIT' })
        refused++
      })
    expect(refused).toBeGreaterThan(0)
    await hosts.lease(`${name}?container=mine`, { kind: 'owner' })
  })
})

describe('when any host may be contacted', () => {
  test('pages of other origins may contact only hosts listed by name', async () => {
    const origin = 'http://grafana.example:3000'
    const open = await startWebServer(['pmcd', 'simple'], { hosts: ['*', 'localhost'], origins: [origin] })
    const status = async (host: string, headers = {}): Promise<string> =>
      words(await open.ask(`/pmapi/context?hostspec=${encodeURIComponent(host)}`, { headers }))
    expect(await status(`localhost:${port}`)).not.toMatch(/^403/)
    expect(visits).toBe(1)
    expect(await status(`localhost:${port}`, { Origin: origin })).toMatch(/^403/)
    expect(await status('localhost', { Origin: origin })).toMatch(/^200/)
    expect(visits).toBe(1)
    expect(await status('unix:/etc/passwd')).toMatch(/^403/)
    await open.close()
  })
})
