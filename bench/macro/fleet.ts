/**
 * A fleet of made-up hosts: what do recording, storage and queries cost, and how do they grow?
 * `npm run bench -- fleet [--live 10,100,1000] [--sec 60] [--stored 10,100] [--hours 1] [--metrics N] [--runs N]
 * [--engines redis,prometheus,victoria-metrics] [--no-proxies] [--figures FILE] [--plot FILE] [--beside-exporter]`.
 *
 * `--live` records collectors of that many hosts with one `pmlogger --farm`, then has Prometheus scrape the same values.
 * `--stored` writes archives of that many hosts, loads them into engines, and queries all; `none` leaves out either.
 * `--figures` adds the figures to a JSON file, and `--plot` draws all of that file, so that several runs make one picture.
 * `--beside-exporter` instead records this machine's own metrics for `--sec` with our collector and recorder, and at the same
 * time with Prometheus and its node_exporter.
 * docs/developing/fleet.md explains the figures.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { serveFleet } from './lib/fleet/collectors.ts'
import { measureBesideExporter } from './lib/fleet/exporter.ts'
import { Figures } from './lib/fleet/figures.ts'
import { measureLive } from './lib/fleet/live.ts'
import { fleetMetrics, valuesPerSample } from './lib/fleet/metrics.ts'
import { arithmetic, growthSvg } from './lib/fleet/plot.ts'
import { queryProcess, type Span, type StoreAddress } from './lib/fleet/queries.ts'
import { measureStored, rollupProcess } from './lib/fleet/stored.ts'

async function main(): Promise<void> {
  const [part, ...args] = process.argv.slice(2)
  switch (part) {
    case 'collect': {
      const [hosts, port, metrics] = args.map(Number) as [number, number, number]
      return await serveFleet(hosts, port, fleetMetrics(metrics))
    }
    case 'query': {
      const [address, span] = args.slice(0, 2).map((text) => JSON.parse(text)) as [StoreAddress, Span]
      return await queryProcess(address, span, Number(args[2]))
    }
    case 'rollup':
      return await rollupProcess(args[0]!)
    default:
      return await measure()
  }
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: {
      live: { type: 'string', default: '10,100,1000' },
      sec: { type: 'string', default: '60' },
      stored: { type: 'string', default: '10,100' },
      hours: { type: 'string', default: '1' },
      interval: { type: 'string', default: '10' },
      metrics: { type: 'string', default: '300' },
      runs: { type: 'string', default: '20' },
      engines: { type: 'string', default: 'redis,prometheus,victoria-metrics' },
      proxies: { type: 'boolean', default: true },
      'beside-exporter': { type: 'boolean', default: false },
      figures: { type: 'string' },
      plot: { type: 'string' },
    },
    allowNegative: true,
  })
  const count = Number(values.metrics)
  const [sec, interval, hours, runs] = [values.sec, values.interval, values.hours, values.runs].map(
    Number,
  ) as [number, number, number, number]
  if (values['beside-exporter']) return await measureBesideExporter({ sec, interval, runs })
  const metrics = fleetMetrics(count)
  console.log(`${count} metrics a host, ${valuesPerSample(metrics)} values a sample, every ${interval} s\n`)
  const { figures: file } = values
  const figures = new Figures(
    file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [],
  )
  const keep = (): void => {
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(figures.panels, undefined, 1)}\n`)
  }
  for (const hosts of numbers(values.live)) {
    for (const [name, { cpuPercent, pssMb }] of await measureLive({ hosts, sec, interval, metrics })) {
      figures.add('Recording: CPU, % of one', name, hosts, cpuPercent)
      figures.add('Recording: memory, MB', name, hosts, pssMb)
    }
    keep()
  }
  const engines = values.engines.split(',')
  for (const hosts of numbers(values.stored)) {
    const run = { hosts, hours, interval, metrics, runs, engines, comparesProxies: values.proxies }
    for (const [name, { hourMs, memoryMb }] of await measureStored(run)) {
      figures.add(`${Number((hours * 60).toFixed(1))} minutes of all hosts: ms`, name, hosts, hourMs)
      figures.add('Engine and queries: memory, MB', name, hosts, memoryMb)
    }
    keep()
  }
  for (const line of arithmetic(figures.panels)) console.log(line)
  if (values.plot !== undefined) writeFileSync(values.plot, growthSvg(figures.panels))
}

function numbers(list: string): readonly number[] {
  return list
    .split(',')
    .map(Number)
    .filter((count) => count > 0)
}

await main()
