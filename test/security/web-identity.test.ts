/** Web requests without a login never have the identity of the user who started the web side, whichever host they name. docs/reference/pmproxy.md */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { extract } from '../../src/model/value-set.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { parseHostSpec } from '../../src/net/host-spec.ts'
import { makeVerifier } from '../../src/net/sasl/keys.ts'
import { Context } from '../../src/pmapi/context.ts'
import { peerCredentials } from '../../src/sys/native/peer-credentials.ts'
import { encodeAttr, PCP_ATTR_NONE } from '../../src/wire/attr.ts'
import { PDU_FLAG_AUTH } from '../../src/wire/creds.ts'
import { encodeChallenge } from '../../src/wire/error.ts'
import { rawRequest } from '../lib/raw-http.ts'
import { startWebServer, type WebAnswer, type WebRequest, type WebServer } from '../lib/web-server.ts'

const SECRET = 'only-its-user-may-read-this'
const ARGUMENT = 'everybody-may-read-this'
const KEY = 'k'.repeat(43)

const isKnown = peerCredentials().problem() === undefined
if (!isKnown) console.warn('skipped: without koffi a collector knows no users of unix sockets')

/** Metrics whose values the kernel shows only to a process's owner and root. */
const PRIVATE = [
  ...['psinfo.environ', 'psinfo.cwd', 'psinfo.exe', 'memory.maps', 'fd.count', 'io.rchar', 'smaps.rss'],
  ...['psinfo.wchan_s', 'psinfo.start_code', 'psinfo.end_code', 'psinfo.start_stack'],
].map((name) => `proc.${name}`)

let server: WebServer
let victim: ChildProcess
/** The victim as an instance. Its digits alone may be part of any timestamp, port or context in an answer. */
const theVictim = (): RegExp => new RegExp(`"(?:id|instance)":${victim.pid}\\b|"0*${victim.pid}[ "]`)
/** A metric that only the collector's own user may store. */
const CONTROL = 'pmcd.control.timeout'

const basic = (user: string, password: string): { Authorization: string } => ({
  Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

beforeAll(async () => {
  victim = spawn(
    process.execPath,
    ['-e', 'process.stdout.write("x"); setInterval(() => {}, 1e6)', ARGUMENT],
    {
      cwd: '/',
      env: { SECRET },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await once(victim.stdout!, 'data')
  const verifier = await makeVerifier('secret')
  server = await startWebServer(
    ['pmcd', 'proc', 'simple'],
    { allowsStore: true },
    {
      collector: { peerCredentials: peerCredentials() },
      security: {
        findVerifier: (user) => (user === 'fred' ? verifier : undefined),
        accountOf: () => ({ uid: 65_534, gid: 65_534 }),
      },
      proxy: { ownerKey: KEY },
    },
  )
})
afterAll(async () => {
  await server?.close()
  victim?.kill()
})

/** Every way to name the collector behind the web side, including not naming it. */
const hosts = (): (string | undefined)[] => [
  ...[undefined, 'local:', 'unix:', `unix:/${server.dir}/pmcd.socket`, `local:/${server.dir}/pmcd.socket`],
  ...['local:?container=', 'unix:///?x=1', 'localhost', '127.0.0.1'],
]

const withHost = (target: string, host: string | undefined, name = 'hostspec'): string =>
  host === undefined
    ? target
    : `${target}${target.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(host)}`

/** Returns the metrics with values in the answer to a fetch. */
function fetched({ status, text }: WebAnswer): string[] {
  if (status !== 200) return []
  const { values } = JSON.parse(text) as { values: { name: string; instances: unknown[] }[] }
  return values.filter(({ instances }) => instances.length > 0).map(({ name }) => name)
}

/** Returns the first row of a live stream of metrics of all processes: a list of values each, empty for missing metrics. */
async function live(host: string, metrics: readonly string[]): Promise<readonly (readonly unknown[])[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.proxy.port}/ui/api/live`)
  await once(socket, 'open')
  const row = new Promise<readonly unknown[]>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as { type: string; values: readonly unknown[] }
      if (message.type === 'row') resolve(message.values)
      else if (message.type === 'error') resolve([])
    })
  })
  socket.send(JSON.stringify({ subscribe: 'x', host, every: 0.2, metrics }))
  const values = await row
  socket.terminate()
  // Metrics without values have a reason, or null.
  return metrics.map((_, i) => (Array.isArray(values[i]) ? values[i] : []))
}

/** Returns a metric's values from a collector, or its error. */
async function valuesIn(context: Context, name: string): Promise<readonly unknown[]> {
  const id = await context.lookupName(name)
  const { type } = await context.desc(id)
  const { sets } = await context.fetch([id])
  const [set] = sets
  return Array.from({ length: Math.max(0, set!.status) }, (_, i) => extract(set!, i, type))
}

async function domainOf(context: Context, name: string): Promise<number> {
  return (await context.desc(await context.lookupName(name))).indom
}

describe.runIf(isKnown)('a web client without a login', () => {
  test('reads nothing about processes over the REST API, whichever host it names', async () => {
    const names = [...PRIVATE, 'proc.psinfo.psargs', 'proc.psinfo.cmd'].join(',')
    for (const host of hosts()) {
      const found = await server.ask(withHost(`/pmapi/fetch?names=${names}`, host))
      expect(fetched(found), `${host}: ${found.text.slice(0, 300)}`).toEqual([])
      for (const target of [
        `/pmapi/metrics?names=proc`,
        `/metrics?names=proc`,
        `/pmapi/_fetch?names=${names}`,
        '/pmapi/indom?name=proc.psinfo.cmd',
        '/pmapi/_indom?name=proc.psinfo.cmd',
      ])
        for (const accept of ['text/plain', 'application/json']) {
          const { text } = await server.ask(withHost(target, host), { headers: { Accept: accept } })
          expect(text, `${target} ${host}`).not.toMatch(
            new RegExp(`${SECRET}|${ARGUMENT}|${theVictim().source}`),
          )
        }
    }
  })

  test('gets answers about everything else', async () => {
    for (const host of hosts())
      expect(
        fetched(await server.ask(withHost('/pmapi/fetch?names=simple.numfetch', host))),
        `${host}`,
      ).toEqual(['simple.numfetch'])
  })

  test('cannot store metrics that need a known user, even where stores are allowed', async () => {
    for (const host of hosts())
      for (const [name, value] of [
        [CONTROL, '77'],
        ['proc.control.all.threads', '1'],
        ['hotproc.control.config', 'cpuburn>1'],
      ]) {
        const answer = await server.ask(
          withHost(`/pmapi/store?name=${name}&value=${encodeURIComponent(value!)}`, host),
          { method: 'POST' },
        )
        expect(answer.status, `${name} ${host}: ${answer.text}`).not.toBe(200)
      }
  })

  test('sees only process metrics that every local user may read', async () => {
    for (const host of hosts()) {
      if (host === undefined) continue
      const metrics = ['proc.psinfo.utime', 'proc.memory.rss', ...PRIVATE]
      const columns = await live(host, metrics)
      const shown = metrics.filter((_, i) => columns[i]!.some((value) => value !== null && value !== ''))
      const isSocket = /^(?:local|unix):/.test(host)
      expect(shown, host).toEqual(isSocket ? metrics.slice(0, 2) : [])
      const listed = await server.ask(withHost('/ui/api/instances?name=proc.psinfo.utime', host, 'host'))
      expect(listed.text.includes(`"id":${victim.pid},`), host).toBe(isSocket)
    }
  })

  test('is not treated as local behind a forwarder or under another name', async () => {
    const target = '/ui/api/instances?host=local:&name=proc.psinfo.psargs'
    expect((await server.ask(target)).text).toMatch(theVictim())
    for (const headers of [
      { 'X-Forwarded-For': '192.0.2.1' },
      { Forwarded: 'for=192.0.2.1' },
      { Via: '1.1 proxy' },
    ])
      expect((await server.ask(target, { headers })).text, JSON.stringify(headers)).not.toMatch(theVictim())
    // A minimally configured forwarder speaks HTTP/1.0.
    const own = `localhost:${server.proxy.port}`
    const raw = async (version: string, host: string): Promise<string> => {
      const answer = await rawRequest(
        server.proxy.port,
        `GET ${target} HTTP/${version}\r\n${host}Connection: close\r\n\r\n`,
      )
      return String(answer?.body)
    }
    expect(await raw('1.1', `Host: ${own}\r\n`)).toMatch(theVictim())
    for (const [version, host] of [
      ['1.0', `Host: ${own}\r\n`],
      ['1.0', ''],
      ['1.1', 'Host:\r\n'],
      ['1.1', 'Host: localhost\r\n'],
      ['1.1', 'Host: localhost:1\r\n'],
    ] as const)
      expect(await raw(version, host), `${version} ${host}`).not.toMatch(theVictim())
  })

  test('remains unknown behind a forwarded connection', async () => {
    const source = await HostSource.connect(
      `localhost:${server.collector.port}@127.0.0.1:${server.proxy.port}`,
    )
    const context = Context.over(source)
    await expect(context.instances(await domainOf(context, 'proc.psinfo.psargs'))).rejects.toMatchObject({
      code: 'PM_ERR_PERMISSION',
    })
    await context.close()
  })
})

describe.runIf(isKnown)('a user who signed in', () => {
  test('is that user on every transport, not the one who started the web side', async () => {
    const headers = basic('fred', 'secret')
    for (const host of hosts()) {
      const stored = await server.ask(withHost(`/pmapi/store?name=${CONTROL}&value=77`, host), { headers })
      expect(stored.text, `${host}`).toContain('PM_ERR_PERMISSION')
      const environ = await server.ask(withHost('/pmapi/fetch?names=proc.psinfo.environ', host), { headers })
      expect(environ.text, `${host}`).not.toContain(SECRET)
    }
  })

  test('is the user in the host specification, if it has one', async () => {
    const host = 'local:?username=fred&password=secret'
    const answer = await server.ask(withHost('/pmapi/fetch?names=proc.psinfo.environ', host))
    expect(answer.text).not.toContain(SECRET)
    expect((await server.ask(withHost('/pmapi/context', `${host}x`))).status).not.toBe(200)
  })

  test('cannot be guessed: failed logins become slow, then are refused unchecked', async () => {
    const guesses = Array.from({ length: 60 }, (_, i) =>
      i % 2 === 0
        ? server.ask('/pmapi/context?hostspec=local:', { headers: basic('ann', `guess${i}`) })
        : server.ask(
            `/pmapi/context?hostspec=${encodeURIComponent(`localhost?username=ann&password=guess${i}`)}`,
          ),
    )
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    // Twenty attempts from loopback immediately, and at most two more while the others wait for a token.
    expect(statuses.filter((status) => status !== 429).length).toBeLessThanOrEqual(22)
    expect(server.notices.join('\n')).toMatch(/10 failed logins from loopback/)
    // Neither users who have logged in before nor clients without a login are locked out.
    expect((await server.ask('/pmapi/context')).status).toBe(200)
    expect((await server.ask('/pmapi/context', { headers: basic('fred', 'secret') })).status).toBe(200)
  })

  test('with the key is the user who started the web side', async () => {
    const target = withHost('/pmapi/fetch?names=proc.psinfo.environ', 'local:')
    const bearer = (key: string): WebRequest => ({ headers: { Authorization: `Bearer ${key}` } })
    expect((await server.ask(target, bearer(KEY))).text).toContain(SECRET)
    for (const key of ['', 'k', `${KEY}k`, KEY.slice(1), KEY.toUpperCase(), 'undefined'])
      expect((await server.ask(target, bearer(key))).status, key).toBe(401)
    // Others cannot use its contexts.
    const { context } = JSON.parse(
      (await server.ask(withHost('/pmapi/context', 'local:'), bearer(KEY))).text,
    ) as { context: number }
    const own = `/pmapi/${context}/fetch?names=proc.psinfo.environ`
    expect((await server.ask(own, bearer(KEY))).text).toContain(SECRET)
    expect((await server.ask(own)).text).toContain('unknown context')
  })
})

describe.runIf(isKnown)('a client that drops its identity', () => {
  test('is a guest to the collector, not the user of its process', async () => {
    const source = await HostSource.connect(parseHostSpec(`unix:/${server.dir}/pmcd.socket`), {
      dropsIdentity: true,
    })
    const context = Context.over(source)
    for (const name of PRIVATE) {
      const values = await valuesIn(context, name)
      expect(
        values.filter((value) => value !== ''),
        name,
      ).toEqual([])
    }
    expect(
      (await valuesIn(context, 'proc.psinfo.psargs')).some((text) => String(text).includes(ARGUMENT)),
    ).toBe(true)
    const hot = await domainOf(context, 'hotproc.psinfo.psargs')
    await expect(context.instances(hot)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
    await context.close()
  })

  test('is refused where users are required', async () => {
    const strict = await startWebServer(
      ['proc'],
      {},
      {
        collector: { peerCredentials: peerCredentials() },
        security: { requiresUser: true, findVerifier: () => undefined },
      },
    )
    const path = `unix:/${strict.dir}/pmcd.socket`
    await expect(HostSource.connect(path, { dropsIdentity: true })).rejects.toThrow()
    expect((await strict.ask('/ui/api/instances?host=local:&name=proc.psinfo.psargs')).status).not.toBe(200)
    await strict.close()
  })
})

describe('a collector of another implementation on the unix socket', () => {
  let dir: string
  let stranger: Server
  let asked = 0
  beforeAll(async () => {
    dir = mkdtempSync('/tmp/stranger-')
    stranger = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.write(encodeChallenge(PDU_FLAG_AUTH))
      let messages = 0
      socket.on('data', () => {
        if (++messages > 1) asked++
        socket.write(encodeAttr(PCP_ATTR_NONE, 'SCRAM-SHA-256 PLAIN ANONYMOUS'))
      })
    })
    await once(stranger.listen(join(dir, 'pmcd.socket')), 'listening')
  })
  afterAll(() => {
    stranger.close()
    rmSync(dir, { recursive: true })
  })

  test('receives no request from a client that drops its identity', async () => {
    await expect(HostSource.connect(`unix:/${dir}/pmcd.socket`, { dropsIdentity: true })).rejects.toThrow()
    expect(asked).toBe(0)
  })
})
