/**
 * Requests per second of pmproxy, ours and the reference's in turn on the same collector, after each has served requests
 * for `--warm` milliseconds; then live pages of ours, and the fetches that the collector counts meanwhile.
 * `npm run bench -- web [--clients 1,16] [--rounds N] [--ms N] [--warm N] [--pages 1,200] [--seconds N]`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { type Candidate, hasReference, startOurs, startReference } from './lib/collectors.ts'
import { freePort } from './lib/free-port.ts'
import { HttpClient, HttpLoad, type HttpMeasured, makeHttpLoad } from './lib/http-load.ts'
import { LOAD_ARGUMENT } from './lib/load.ts'
import { cpuMs, residentMb } from './lib/memory.ts'
import { median, table } from './lib/report.ts'

const REFERENCE = '/usr/lib/pcp/bin/pmproxy'
const FIVE = 'kernel.all.load,mem.util.free,disk.dev.read,network.interface.in.bytes,kernel.percpu.cpu.user'
/** Metrics of the overview. */
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
  /** Returns the target for a context number. */
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
  const candidates = [
    await PmproxyUnderLoad.launch('ours', process.execPath, [join(top, 'bin', 'pmproxy')], collector),
  ]
  if (existsSync(REFERENCE))
    candidates.push(await PmproxyUnderLoad.launch('reference', REFERENCE, ['-t', '-A'], collector))
  else console.log('The reference is not installed; measuring ours only')
  const load = new HttpLoad()
  try {
    const rows: string[][] = []
    const lengths = { rounds: +values.rounds, ms: +values.ms, warmMs: +values.warm }
    for (const work of WORKS)
      for (const clients of values.clients.split(',').map(Number))
        rows.push(await compare(load, candidates, work, clients, lengths))
    const heads = candidates.flatMap(({ name }) => [`${name}/s`, 'p50 ms', 'p99 ms'])
    console.log(table([['work', 'clients', ...heads, 'ratio', 'bytes', 'refused', 'lost'], ...rows]))
    for (const { name, ends } of candidates) if (ends > 0) console.log(`${name} crashed ${ends} times`)
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
  candidates: readonly PmproxyUnderLoad[],
  work: Work,
  clients: number,
  { rounds, ms, warmMs }: { rounds: number; ms: number; warmMs: number },
): Promise<string[]> {
  const found: HttpMeasured[][] = candidates.map(() => [])
  if (warmMs > 0) for (const candidate of candidates) await run(load, candidate, work, clients, warmMs)
  for (let round = 0; round < rounds; round++)
    for (const [i, candidate] of candidates.entries())
      found[i]!.push(await run(load, candidate, work, clients, ms))
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

/** Runs load on a candidate, restarting it if it crashed in the previous run, as the reference does with some jobs. */
async function run(
  load: HttpLoad,
  candidate: PmproxyUnderLoad,
  work: Work,
  clients: number,
  ms: number,
): Promise<HttpMeasured> {
  await candidate.revive()
  const { port } = candidate
  return load.run({ port, clients, target: work.target(await newContext(port)), ms })
}

async function newContext(port: number): Promise<number> {
  const client = await HttpClient.open(port)
  const { body } = await client.get('/pmapi/context?polltimeout=60')
  client.close()
  return Number(/"context":(\d+)/.exec(body)?.[1])
}

/** Measures the cost of pages that watch the same overview, and the resulting fetches. */
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
  // Reading the counter is a fetch too.
  const fetches = (await collectorFetches(port)) - fetched - 1
  const share = (cpuMs(pid) - cpu) / elapsed / 10
  console.log(
    `${pages} live pages of ${OVERVIEW.length} metrics every second: ${(fetches / elapsed).toFixed(2)} fetches/s from the collector, ` +
      `${(rows / elapsed).toFixed(0)} rows/s, ` +
      `${(bytes / elapsed / 1024).toFixed(0)} KiB/s, ${share.toFixed(1)} % of a CPU, ${residentMb(pid).toFixed(0)} MB`,
  )
  for (const socket of sockets) socket.terminate()
}

/** Returns the number of fetches counted by the collector. */
async function collectorFetches(port: number): Promise<number> {
  const client = await HttpClient.open(port)
  const { body } = await client.get('/pmapi/fetch?names=pmcd.pdu_in.fetch,pmcd.pdu_in.highres_fetch')
  client.close()
  const counts = [...body.matchAll(/"value":(\d+)/g)].map(([, value]) => Number(value))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** A pmproxy under load, which may crash. */
class PmproxyUnderLoad implements Candidate {
  readonly name: string
  readonly port: number
  /** Number of crashes. */
  ends = 0
  #child!: ChildProcess
  #gone!: Promise<void>
  readonly #dir: string
  readonly #begin: () => ChildProcess

  private constructor(
    name: string,
    port: number,
    command: string,
    args: readonly string[],
    collector: Candidate,
  ) {
    this.name = name
    this.port = port
    this.#dir = mkdtempSync(join(tmpdir(), `pmproxy-${name}-`))
    const files = ['-s', join(this.#dir, 'pmproxy.socket'), '-l', join(this.#dir, 'log')]
    const env: NodeJS.ProcessEnv = { ...process.env, PMCD_PORT: String(collector.port) }
    delete env['NODE_EXTRA_CA_CERTS']
    this.#begin = () =>
      spawn(command, [...args, '-f', '-p', String(port), ...files], {
        env,
        cwd: this.#dir,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
  }

  static async launch(
    name: string,
    command: string,
    args: readonly string[],
    collector: Candidate,
  ): Promise<PmproxyUnderLoad> {
    const proxy = new PmproxyUnderLoad(name, await freePort(), command, args, collector)
    await proxy.#launch()
    return proxy
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Restarts it if it has crashed. */
  async revive(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) return
    this.ends++
    await this.#launch()
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#gone
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #launch(): Promise<void> {
    this.#child = this.#begin()
    this.#gone = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    await answering(this.port)
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
  throw new Error(`No response on port ${port}`)
}

if (process.argv[2] === LOAD_ARGUMENT) makeHttpLoad()
else await main()
