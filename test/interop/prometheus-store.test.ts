/** Queries over Prometheus and VictoriaMetrics give the answers of the archives whose values they have. */
import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prometheusServer } from '../../src/series/prometheus/client.ts'
import { PrometheusStore } from '../../src/series/prometheus/store.ts'
import type { SeriesStore } from '../../src/series/store.ts'
import { answerOf, KNOWN, NOW_MS, openFleet, QUERIES } from '../series/prometheus/fleet.ts'
import { type Exchange, type LocalServer, record } from '../series/prometheus/recorded.ts'
import { importedSeries } from './lib/prometheus-import.ts'
import {
  hasPrometheus,
  hasVictoriaMetrics,
  type PrometheusProgram,
  startPrometheus,
  startVictoriaMetrics,
} from './lib/prometheus-servers.ts'

const SERVERS = [
  { name: 'prometheus', isHere: hasPrometheus, start: startPrometheus },
  { name: 'victoria-metrics', isHere: hasVictoriaMetrics, start: startVictoriaMetrics },
]
/** Series of another exporter. */
const FOREIGN = ['0', '1'].flatMap((cpu) =>
  ['idle', 'user'].map((mode, i) => ({
    metric: { __name__: 'node_cpu_seconds_total', instance: 'db1:9100', job: 'node', cpu, mode },
    values: [100 * i, 100 * i + 10],
    timestamps: [NOW_MS - 60_000, NOW_MS - 50_000],
  })),
)

describe.each(SERVERS)('$name', ({ name, isHere, start }) => {
  const exchanges: Exchange[] = []
  let archives: ReturnType<typeof openFleet>
  let server: PrometheusProgram
  let recorder: LocalServer
  let store: SeriesStore

  beforeAll(async () => {
    if (!isHere) return
    archives = openFleet()
    server = await start([...(await importedSeries(archives.store)), ...FOREIGN])
    recorder = await record(server.url, exchanges)
    store = new PrometheusStore(prometheusServer(recorder.url), {
      known: async () => KNOWN,
      now: () => NOW_MS,
    })
  })

  afterAll(async () => {
    if (!isHere) return
    await store.close()
    await recorder.close()
    await server.close()
    await archives.close()
    if (process.env['PCP_TS_RECORD'] !== undefined)
      writeFileSync(
        new URL(`../vectors/prometheus/${name}.json`, import.meta.url),
        `[\n${exchanges.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`,
      )
  })

  it.skipIf(!isHere).each(QUERIES)('%s', async (query) => {
    expect(await answerOf(store, query)).toEqual(await answerOf(archives.store, query))
  })

  it.skipIf(!isHere)('metrics of another exporter have their own names and instances', async () => {
    const [id] = await store.withName('metric', 'node_cpu_seconds_total')
    expect((await store.instances(id!)).map(({ name: each }) => each).sort()).toEqual([
      'cpu:0,mode:idle',
      'cpu:0,mode:user',
      'cpu:1,mode:idle',
      'cpu:1,mode:user',
    ])
    const rates = await answerOf(store, 'rate(node_cpu_seconds_total{mode=="user"}[count:2])')
    expect(rates.map((each) => each.split(' ').at(-1))).toEqual([
      '1.000000',
      '1.000000',
      '1.000000',
      '1.000000',
    ])
  })

  it.skipIf(!isHere)('names, labels and metadata', async () => {
    expect([...(await store.names('metric'))].sort()).toEqual([
      'demo.count',
      'demo.load',
      'node_cpu_seconds_total',
    ])
    expect([...(await store.names('context'))].sort()).toEqual(['db1', 'db1:9100', 'db2', 'web'])
    expect(await store.labelValues('hostname')).toEqual(['"db1"', '"db2"', '"web"'])
    expect(await store.names('instance')).toEqual(['one', 'two'])
    const [id] = await store.withName('metric', 'demo.load')
    const known = await archives.store.withName('metric', 'demo.load')
    expect(known).toContain(id)
    expect(await store.desc(id!)).toEqual(await archives.store.desc(id!))
    expect(await store.instances(id!)).toEqual(await archives.store.instances(id!))
    const [one] = await store.instances(id!)
    expect(await store.labels(one!.id)).toEqual(await archives.store.labels(one!.id))
  })
})
