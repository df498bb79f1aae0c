/**
 * Queries over the archives of a fleet: how long does each take, with and without rollups, and how much memory and disk does it need?
 * `npm run bench -- series [--hosts N] [--days N] [--hours N] [--interval SEC] [--metrics N] [--runs N] [--parquet]
 * [--dir DIR]`.
 *
 * Each host has an archive of its own each day, with the same counters. Archives are written first, which takes longer than all
 * queries: `--dir DIR` keeps them there for the next run. `--parquet` makes the files for other programs too. `--hosts 1 --days 365 --hours 24 --interval 60 --metrics 20` is a year of a host.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../src/model/types.ts'
import { Fleet } from '../../src/pmproxy/fleet/fleet.ts'
import { ReadingTime } from '../../src/pmproxy/fleet/reading-time.ts'
import { ArchiveSeries } from '../../src/series/archives/store.ts'
import { maintainRollups } from '../../src/series/columns/maintain.ts'
import { columnsPath } from '../../src/series/columns/places.ts'
import { evaluate } from '../../src/series/query/evaluate.ts'
import { parseQuery } from '../../src/series/query/parse.ts'
import { archiveFiles } from '../../src/sys/archive-files.ts'
import { UTC } from '../../src/time/zone.ts'
import { residentMb } from './lib/memory.ts'
import { median, quantile, table } from './lib/report.ts'

const START = 1_700_000_000
const DOMAIN = 77

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      hosts: { type: 'string', default: '100' },
      days: { type: 'string', default: '1' },
      hours: { type: 'string', default: '24' },
      interval: { type: 'string', default: '10' },
      metrics: { type: 'string', default: '30' },
      runs: { type: 'string', default: '20' },
      parquet: { type: 'boolean', default: false },
      dir: { type: 'string' },
    },
  })
  const number = (name: 'hosts' | 'days' | 'hours' | 'interval' | 'metrics' | 'runs'): number =>
    Number(values[name])
  const [hosts, days, interval, metrics] = [
    number('hosts'),
    number('days'),
    number('interval'),
    number('metrics'),
  ]
  const dir = values.dir ?? mkdtempSync(join(tmpdir(), 'pcp-ts-series-'))
  try {
    const samples = Math.floor((number('hours') * 3600) / interval)
    const shape = { samples, interval, metrics }
    let bytes = 0
    for (let day = 0; day < days; day++) bytes += write(dir, { ...shape, hosts, day })
    const count = hosts * days * samples * metrics * 2
    console.log(
      `${hosts * days} archives, ${samples} samples of ${metrics} metrics each: ${(bytes / 1e6).toFixed(0)} MB`,
    )
    const end = START + (days - 1) * 86_400 + samples * interval
    const runs = number('runs')
    if (!existsSync(columnsPath(join(dir, 'host0', 'day0')))) await measured('from records', dir, end, runs)
    const begun = performance.now()
    const { built, problems } = await maintainRollups([dir], {
      nowMs: Date.now(),
      isActive: () => false,
      isColumnsOnly: !values.parquet,
    })
    if (problems.length > 0) throw new Error(problems[0])
    console.log(
      `made rollups of ${built.length} archives in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
    )
    for (const kind of ['columns', '1min.parquet', '1hour.parquet'])
      console.log(`${kind}: ${(sizeOf(dir, kind) / count).toFixed(2)} bytes a recorded value`)
    console.log(`archives: ${(bytes / count).toFixed(2)} bytes a recorded value`)
    await measured('with rollups', dir, end, runs)
    console.log(`resident ${residentMb(process.pid).toFixed(0)} MB`)
  } finally {
    if (values.dir === undefined) rmSync(dir, { recursive: true, force: true })
  }
}

async function measured(what: string, dir: string, end: number, runs: number): Promise<void> {
  for (const isFirst of [true, false]) {
    // Metadata of archives that were just written is not kept in catalogues.
    const nowMs = (): number => Date.now() + 3_600_000
    const store = new ArchiveSeries([dir], { freshMs: 60_000, keepsCatalogue: true, nowMs })
    const begun = performance.now()
    const found = await store.withName('metric', 'demo.m1')
    const took = (performance.now() - begun).toFixed(0)
    console.log(`${what}: found ${found.length} series in ${took} ms${isFirst ? '' : ', from the catalogue'}`)
    if (!isFirst) {
      const rows: string[][] = [['query', 'values', 'first ms', 'p50 ms', 'p99 ms', 'CPU ms']]
      for (const [name, text] of queries(end)) rows.push(await timed(store, name, text, runs))
      console.log(table(rows))
      console.log(
        table([['page: a metric of all hosts', ...rows[0]!.slice(1)], ...(await timedPage(dir, end, runs))]),
      )
    }
    await store.close()
  }
}

/** Returns the bytes of files by the end of their names. */
function sizeOf(dir: string, end: string): number {
  let bytes = 0
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith(end)) bytes += statSync(join(dir, name)).size
  return bytes
}

function queries(end: number): readonly (readonly [what: string, text: string])[] {
  const hour = `start:${end - 3600}`
  return [
    ['find a metric on all hosts', 'demo.m1'],
    ['find by label', 'demo.m1{hostname =~ "host.*0"}'],
    ['latest value of all hosts', 'demo.m1[count:1]'],
    ['last hour of one host', `demo.m1{hostname=="host0"}[${hour}]`],
    ['last hour of all hosts', `demo.m1[${hour}]`],
    ['rate, last hour, all hosts', `rate(demo.m1[${hour}])`],
    ['sum of rates by host, last hour', `sum_sample(rate(demo.m1[${hour}]))`],
    ['all hosts each 10 min, last day', `demo.m1[start:${end - 86_400},interval:"10min"]`],
    ['the same, not at full minutes', `demo.m1[start:${end - 86_377},interval:"10min"]`],
    ['one host each hour, whole time', `demo.m1{hostname=="host0"}[start:${START},interval:"1hour"]`],
    ['highest value by host, last hour', `max_inst(demo.m1[${hour}])`],
    ['mean rate by host, each minute, day', `avg_inst(rate(demo.m1[start:${end - 86_400},interval:"1min"]))`],
    [
      'its highest rate each hour',
      `max_inst(rate(demo.m1{hostname=="host0"}[start:${START},interval:"1hour"]))`,
    ],
  ]
}

function timed(store: ArchiveSeries, what: string, text: string, runs: number): Promise<string[]> {
  return timedRuns(what, runs, async () => {
    const answer = await evaluate(store, parseQuery(text), { now: Date.now, zone: UTC })
    if (answer.kind === 'ids') return answer.ids.length
    let count = 0
    for (const { samples } of answer.series) for (const { ids } of samples) count += ids.length
    return count
  })
}

/** Returns rows for the fleet of the page. Its window moves on each time, because values of a window are remembered. */
async function timedPage(dir: string, end: number, runs: number): Promise<string[][]> {
  const fleet = new Fleet([dir], () => archiveFiles())
  const common = { name: 'demo.m1', isFigure: false, top: 10, seesProcesses: false }
  let moved = 0
  const timedWindow = (what: string, step: number, buckets: number): Promise<string[]> =>
    timedRuns(what, runs, async () => {
      const start = end - step * (buckets + (moved++ % 20))
      const reading = new ReadingTime(new AbortController().signal, Number.POSITIVE_INFINITY)
      const { cells } = await fleet.range({ ...common, start, step, buckets }, reading)
      return cells.filter((value) => !Number.isNaN(value)).length
    })
  try {
    return [await timedWindow('last hour', 12, 300), await timedWindow('last day', 300, 288)]
  } finally {
    fleet.close()
  }
}

/** Measures an action that returns the number of values it found. */
async function timedRuns(what: string, runs: number, run: () => Promise<number>): Promise<string[]> {
  const times: number[] = []
  const processor: number[] = []
  let count = 0
  for (let i = 0; i <= runs; i++) {
    const begun = performance.now()
    const before = process.cpuUsage()
    count = await run()
    times.push(performance.now() - begun)
    const { user, system } = process.cpuUsage(before)
    processor.push((user + system) / 1000)
  }
  if (count === 0) throw new Error(`${what}: found nothing`)
  const [first, ...rest] = times
  rest.sort((a, b) => a - b)
  // Processor time varies less on a busy machine.
  return [
    what,
    String(count),
    ...[first!, quantile(rest, 0.5), quantile(rest, 0.99), median(processor)].map((ms) => ms.toFixed(1)),
  ]
}

/** Writes the archives; returns their bytes. */
function write(
  dir: string,
  {
    hosts,
    samples,
    interval,
    metrics,
    day,
  }: Readonly<Record<'hosts' | 'samples' | 'interval' | 'metrics' | 'day', number>>,
): number {
  let bytes = 0
  const instances = indom(DOMAIN, 1)
  for (let h = 0; h < hosts; h++) {
    mkdirSync(join(dir, `host${h}`), { recursive: true })
    const base = join(dir, `host${h}`, `day${day}`)
    if (existsSync(`${base}.meta`)) {
      for (const part of ['meta', 'index', '0']) bytes += statSync(`${base}.${part}`).size
      continue
    }
    const made = createArchive(base, { hostname: `host${h}`, timezone: 'UTC' })
    for (let m = 1; m <= metrics; m++)
      made.addMetric(`demo.m${m}`, {
        pmid: pmid(DOMAIN, 0, m),
        type: PM_TYPE_U64,
        sem: PM_SEM_COUNTER,
        units: 'count',
        indom: instances,
      })
    made.addInstance(instances, 'one', 1)
    made.addInstance(instances, 'two', 2)
    for (let i = 0; i < samples; i++) {
      for (let m = 1; m <= metrics; m++)
        for (const inst of [1, 2]) made.put(`demo.m${m}`, i * m * inst + h, inst)
      made.write({ sec: START + day * 86_400 + i * interval, nsec: 0 })
    }
    made.close()
    for (const part of ['meta', 'index', '0']) bytes += statSync(`${base}.${part}`).size
  }
  return bytes
}

await main()
