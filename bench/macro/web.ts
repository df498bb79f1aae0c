/**
 * Requests a second of pmproxy, ours beside the reference's in turn, both in front of the same collector, after each has answered
 * for `--warm` milliseconds; then live pages of ours, and what the collector counts of fetches meanwhile.
 * `npm run bench -- web [--clients 1,16] [--rounds N] [--ms N] [--warm N] [--pages 1,200] [--seconds N]`.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { type Candidate, freePort, hasReference, startOurs, startReference } from './lib/collectors.ts'
import { HttpClient, HttpLoad, type HttpMeasured, makeHttpLoad } from './lib/http-load.ts'
import { LOAD_ARGUMENT } from './lib/load.ts'
import { cpuMs, residentMb } from './lib/memory.ts'
import { median, table } from './lib/report.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmproxy'
const FIVE = 'kernel.all.load,mem.util.free,disk.dev.read,network.interface.in.bytes,kernel.percpu.cpu.user'
/** What the page of a host shows. */
const OVERVIEW = [
  'kernel.all.cpu.user',
  'kernel.all.cpu.sys',
  'kernel.all.cpu.idle',
  'kernel.all.cpu.wait.total',
  'kernel.all.load',
  'mem.util.free',
  'mem.util.available',
  'mem.physmem',
  'disk.dev.read_bytes',
  'disk.dev.write_bytes',
  'network.interface.in.bytes',
  'network.interface.out.bytes',
]

interface Work {
  readonly title: string
  /** The target for a context of that number. */
  readonly target: (context: number) => string
}

const WORKS: readonly Work[] = [
  { title: 'fetch of five, one context', target: (context) => `/pmapi/${context}/fetch?names=${FIVE}` },
  { title: 'fetch of five, no context', target: () => `/pmapi/fetch?names=${FIVE}` },
  { title: 'metric of five, one context', target: (context) => `/pmapi/${context}/metric?names=${FIVE}` },
  { title: 'metrics of kernel.all', target: () => '/metrics?names=kernel.all' },
]

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      clients: { type: 'string', default: '1,16' },
      rounds: { type: 'string', default: '3' },
      ms: { type: 'string', default: '2000' },
      warm: { type: 'string', default: '4000' },
      pages: { type: 'string', default: '1,200' },
      seconds: { type: 'string', default: '10' },
    },
  })
  const top = process.cwd()
  const collector = hasReference() ? await startReference([2, 60]) : await startOurs(top, 'linux,pmcd')
  const candidates = [await launch('ours', process.execPath, [join(top, 'bin', 'pmproxy')], collector)]
  if (existsSync(REFERENCE)) candidates.push(await launch('reference', REFERENCE, ['-t', '-A'], collector))
  else console.log('The reference is not installed: ours alone')
  const load = new HttpLoad()
  try {
    const rows: string[][] = []
    const lengths = { rounds: +values.rounds, ms: +values.ms, warmMs: +values.warm }
    for (const work of WORKS)
      for (const clients of values.clients.split(',').map(Number))
        rows.push(await compare(load, candidates, work, clients, lengths))
    const heads = candidates.flatMap(({ name }) => [`${name}/s`, 'p50 ms', 'p99 ms'])
    console.log(table([['work', 'clients', ...heads, 'ratio', 'bytes', 'refused', 'lost'], ...rows]))
    console.log(
      `resident: ${candidates.map(({ name, pid }) => `${name} ${residentMb(pid).toFixed(0)} MB`).join(', ')}`,
    )
    for (const pages of values.pages.split(',').map(Number))
      if (pages > 0) await livePages(candidates[0]!, pages, +values.seconds)
  } finally {
    load.stop()
    for (const candidate of [...candidates, collector]) await candidate.stop()
  }
}

async function compare(
  load: HttpLoad,
  candidates: readonly Candidate[],
  work: Work,
  clients: number,
  { rounds, ms, warmMs }: { rounds: number; ms: number; warmMs: number },
): Promise<string[]> {
  const found: HttpMeasured[][] = candidates.map(() => [])
  if (warmMs > 0)
    for (const { port } of candidates)
      await load.run({ port, clients, target: work.target(await newContext(port)), ms: warmMs })
  for (let round = 0; round < rounds; round++)
    for (const [i, { port }] of candidates.entries())
      found[i]!.push(await load.run({ port, clients, target: work.target(await newContext(port)), ms }))
  const middle = (i: number, figure: (one: HttpMeasured) => number): number => median(found[i]!.map(figure))
  const cells = candidates.flatMap((_, i) => [
    middle(i, ({ rate }) => rate).toFixed(0),
    middle(i, ({ p50 }) => p50).toFixed(2),
    middle(i, ({ p99 }) => p99).toFixed(2),
  ])
  const ratio =
    candidates.length < 2 ? Number.NaN : middle(0, ({ rate }) => rate) / middle(1, ({ rate }) => rate)
  const bytes = candidates.map((_, i) => middle(i, (one) => one.bytes)).join('/')
  const total = (figure: (one: HttpMeasured) => number): string =>
    found.map((all) => all.reduce((sum, one) => sum + figure(one), 0)).join('/')
  const failed = [total(({ refusals }) => refusals), total(({ losses }) => losses)]
  return [work.title, String(clients), ...cells, ratio.toFixed(2), bytes, ...failed]
}

async function newContext(port: number): Promise<number> {
  const client = await HttpClient.open(port)
  const { body } = await client.get('/pmapi/context?polltimeout=60')
  client.close()
  return Number(/"context":(\d+)/.exec(body)?.[1])
}

/** Pages that all watch the same overview: what they cost, and how often the collector is asked. */
async function livePages({ port, pid }: Candidate, pages: number, seconds: number): Promise<void> {
  let [rows, bytes] = [0, 0]
  const sockets = await Promise.all(
    Array.from({ length: pages }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ui/api/live`)
      socket.on('message', (data: Buffer) => {
        bytes += data.length
        if (data.includes('"row"')) rows++
      })
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
      socket.send(JSON.stringify({ subscribe: 'overview', host: 'localhost', every: 1, metrics: OVERVIEW }))
      return socket
    }),
  )
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const fetched = await collectorFetches(port)
  const [cpu, begun] = [cpuMs(pid), performance.now()]
  rows = 0
  bytes = 0
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  const elapsed = (performance.now() - begun) / 1000
  // The question itself is one of them.
  const fetches = (await collectorFetches(port)) - fetched - 1
  const share = (cpuMs(pid) - cpu) / elapsed / 10
  console.log(
    `${pages} live pages of ${OVERVIEW.length} metrics every second: ${(fetches / elapsed).toFixed(2)} fetches/s from the collector, ` +
      `${(rows / elapsed).toFixed(0)} rows/s, ` +
      `${(bytes / elapsed / 1024).toFixed(0)} KiB/s, ${share.toFixed(1)} % of a CPU, ${residentMb(pid).toFixed(0)} MB`,
  )
  for (const socket of sockets) socket.terminate()
}

/** Fetches that the collector says it was asked for. */
async function collectorFetches(port: number): Promise<number> {
  const client = await HttpClient.open(port)
  const { body } = await client.get('/pmapi/fetch?names=pmcd.pdu_in.fetch,pmcd.pdu_in.highres_fetch')
  client.close()
  const counts = [...body.matchAll(/"value":(\d+)/g)].map(([, value]) => Number(value))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function launch(
  name: string,
  command: string,
  args: readonly string[],
  collector: Candidate,
): Promise<Candidate> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), `pmproxy-${name}-`))
  const options = ['-f', '-p', String(port), '-s', join(dir, 'pmproxy.socket'), '-l', join(dir, 'log')]
  const env: NodeJS.ProcessEnv = { ...process.env, PMCD_PORT: String(collector.port) }
  delete env['NODE_EXTRA_CA_CERTS']
  const child = spawn(command, [...args, ...options], {
    env,
    cwd: dir,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await answering(port)
  return {
    name,
    port,
    pid: child.pid!,
    stop: async () => {
      child.kill('SIGTERM')
      await gone
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function answering(port: number): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      const client = await HttpClient.open(port)
      client.close()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error(`Nobody answers on port ${port}`)
}

if (process.argv[2] === LOAD_ARGUMENT) makeHttpLoad()
else await main()
