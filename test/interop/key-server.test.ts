/** Key servers: the same keys as PCP loads, queries of each side over keys of the other, and faults of servers. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { Archive } from '../../src/archive/archive.ts'
import { KeyClient } from '../../src/series/keys/client.ts'
import type { LinkOptions } from '../../src/series/keys/link.ts'
import { KeyLoader } from '../../src/series/keys/loader.ts'
import type { Reply } from '../../src/series/keys/replies.ts'
import { valuesKey } from '../../src/series/keys/schema.ts'
import { slotOf } from '../../src/series/keys/slots.ts'
import { KeySeries } from '../../src/series/keys/store.ts'
import { ValueBudget } from '../../src/series/value-budget.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { tool } from '../../src/tools/pmseries/index.ts'
import { START, writeHost } from '../series/lib.ts'
import { testIo } from '../tools/run-tool.ts'

const SUITE = '/var/lib/pcp/testsuite/archives'
const hasServer = spawnSync('redis-server', ['--version']).status === 0
const hasReference = hasServer && existsSync(`${SUITE}/bozo-disk.meta`)
if (!hasServer) console.log('key servers: not tested without redis-server')

let directory = ''
let servers: ChildProcess[] = []
let clients: KeyClient[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'key-server-'))
})

afterEach(async () => {
  for (const client of clients) client.close()
  for (const server of servers) await stopped(server)
  servers = []
  clients = []
  rmSync(directory, { recursive: true, force: true })
})

async function stopped(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = new Promise((resolve) => server.once('exit', resolve))
  server.kill('SIGKILL')
  await ended
}

/** Starts a server and waits until it accepts connections. */
async function start(port: number, ...options: readonly string[]): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...options]
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(server)
  let text = ''
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => reject(new Error(`redis-server ended: ${text}`)))
    server.stdout!.on('data', (piece) => {
      text += piece
      if (text.includes('Ready to accept connections')) resolve()
    })
  })
  return server
}

async function connect(port: number, options: LinkOptions = {}): Promise<KeyClient> {
  const client = await KeyClient.open([{ host: '127.0.0.1', port }], options)
  clients.push(client)
  return client
}

async function load(client: KeyClient, path: string): Promise<void> {
  const loader = await KeyLoader.open(client)
  const archive = Archive.open(path, archiveFiles())
  try {
    await loader.load(archive, path)
  } finally {
    archive.close()
  }
}

/** Returns all keys with their content, sets and hashes sorted. */
async function dump(client: KeyClient): Promise<readonly string[]> {
  const keys = ((await client.call('KEYS', 'pcp:*')) as readonly Reply[]).map(String)
  const lines: string[] = []
  for (const key of keys) {
    const type = String(await client.call('TYPE', key))
    const read: Readonly<Record<string, readonly string[]>> = {
      set: ['SMEMBERS', key],
      hash: ['HGETALL', key],
      stream: ['XRANGE', key, '-', '+'],
      zset: ['ZRANGE', key, '0', '-1', 'WITHSCORES'],
      string: ['GET', key],
    }
    const reply = texts(await client.call(...read[type]!))
    lines.push(
      `${key} ${JSON.stringify(type === 'hash' ? pairs(reply as string[]) : type === 'set' ? (reply as string[]).sort() : reply)}`,
    )
  }
  return lines.sort()
}

function texts(reply: Reply): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString('latin1')
  return Array.isArray(reply) ? (reply as readonly Reply[]).map(texts) : reply
}

function pairs(list: readonly string[]): readonly string[] {
  return list.flatMap((name, i) => (i % 2 === 0 ? `${name}=${list[i + 1]}` : [])).sort()
}

it.skipIf(!hasReference)('loads the same keys as PCP, and each side reads those of the other', async () => {
  const [ours, theirs] = [await freePort(), await freePort()]
  await start(ours)
  await start(theirs)
  const [client, other] = [await connect(ours), await connect(theirs)]
  for (const name of ['bozo-disk', 'viewqa1', 'viewqa2']) {
    await load(client, join(SUITE, name))
    execFileSync('/usr/bin/pmseries', ['-p', String(theirs), '-L', join(SUITE, name)])
  }
  expect(await dump(client)).toEqual(await dump(other))
  for (const args of [
    ['-m'],
    ['-i'],
    ['-l'],
    ['-S'],
    ['disk.all.read'],
    ['-Z', 'UTC', 'disk.all.read[count:3]'],
  ]) {
    const reference = execFileSync('/usr/bin/pmseries', ['-p', String(ours), ...args], { encoding: 'utf8' })
    const io = testIo('pmseries', ['-p', String(theirs), ...args])
    expect(await tool.run(io)).toBe(0)
    expect(io.printed.stdout.split('\n').sort(), args.join(' ')).toEqual(reference.split('\n').sort())
  }
})

/** Starts servers and makes them a cluster; returns their ports. */
async function startCluster(servers: number, replicas: number): Promise<readonly number[]> {
  const ports: number[] = []
  while (ports.length < servers) {
    const port = await freePort()
    // Servers of a cluster also listen on a port 10000 higher, which must be below the ephemeral ports.
    if (port + 10_000 > 32_767) continue
    ports.push(port)
    await start(
      port,
      ...[
        '--cluster-enabled',
        'yes',
        '--cluster-config-file',
        `${port}.conf`,
        '--cluster-node-timeout',
        '1000',
      ],
    )
  }
  const addresses = ports.map((port) => `127.0.0.1:${port}`)
  const options = ['--cluster-replicas', String(replicas), '--cluster-yes']
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, ...options])
  return ports
}

const cli = (port: number, ...args: readonly string[]): string =>
  execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim()

it.skipIf(!hasServer)('loads into a cluster of three servers', async () => {
  const ports = await startCluster(3, 0)
  const client = await connect(ports[1]!, { patienceMs: 30_000 })
  expect(client.isCluster).toBe(true)
  await load(client, writeHost(directory, 'db1'))
  const store = await KeySeries.open(client)
  const [series] = await store.withName('metric', 'demo.count')
  const samples = await store.samples(series!, { samples: 10 }, new ValueBudget())
  expect(samples.map(({ values }) => values[0])).toEqual([250, 200, 150, 100, 50, 0])

  // The slot of the series moves to another server, while more is loaded after each step.
  const key = valuesKey(series!)
  const slot = String(slotOf(key))
  const owner = Math.min(2, Math.floor(Number(slot) / 5461))
  const [from, to] = [ports[owner]!, ports[(owner + 1) % 3]!]
  const setSlot = (port: number, state: string, other: number): string =>
    cli(port, 'CLUSTER', 'SETSLOT', slot, state, cli(other, 'CLUSTER', 'MYID'))
  const loader = await KeyLoader.open(client)
  const archive = Archive.open(writeHost(directory, 'db1', { samples: 40, file: 'day2' }), archiveFiles())
  const loadUpTo = (sample: number): Promise<unknown> =>
    loader.load(archive, '/day2', { finish: { sec: START + 10 * sample, nsec: 0 } })
  const steps = [
    () => [setSlot(to, 'IMPORTING', from), setSlot(from, 'MIGRATING', to)],
    () => [cli(from, 'MIGRATE', '127.0.0.1', String(to), key, '0', '5000')],
    () => [setSlot(to, 'NODE', to), setSlot(from, 'NODE', to)],
  ]
  for (const [i, step] of steps.entries()) {
    expect(new Set(step())).toEqual(new Set(['OK']))
    await loadUpTo(10 * i + 19)
  }
  expect(cli(to, 'XLEN', key)).toBe('40')
})

it.skipIf(!hasServer)('continues with the replica of a killed server of a cluster', async () => {
  const ports = await startCluster(6, 1)
  const client = await connect(ports[0]!, { patienceMs: 600_000, delaysMs: [10] })
  const loader = await KeyLoader.open(client)
  const archive = Archive.open(writeHost(directory, 'db1', { samples: 40 }), archiveFiles())
  const loadUpTo = (sample: number): Promise<unknown> =>
    loader.load(archive, '/db1', { finish: { sec: START + 10 * sample, nsec: 0 } })
  await loadUpTo(19)
  const store = await KeySeries.open(client)
  const [series] = await store.withName('metric', 'demo.count')
  const key = valuesKey(series!)
  const owner = ports.findIndex((port) => cli(port, 'ROLE').startsWith('master') && ownsKey(port, key))
  expect(cli(ports[owner]!, 'WAIT', '1', '30000')).toBe('1')
  await stopped(servers[owner]!)
  await loadUpTo(39)
  archive.close()
  const samples = await store.samples(series!, { start: { sec: START, nsec: 0 } }, new ValueBudget())
  expect(samples).toHaveLength(40)
})

const ownsKey = (port: number, key: string): boolean => !cli(port, 'EXISTS', key).startsWith('MOVED')

it.skipIf(!hasServer)('logs in, and rejects a wrong password', async () => {
  const port = await freePort()
  await start(port, '--requirepass', 'secret')
  await expect(connect(port)).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  await expect(connect(port, { password: 'wrong' })).rejects.toMatchObject({ code: 'PM_ERR_PERMISSION' })
  await load(await connect(port, { password: 'secret' }), writeHost(directory, 'db1'))
})

it.skipIf(!hasServer)('loses nothing when the server is killed and started again during a load', async () => {
  const port = await freePort()
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
  const server = await start(port, ...durable)
  const client = await connect(port, { patienceMs: 60_000, delaysMs: [10] })
  const loader = await KeyLoader.open(client, { mostBytes: 1 << 16 })
  const archive = Archive.open(writeHost(directory, 'db1', { samples: 5000 }), archiveFiles())
  const loading = loader.load(archive, '/db1')
  await stopped(server)
  await start(port, ...durable)
  expect(await loading).toMatchObject({ records: 5000 })
  archive.close()
  const store = await KeySeries.open(client)
  const [series] = await store.withName('metric', 'demo.count')
  const samples = await store.samples(series!, { start: { sec: START, nsec: 0 } }, new ValueBudget())
  expect(samples).toHaveLength(5000)
})

it.skipIf(!hasServer)('reports a full server', async () => {
  const port = await freePort()
  await start(port, '--maxmemory', '1mb', '--maxmemory-policy', 'noeviction')
  const client = await connect(port)
  const path = writeHost(directory, 'db1', { samples: 20_000 })
  await expect(load(client, path)).rejects.toMatchObject({
    code: 'ENOSPC',
    message: expect.stringContaining('raise its maxmemory'),
  })
})
