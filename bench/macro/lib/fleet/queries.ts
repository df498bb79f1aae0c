/** Ten typical queries over a fleet, and how long a store takes to answer them. */
import { ArchiveSeries } from '../../../../src/series/archives/store.ts'
import { parseKeyServer } from '../../../../src/series/keys/address.ts'
import { KeyClient } from '../../../../src/series/keys/client.ts'
import { KeySeries } from '../../../../src/series/keys/store.ts'
import { prometheusServer } from '../../../../src/series/prometheus/client.ts'
import { PrometheusStore } from '../../../../src/series/prometheus/store.ts'
import { evaluate } from '../../../../src/series/query/evaluate.ts'
import { parseQuery } from '../../../../src/series/query/parse.ts'
import type { SeriesStore } from '../../../../src/series/store.ts'
import { UTC } from '../../../../src/time/zone.ts'
import { quantile } from '../report.ts'
import { hostName } from './metrics.ts'
import { run } from './processes.ts'

/** Time span of the stored values, in seconds since the epoch. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A store of series: a directory of archives, the port of a key server or the URL of a server with Prometheus' API. */
export type StoreAddress =
  | { readonly kind: 'archives'; readonly directory: string }
  | { readonly kind: 'keys'; readonly port: number }
  | { readonly kind: 'prometheus'; readonly url: string }

/** How long a query took. */
export interface Timed {
  readonly what: string
  /** Identifiers or values in the answer. */
  readonly count: number
  readonly firstMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Runs after the first. */
  readonly runs: number
  /** The error of a query that failed. */
  readonly problem?: string
}

/** A query is repeated until this time has passed, but three times at least. */
const QUERY_MS = 8000
const FEWEST_RUNS = 3
/** Time for all queries of a store. */
const ALL_QUERIES_SEC = 900

/** The query whose growth with the number of hosts is drawn. */
export const HOUR_OF_ALL = 'last hour of all hosts'

/** Returns the queries, each with a description. */
export function fleetQueries({ start, end }: Span): readonly (readonly [what: string, text: string])[] {
  const hour = `start:${Math.max(start, end - 3600)}`
  const one = `hostname=="${hostName(7)}"`
  return [
    ['find a metric on all hosts', 'kernel.all.load'],
    ['find by label', 'kernel.all.load{env=="prod"}'],
    ['latest of all hosts', 'mem.util.free[count:1]'],
    ['latest of instances, by label', 'kernel.percpu.cpu.user{env=="prod"}[count:1]'],
    ['last hour of one host', `disk.dev.read{${one}}[${hour}]`],
    [HOUR_OF_ALL, `mem.util.free[${hour}]`],
    ['its rate', `rate(disk.dev.read[${hour}])`],
    ['sum of rates by host', `sum_sample(rate(network.interface.in.bytes[${hour}]))`],
    ['highest load by host', `max_inst(kernel.all.load[${hour}])`],
    ['each 10 min, all hosts, all time', `mem.util.free[start:${start},interval:"10min"]`],
  ]
}

/** Sends the queries from a child process; returns their times and its memory. */
export async function timeQueries(
  address: StoreAddress,
  span: Span,
  runs: number,
): Promise<{ readonly timed: readonly Timed[]; readonly peakMb: number }> {
  const args = ['query', JSON.stringify(address), JSON.stringify(span), String(runs)]
  const { output, peakMb } = await run(process.argv[1]!, args, ALL_QUERIES_SEC)
  return { timed: JSON.parse(output) as Timed[], peakMb }
}

/** Times the queries and prints the result as JSON: the child process that `timeQueries` starts. */
export async function queryProcess(address: StoreAddress, span: Span, runs: number): Promise<void> {
  const store = await opened(address)
  await store.names('metric')
  const timed: Timed[] = []
  for (const [what, text] of fleetQueries(span)) timed.push(await timedQuery(store, what, text, runs))
  await store.close()
  console.log(JSON.stringify(timed))
}

async function opened(address: StoreAddress): Promise<SeriesStore> {
  switch (address.kind) {
    case 'archives':
      return new ArchiveSeries([address.directory], { freshMs: 600_000 })
    case 'keys':
      return await KeySeries.open(await KeyClient.open([parseKeyServer(`127.0.0.1:${address.port}`)!]))
    case 'prometheus':
      return new PrometheusStore(prometheusServer(address.url))
  }
}

async function timedQuery(store: SeriesStore, what: string, text: string, runs: number): Promise<Timed> {
  const times: number[] = []
  let [count, spent] = [0, 0]
  try {
    while (times.length <= runs && (spent < QUERY_MS || times.length <= FEWEST_RUNS)) {
      const begun = performance.now()
      const answer = await evaluate(store, parseQuery(text), { now: Date.now, zone: UTC })
      const took = performance.now() - begun
      times.push(took)
      spent += took
      count =
        answer.kind === 'ids'
          ? answer.ids.length
          : answer.series.reduce(
              (sum, { samples }) => sum + samples.reduce((all, { ids }) => all + ids.length, 0),
              0,
            )
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { what, count: 0, firstMs: Number.NaN, p50Ms: Number.NaN, p99Ms: Number.NaN, runs: 0, problem }
  }
  const [firstMs, ...rest] = times as [number, ...number[]]
  rest.sort((a, b) => a - b)
  return { what, count, firstMs, p50Ms: quantile(rest, 0.5), p99Ms: quantile(rest, 0.99), runs: rest.length }
}
