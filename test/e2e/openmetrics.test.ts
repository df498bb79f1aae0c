/** The openmetrics agent over HTTP and scripts: slow and hostile endpoints, and every way to run the agent. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { agent as definition } from '../../src/agents/openmetrics/index.ts'
import { isError } from '../../src/model/errors.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openAgentLink } from '../../src/net/agent-link.ts'
import { PduConnection } from '../../src/net/connection.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig } from '../../src/pmcd/open-agents.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { parseConfig } from '../../src/routing/pmcd-conf.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { ASK } from '../lib/agent-catalogue.ts'
import { bundleAgentWorker, bundleDaemon } from '../lib/bundle-tools.ts'
import { eventually } from '../lib/eventually.ts'

let dir: string
let log: string[]
let agent: AgentSource | undefined
const servers: Server[] = []
const children: ChildProcess[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'openmetrics-e2e-'))
  mkdirSync(join(dir, 'config.d'))
  log = []
  timeout = '0.5'
})

afterEach(async () => {
  await agent?.close()
  agent = undefined
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(dir, { recursive: true })
})

/** Timeout of a source in seconds. */
let timeout: string

const variables = (): Record<string, string> => ({
  PCP_OPENMETRICS_CONFIG: join(dir, 'config.d'),
  PCP_OPENMETRICS_INTERVAL: '0.2',
  PCP_OPENMETRICS_TIMEOUT: timeout,
  PCP_VAR_DIR: join(dir, 'var'),
})

function open(): AgentSource {
  agent = openAgent(definition, { env: variables(), log: (_level, text) => log.push(text) })
  return agent
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const configure = (name: string, text: string): void =>
  writeFileSync(join(dir, 'config.d', `${name}.url`), text)

function script(name: string, text: string): void {
  writeFileSync(join(dir, 'config.d', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
}

async function readMetric(source: MetricSource, name: string): Promise<unknown> {
  const [id] = await source.lookupNames([name], ASK)
  if (id === undefined || isError(id)) return id?.code
  const [desc] = await source.descs([id], ASK)
  if (desc === undefined || isError(desc)) return desc?.code
  const { sets } = await source.fetch([id], ASK)
  return sets[0]!.status < 0 ? sets[0]!.status : valuesOf(sets[0]!, desc.type).map(({ value }) => value)
}

/** Returns the status of the only source, which is cluster 1. */
const sourceStatus = async (source: MetricSource): Promise<string> =>
  String(((await readMetric(source, 'openmetrics.control.status')) as unknown[])[1])

test('a compressed document behind a redirection that requires headers is read', async () => {
  timeout = '30'
  const seen: IncomingHttpHeaders[] = []
  const elsewhere = await serve((request, response) => {
    seen.push(request.headers)
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync('up 1\n'))
  })
  const url = await serve((request, response) => {
    seen.push(request.headers)
    response.writeHead(302, { location: `${elsewhere}/metrics` }).end()
  })
  configure(
    'a',
    `${url}/x\nHEADER: Authorization: Bearer  secret: 1\nHEADER: Connection: keep-alive\nHEADER: Keep-Alive: 300\n`,
  )
  const source = open()
  await eventually(async () => expect(await readMetric(source, 'openmetrics.a.up')).toEqual([1]))
  expect(seen[0]).toMatchObject({ authorization: 'Bearer secret: 1', 'accept-encoding': 'gzip, deflate' })
  expect(seen[1]).not.toHaveProperty('authorization')
})

test('a slow endpoint does not delay others, and its last values are dropped after a failure', async () => {
  timeout = '2'
  let isSlow = false
  /** Requests that the agent is still waiting for. */
  const waiting = new Set<object>()
  const url = await serve((request, response) => {
    if (!isSlow) return void response.end('up 1\n')
    waiting.add(request)
    response.once('close', () => waiting.delete(request))
  })
  configure('slow', url)
  const fast = await serve((_request, response) => void response.end('up 2\n'))
  configure('fast', fast)
  const source = open()
  await eventually(async () => expect(await readMetric(source, 'openmetrics.slow.up')).toEqual([1]))
  isSlow = true
  await eventually(async () => {
    const [request] = waiting
    expect(request).toBeDefined()
    await readMetric(source, 'openmetrics.slow.up')
    expect(waiting).toContain(request)
  })
  await eventually(async () => expect(await readMetric(source, 'openmetrics.slow.up')).toBeLessThan(0))
  expect(await readMetric(source, 'openmetrics.fast.up')).toEqual([2])
  const statuses = (await readMetric(source, 'openmetrics.control.status')) as string[]
  expect(statuses.some((text) => text.includes('no answer in time'))).toBe(true)
  isSlow = false
  await eventually(async () => expect(await readMetric(source, 'openmetrics.slow.up')).toEqual([1]))
})

test.each<[string, RequestListener, string]>([
  ['an error', (_request, response) => void response.writeHead(503).end('up 1'), 'answered with status 503'],
  [
    'redirections without end',
    (_request, response) => void response.writeHead(302, { location: '/again' }).end(),
    'more than 5 redirections',
  ],
  [
    'a redirection to a file',
    (_request, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'which is not HTTP',
  ],
  [
    'a document that grows when it is decompressed',
    (_request, response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20 * 2 ** 20))),
    'longer than 16777216 bytes',
  ],
  [
    'a document with a wrong Content-Encoding',
    (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end('up 1'),
    'incorrect header check',
  ],
  [
    'an end in between',
    (_request, response) => void response.write('up', () => response.destroy()),
    'aborted',
  ],
  [
    'a document that never ends',
    (_request, response) => void response.write('up 1\n'),
    'did not come in time',
  ],
])('%s is a status and does not stop the agent', async (what, listener, text) => {
  if (what !== 'a document that never ends') timeout = '30'
  configure('a', await serve(listener))
  const source = open()
  await eventually(async () => expect(await sourceStatus(source)).toContain(text))
  expect(await readMetric(source, 'openmetrics.a.up')).toBe('PM_ERR_NAME')
})

test('an unreachable server is retried', async () => {
  const port = await freePort()
  configure('a', `http://127.0.0.1:${port}`)
  const source = open()
  await eventually(async () => expect(await sourceStatus(source)).toContain('ECONNREFUSED'))
  const server = createServer((_request, response) => void response.end('up 1\n'))
  servers.push(server)
  server.listen(port, '127.0.0.1')
  await eventually(async () => expect(await readMetric(source, 'openmetrics.a.up')).toEqual([1]))
})

test('scripts are run, their errors logged, and those that do not end are killed', async () => {
  script('good.sh', 'echo "on standard error" >&2; echo "pid $$"')
  script('failing.sh', 'echo "x 1"; exit 3')
  script('hanging', 'sleep 100 & echo $! > "$0.pid.txt"; wait')
  writeFileSync(join(dir, 'config.d', 'not-run.sh'), 'echo "x 1"\n', { mode: 0o644 })
  const source = open()
  await eventually(async () =>
    expect(await readMetric(source, 'openmetrics.good.pid')).toEqual([expect.any(Number)]),
  )
  const statuses = async (): Promise<string> =>
    ((await readMetric(source, 'openmetrics.control.status')) as string[]).join('\n')
  await eventually(async () => expect(await statuses()).toContain('The script ended with status 3'))
  await eventually(async () => expect(await statuses()).toContain('The script did not end in time'))
  expect(log.some((text) => text.endsWith('good.sh: on standard error'))).toBe(true)
  expect(await source.traverse('openmetrics', ASK)).not.toContain('openmetrics.not_run.x')
  // The whole process group is gone, including processes started by the script.
  const pid = await eventually(() => {
    const started = Number(readFileSync(join(dir, 'config.d', 'hanging.pid.txt'), 'utf8'))
    expect(started).toBeGreaterThan(0)
    return started
  })
  await eventually(() => expect(isRunning(pid)).toBe(false))
})

/** Returns whether a process exists and is not a zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('runs as a daemon', async () => {
  configure('a', await serve((_request, response) => void response.end('up 1\n')))
  const program = join(dir, 'daemon.cjs')
  await bundleDaemon(program, 'openmetrics')
  const child = spawn(process.execPath, [program], {
    cwd: dir,
    env: { PATH: process.env['PATH'], PCP_CONF: '/dev/null', ...variables() },
  })
  children.push(child)
  const ended = new Promise((resolve) => child.once('close', resolve))
  const stream = { readable: child.stdout, writable: child.stdin }
  const source = await openAgentLink(new PduConnection(stream, { name: 'agent' }), {
    name: 'agent',
    handshakeMs: 20_000,
  })
  await eventually(async () => expect(await readMetric(source, 'openmetrics.a.up')).toEqual([1]))
  await source.close()
  expect(await ended).toBe(0)
})

test('runs in a thread of a collector, which detects new names', async () => {
  configure('a', await serve((_request, response) => void response.end('up 1\n')))
  const program = await bundleAgentWorker(dir)
  const { agents, problems } = parseConfig(
    'openmetrics 144 dso worker:openmetrics_init /x/pmda_openmetrics.so\n',
  )
  expect(problems).toEqual([])
  const collector = await startCollector({
    agents: agents.map(agentFromConfig),
    ports: [0],
    socketPath: join(dir, 'pmcd.socket'),
    hostname: 'vm',
    log: { ...logOnFd(2, { progname: 'pmcd', host: 'vm' }), notice: () => {}, line: () => {} },
    agentDir: dir,
    variables: variables(),
    workers: { program, heapMb: 64 },
    credsTimeoutSec: 60, // a thread takes its time to start on a busy machine
  })
  const source = await HostSource.connect(`localhost:${collector.port}`)
  // An agent behind a connection reports new names with its next reply to a fetch.
  const appears = (name: string, value: unknown): Promise<void> =>
    eventually(async () => {
      await readMetric(source, 'openmetrics.control.calls')
      expect(await readMetric(source, name)).toEqual(value)
    })
  try {
    await appears('openmetrics.a.up', [1])
    configure('b', await serve((_request, response) => void response.end('down 0\n')))
    await appears('openmetrics.b.down', [0])
  } finally {
    await source.close()
    await collector.close()
  }
})
