/**
 * Queries over the archives of a fleet: how long does each take, and how much memory does the store need?
 * `npm run bench -- series [--hosts N] [--hours N] [--interval SEC] [--metrics N] [--runs N]`.
 *
 * Each host has an archive of its own with the same counters. Archives are written first, which takes longer than all queries.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createArchive } from '../../src/archive.ts'
import { indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_COUNTER, PM_TYPE_U64 } from '../../src/model/types.ts'
import { ArchiveSeries } from '../../src/series/archives/store.ts'
import { evaluate } from '../../src/series/query/evaluate.ts'
import { parseQuery } from '../../src/series/query/parse.ts'
import { UTC } from '../../src/time/zone.ts'
import { residentMb } from './lib/memory.ts'
import { quantile, table } from './lib/report.ts'

const START = 1_700_000_000
const DOMAIN = 77

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      hosts: { type: 'string', default: '100' },
      hours: { type: 'string', default: '24' },
      interval: { type: 'string', default: '10' },
      metrics: { type: 'string', default: '30' },
      runs: { type: 'string', default: '20' },
    },
  })
  const [hosts, hours, interval, metrics, runs] = [
    values.hosts,
    values.hours,
    values.interval,
    values.metrics,
    values.runs,
  ].map(Number) as [number, number, number, number, number]
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-series-'))
  try {
    const samples = Math.floor((hours * 3600) / interval)
    const bytes = write(dir, { hosts, samples, interval, metrics })
    console.log(
      `${hosts} hosts, ${samples} samples of ${metrics} metrics each: ${(bytes / 1e6).toFixed(0)} MB`,
    )
    const store = new ArchiveSeries([dir], { freshMs: 60_000 })
    const begun = performance.now()
    console.log(
      `opened ${(await store.names('metric')).length} metrics in ${(performance.now() - begun).toFixed(0)} ms`,
    )
    const end = START + samples * interval
    const rows: string[][] = [['query', 'values', 'first ms', 'p50 ms', 'p99 ms']]
    for (const [what, text] of queries(end)) rows.push(await timed(store, what, text, runs))
    console.log(table(rows))
    console.log(`resident ${residentMb(process.pid).toFixed(0)} MB`)
    await store.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function queries(end: number): readonly (readonly [what: string, text: string])[] {
  const hour = `start:${end - 3600}`
  return [
    ['find a metric on all hosts', 'demo.m1'],
    ['find by label', 'demo.m1{hostname =~ "host1.*"}'],
    ['latest value of all hosts', 'demo.m1[count:1]'],
    ['last hour of one host', `demo.m1{hostname=="host7"}[${hour}]`],
    ['last hour of all hosts', `demo.m1[${hour}]`],
    ['rate, last hour, all hosts', `rate(demo.m1[${hour}])`],
    ['sum of rates by host, last hour', `sum_sample(rate(demo.m1[${hour}]))`],
    ['all hosts each 10 min, whole time', `demo.m1[start:${START},interval:"10min"]`],
  ]
}

async function timed(store: ArchiveSeries, what: string, text: string, runs: number): Promise<string[]> {
  const times: number[] = []
  let count = 0
  for (let i = 0; i <= runs; i++) {
    const begun = performance.now()
    const answer = await evaluate(store, parseQuery(text), { now: Date.now, zone: UTC })
    times.push(performance.now() - begun)
    count = 0
    if (answer.kind === 'ids') count = answer.ids.length
    else for (const { samples } of answer.series) for (const { ids } of samples) count += ids.length
  }
  if (count === 0) throw new Error(`${text} found nothing`)
  const [first, ...rest] = times
  rest.sort((a, b) => a - b)
  return [
    what,
    String(count),
    ...[first!, quantile(rest, 0.5), quantile(rest, 0.99)].map((ms) => ms.toFixed(1)),
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
  }: Readonly<Record<'hosts' | 'samples' | 'interval' | 'metrics', number>>,
): number {
  let bytes = 0
  const instances = indom(DOMAIN, 1)
  for (let h = 0; h < hosts; h++) {
    const base = join(dir, `host${h}`)
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
      made.write({ sec: START + i * interval, nsec: 0 })
    }
    made.close()
    for (const part of ['meta', 'index', '0']) bytes += statSync(`${base}.${part}`).size
  }
  return bytes
}

await main()
