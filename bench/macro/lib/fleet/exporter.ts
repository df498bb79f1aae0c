/** This machine's metrics, recorded twice: by our collector and recorder, and by Prometheus from its node_exporter. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../../../../src/pmapi/archive.ts'
import { startWith } from '../collectors.ts'
import { freePort } from '../free-port.ts'
import { pssMb, treeCpuMs } from '../memory.ts'
import { quantile, table } from '../report.ts'
import { storedValues } from './live.ts'
import { answer, diskBytes, listening, sleep, start, stop } from './processes.ts'

/** How long to record, and how often. */
export interface BesideRun {
  readonly sec: number
  readonly interval: number
  /** Times that each query is repeated. */
  readonly runs: number
}

const PROMETHEUS = '/usr/bin/prometheus'
const EXPORTER = '/usr/bin/prometheus-node-exporter'
/** Processors, load, memory, disks, network interfaces and file systems. */
const METRICS = [
  ...['kernel.all.load', 'kernel.all.cpu', 'kernel.all.intr', 'kernel.all.pswitch', 'kernel.all.sysfork'],
  ...['kernel.all.running', 'kernel.all.blocked', 'kernel.percpu.cpu', 'mem.util', 'mem.vmstat'],
  ...['swap', 'disk.dev', 'network.interface', 'filesys'],
]
/** The same of node_exporter. */
const COLLECTORS = ['cpu', 'loadavg', 'stat', 'meminfo', 'vmstat', 'diskstats', 'netdev', 'filesystem']

/** A program that runs while the metrics are recorded. */
interface Part {
  readonly name: string
  readonly pid: number
}

/** One of the two ways to record. */
interface Side {
  readonly name: string
  readonly parts: readonly Part[]
  readonly dir: string
  /** Returns the number of stored values. */
  values(): Promise<number>
  /** Returns a URL for each of QUERIES. */
  urls(fromSec: number): readonly string[]
  stop(): Promise<void>
}

const QUERIES = [
  'latest load',
  'free memory, all',
  'rate of bytes by interface, all',
  'rate of user time by processor, all',
  'share of file systems used, all',
]

/** Records with both at the same time, and prints memory, processor time, disk and the times of queries. */
export async function measureBesideExporter(run: BesideRun): Promise<void> {
  for (const program of [PROMETHEUS, EXPORTER])
    if (!existsSync(program)) return console.log(`${program} is not installed: nothing to compare with\n`)
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-beside-'))
  const sides: Side[] = []
  try {
    sides.push(await startOurs(join(dir, 'ours'), run.interval))
    sides.push(await startTheirs(join(dir, 'theirs'), run.interval))
    await sleep(2 * run.interval * 1000)
    console.log(`This host's metrics for ${run.sec} s, every ${run.interval} s, both at the same time`)
    await record(sides, run)
    await query(sides, run)
  } finally {
    for (const side of sides) await side.stop()
    rmSync(dir, { recursive: true })
  }
}

/** Prints what recording costs. */
async function record(sides: readonly Side[], { sec, interval }: BesideRun): Promise<void> {
  const parts = sides.flatMap((side) => side.parts)
  const state = async (): Promise<readonly (readonly [bytes: number, values: number])[]> =>
    Promise.all(sides.map(async (side) => [diskBytes(side.dir), await side.values()] as const))
  const cpu = new Map(parts.map(({ pid }) => [pid, treeCpuMs(pid)]))
  await sleep((sec * 1000) / 2)
  const half = await state()
  await sleep((sec * 1000) / 2)
  const rows = parts.map(({ name, pid }) => {
    const seconds = (treeCpuMs(pid) - cpu.get(pid)!) / 1000
    return [name, seconds.toFixed(2), ((seconds / sec) * 100).toFixed(2), pssMb(pid).toFixed(0)]
  })
  console.log(table([['part', 'CPU s', 'CPU % of one', 'PSS MB'], ...rows]))
  const end = await state()
  for (const [i, side] of sides.entries()) {
    const [[halfBytes, halfValues], [bytes, values]] = [half[i]!, end[i]!]
    console.log(
      `${side.name}: ${values} values, ${Math.round(((values - halfValues) / sec) * 2 * interval)} a sample; ` +
        `${(bytes / 1024).toFixed(0)} KB on disk, in the second half ` +
        `${((bytes - halfBytes) / (values - halfValues)).toFixed(1)} bytes a value`,
    )
  }
  console.log(`load of the machine ${loadavg()[0]!.toFixed(1)}\n`)
}

/** Prints the times of queries, which are sent to both over HTTP in turn. */
async function query(sides: readonly Side[], { sec, runs }: BesideRun): Promise<void> {
  const from = Math.floor(Date.now() / 1000) - sec
  const headings = sides.flatMap(({ name }) => [`${name}: bytes`, 'p50 ms', 'p99 ms'])
  const rows: string[][] = []
  for (const [i, what] of QUERIES.entries()) {
    const timed = sides.map((side) => ({ url: side.urls(from)[i]!, bytes: 0, times: [] as number[] }))
    for (let at = 0; at <= runs; at++)
      for (const each of timed) {
        const begun = performance.now()
        each.bytes = (await answer(each.url)).length
        if (at > 0) each.times.push(performance.now() - begun)
      }
    const cells = timed.flatMap(({ bytes, times }) => {
      times.sort((a, b) => a - b)
      return [String(bytes), quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1)]
    })
    rows.push([what, ...cells])
  }
  console.log(`${table([['query', ...headings], ...rows])}\n`)
}

async function startOurs(dir: string, interval: number): Promise<Side> {
  const archives = join(dir, 'archives')
  mkdirSync(archives, { recursive: true })
  const bin = join(process.cwd(), 'bin')
  const lines = ['pmcd 2 dso pmcd_init /pmda_pmcd.so', 'linux 60 dso linux_init /pmda_linux.so']
  const collector = await startWith('ours', process.cwd(), lines)
  writeFileSync(join(dir, 'all.conf'), `log mandatory on ${interval} sec {\n${METRICS.join('\n')}\n}\n`)
  const options = ['-h', `localhost:${collector.port}`, '-c', join(dir, 'all.conf'), '-V', '3']
  const logger = start(
    process.execPath,
    [join(bin, 'pmlogger'), ...options, '-l', join(dir, 'pmlogger.log'), join(archives, 'host')],
    dir,
  )
  const port = await freePort()
  writeFileSync(join(dir, 'pmproxy.conf'), `[ui]\narchives = ${archives}\n`)
  const config = ['-c', join(dir, 'pmproxy.conf'), '-l', join(dir, 'pmproxy.log'), '-U', 'root']
  const proxy = start(process.execPath, [join(bin, 'pmproxy'), '-f', '-p', String(port), ...config], dir)
  await listening(proxy, port)
  return {
    name: 'ours',
    parts: [
      { name: 'pmcd with its agents', pid: collector.pid },
      { name: 'pmlogger', pid: logger.pid! },
      { name: 'pmproxy, for queries', pid: proxy.pid! },
    ],
    dir: archives,
    values: () => archivedValues(join(archives, 'host')),
    urls: (from) =>
      [
        'kernel.all.load[count:1]',
        `mem.util.free[start:${from}]`,
        `rate(network.interface.in.bytes[start:${from}])`,
        `rate(kernel.percpu.cpu.user[start:${from}])`,
        `filesys.full[start:${from}]`,
      ].map((expr) => `http://127.0.0.1:${port}/series/query?expr=${encodeURIComponent(expr)}`),
    stop: async () => {
      await stop(proxy)
      await stop(logger)
      await collector.stop()
    },
  }
}

async function archivedValues(base: string): Promise<number> {
  const context = await openArchive(base)
  let count = 0
  for (const { sets } of context.archive!.records())
    for (const { status } of sets) count += Math.max(0, status)
  await context.close()
  return count
}

async function startTheirs(dir: string, interval: number): Promise<Side> {
  mkdirSync(join(dir, 'data'), { recursive: true })
  const [exporterPort, port] = [await freePort(), await freePort()]
  const exporter = start(
    EXPORTER,
    [
      `--web.listen-address=127.0.0.1:${exporterPort}`,
      '--collector.disable-defaults',
      '--web.disable-exporter-metrics',
      '--collector.vmstat.fields=.*',
      ...COLLECTORS.map((name) => `--collector.${name}`),
    ],
    dir,
  )
  writeFileSync(
    join(dir, 'prometheus.yml'),
    `global:\n  scrape_interval: ${interval}s\nscrape_configs:\n- job_name: node\n  static_configs:\n  - targets: ['127.0.0.1:${exporterPort}']\n`,
  )
  const server = start(
    PROMETHEUS,
    [`--web.listen-address=127.0.0.1:${port}`, '--storage.tsdb.path=data', '--config.file=prometheus.yml'],
    dir,
  )
  await listening(exporter, exporterPort)
  await listening(server, port)
  return {
    name: 'prometheus',
    parts: [
      { name: 'node_exporter', pid: exporter.pid! },
      { name: 'prometheus, also for queries', pid: server.pid! },
    ],
    dir: join(dir, 'data'),
    values: () => storedValues(port),
    urls: (from) => {
      const now = Math.floor(Date.now() / 1000)
      const ranged = (query: string): string =>
        `query_range?query=${encodeURIComponent(query)}&start=${from}&end=${now}&step=${interval}`
      return [
        'query?query=%7B__name__%3D~%22node_load.%2A%22%7D',
        `query?query=${encodeURIComponent(`node_memory_MemFree_bytes[${now - from}s]`)}`,
        ranged(`rate(node_network_receive_bytes_total[${3 * interval}s])`),
        ranged(`rate(node_cpu_seconds_total{mode="user"}[${3 * interval}s])`),
        ranged('1 - node_filesystem_free_bytes / node_filesystem_size_bytes'),
      ].map((path) => `http://127.0.0.1:${port}/api/v1/${path}`)
    },
    stop: async () => {
      await stop(server)
      await stop(exporter)
    },
  }
}
