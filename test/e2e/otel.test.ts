/** The otel agent as a daemon and in a thread of a collector, fed over HTTP. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isError } from '../../src/model/errors.ts'
import type { MetricSource } from '../../src/model/source.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { openAgentLink } from '../../src/net/agent-link.ts'
import { PduConnection } from '../../src/net/connection.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig } from '../../src/pmcd/open-agents.ts'
import { parseConfig } from '../../src/routing/pmcd-conf.ts'
import { logOnFd } from '../../src/sys/log.ts'
import { metricsRequest, point } from '../agents/otel/requests.ts'
import { ASK } from '../lib/agent-catalogue.ts'
import { bundleAgentWorker, bundleDaemon } from '../lib/bundle-tools.ts'
import { eventually } from '../lib/eventually.ts'

let dir: string
const children: ChildProcess[] = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'otel-e2e-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(dir, { recursive: true })
})

async function readMetric(source: MetricSource, name: string): Promise<readonly unknown[]> {
  const [id] = await source.lookupNames([name], ASK)
  if (id === undefined || isError(id)) return []
  const [desc] = await source.descs([id], ASK)
  if (desc === undefined || isError(desc)) return []
  const { sets } = await source.fetch([id], ASK)
  return valuesOf(sets[0]!, desc.type).map(({ value }) => value)
}

async function portOf(source: MetricSource): Promise<number> {
  await eventually(async () => expect((await readMetric(source, 'otel.control.port'))[0]).toBeGreaterThan(0))
  return Number((await readMetric(source, 'otel.control.port'))[0])
}

function send(port: number, value: number): Promise<Response> {
  const dataPoints = [point({ asDouble: value })]
  return fetch(`http://127.0.0.1:${port}/v1/metrics`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metricsRequest({ metrics: [{ name: 'speed', gauge: { dataPoints } }] })),
  })
}

async function daemon(): Promise<ChildProcess> {
  const program = join(dir, 'daemon.cjs')
  await bundleDaemon(program, 'otel')
  const env = { PATH: process.env['PATH'], PCP_CONF: '/dev/null', PCP_VAR_DIR: join(dir, 'var') }
  const child = spawn(process.execPath, [program, '--port', '0'], { cwd: dir, env })
  children.push(child)
  return child
}

test('as a daemon it receives data, survives invalid input, and ends with its collector', async () => {
  const child = await daemon()
  const ended = new Promise((resolve) => child.once('close', resolve))
  const stream = { readable: child.stdout!, writable: child.stdin! }
  const source = await openAgentLink(new PduConnection(stream, { name: 'agent' }), {
    name: 'agent',
    handshakeMs: 20_000,
  })
  const port = await portOf(source)
  for (const text of [
    '\0\0\0\0',
    'GET\r\n\r\n',
    'POST /v1/metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{',
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}) // the server may be quicker to hang up
    await new Promise<void>((resolve) => socket.end(text, resolve))
  }
  expect((await send(port, 1.5)).status).toBe(200)
  expect(await readMetric(source, 'otel.speed')).toEqual([1.5])
  await source.close()
  expect(await ended).toBe(0)
})

test('in a thread of a collector its names follow the received data', async () => {
  const program = await bundleAgentWorker(dir)
  const { agents, problems } = parseConfig('otel 508 dso worker:otel_init /x/pmda_otel.so\n')
  expect(problems).toEqual([])
  const collector = await startCollector({
    agents: agents.map(agentFromConfig),
    ports: [0],
    socketPath: join(dir, 'pmcd.socket'),
    hostname: 'vm',
    log: { ...logOnFd(2, { progname: 'pmcd', host: 'vm' }), notice: () => {}, line: () => {} },
    agentDir: dir,
    variables: { PCP_VAR_DIR: join(dir, 'var'), PCP_OTEL_PORT: '0' },
    workers: { program, heapMb: 64 },
    credsTimeoutSec: 60, // a thread takes its time to start on a busy machine
  })
  const source = await HostSource.connect(`localhost:${collector.port}`)
  try {
    const port = await portOf(source)
    expect((await send(port, 2.5)).status).toBe(200)
    // An agent behind a connection reports new names with its next reply to a fetch.
    await eventually(async () => {
      await readMetric(source, 'otel.control.port')
      expect(await readMetric(source, 'otel.speed')).toEqual([2.5])
    })
  } finally {
    await source.close()
    await collector.close()
  }
})
