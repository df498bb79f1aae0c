/**
 * Loads the same archives into a key server with our pmseries and with the reference's, in turn: how many values a second, with how much
 * CPU time and memory? `npm run bench -- keys [--hosts N] [--samples N] [--metrics N] [--runs N]`. Needs redis-server.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseKeyServer } from '../../src/series/keys/address.ts'
import { KeyClient } from '../../src/series/keys/client.ts'
import { writeArchives } from './lib/fleet/archives.ts'
import { fleetMetrics, hostName, valuesPerSample } from './lib/fleet/metrics.ts'
import { listening, start, stop } from './lib/fleet/processes.ts'
import { freePort } from './lib/free-port.ts'
import { cpuMs, residentMb } from './lib/memory.ts'
import { median, table } from './lib/report.ts'

const SERVER = '/usr/bin/redis-server'
const REFERENCE = '/usr/bin/pmseries'
/** BENCH_NODE_OPTIONS='--cpu-prof --cpu-prof-dir=/tmp/prof' writes a profile. */
const NODE_OPTIONS = (process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '')
const POLL_MS = 20

/** What a loading took. */
interface Cost {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly serverCpuSeconds: number
  readonly mostMb: number
  readonly keys: number
}

async function main(): Promise<void> {
  const preset = (value: number): { readonly type: 'string'; readonly default: string } => ({
    type: 'string',
    default: String(value),
  })
  const options = { hosts: preset(2), samples: preset(720), metrics: preset(300), runs: preset(3) }
  const { values } = parseArgs({ options })
  const [hosts, samples, count, runs] = ['hosts', 'samples', 'metrics', 'runs'].map((name) =>
    Number(values[name as keyof typeof values]),
  ) as [number, number, number, number]
  if (!existsSync(SERVER)) throw new Error(`${SERVER} is missing: apt-get install redis-server`)
  const loaders: readonly (readonly [name: string, ...command: string[]])[] = [
    ['ours', process.execPath, ...NODE_OPTIONS, join(process.cwd(), 'bin', 'pmseries')],
    ...(existsSync(REFERENCE) ? [['reference', REFERENCE] as const] : []),
  ]
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-keys-'))
  const port = await freePort()
  const memory = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1', '--dir', dir]
  const server = start(SERVER, ['--port', String(port), ...memory], dir)
  try {
    await listening(server, port)
    const client = await KeyClient.open([parseKeyServer(`127.0.0.1:${port}`)!])
    const metrics = fleetMetrics(count)
    const bytes = writeArchives(dir, { hosts, metrics, start: 1_780_000_000, samples, interval: 10 })
    const valueCount = hosts * samples * valuesPerSample(metrics)
    const archives = Array.from({ length: hosts }, (_, host) => join(dir, hostName(host)))
    const costs = new Map(loaders.map(([name]) => [name, [] as Cost[]]))
    for (let run = 0; run < runs; run++)
      for (const [name, ...command] of loaders) {
        await client.call('FLUSHALL')
        costs.get(name)!.push(await loadAll([...command, '-p', String(port), '-L'], archives, server, client))
      }
    console.log(
      `${valueCount} values of ${hosts * metrics.length} series, ${(bytes / 2 ** 20).toFixed(1)} MB of archives; medians of ` +
        `${runs} runs; load average ${loadavg()[0]!.toFixed(1)}`,
    )
    console.log(report(costs, valueCount))
    client.close()
  } finally {
    await stop(server)
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Loads archives one after the other. */
async function loadAll(
  command: readonly string[],
  archives: readonly string[],
  server: ChildProcess,
  client: KeyClient,
): Promise<Cost> {
  const before = cpuMs(server.pid!)
  let [seconds, cpuSeconds, mostMb] = [0, 0, 0]
  for (const archive of archives) {
    const begun = performance.now()
    const child = spawn(command[0]!, [...command.slice(1), archive], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    let cpu = 0
    const timer = setInterval(() => {
      // A process that has ended is waited for: there is nothing to read any more.
      if (!existsSync(`/proc/${child.pid}/stat`)) return
      cpu = Math.max(cpu, cpuMs(child.pid!))
      mostMb = Math.max(mostMb, peakMb(child.pid!))
    }, POLL_MS)
    const [status] = await once(child, 'exit')
    clearInterval(timer)
    if (status !== 0) throw new Error(`${command.join(' ')} ended with status ${status}`)
    seconds += (performance.now() - begun) / 1000
    cpuSeconds += cpu / 1000
  }
  const serverCpuSeconds = (cpuMs(server.pid!) - before) / 1000
  return { seconds, cpuSeconds, serverCpuSeconds, mostMb, keys: Number(await client.call('DBSIZE')) }
}

function peakMb(pid: number): number {
  const peak = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  return peak === undefined ? residentMb(pid) : Number(peak) / 1024
}

function report(costs: ReadonlyMap<string, readonly Cost[]>, valueCount: number): string {
  const rows = [['', 'values/s', 'values/s of its CPU', 'CPU s', 'server CPU s', 'most MB', 'keys']]
  const rates: number[] = []
  for (const [name, all] of costs) {
    const of = (figure: keyof Cost): number => median(all.map((cost) => cost[figure]))
    rates.push(valueCount / of('seconds'))
    rows.push([
      name,
      ...[valueCount / of('seconds'), valueCount / of('cpuSeconds')].map((rate) => String(Math.round(rate))),
      ...[of('cpuSeconds'), of('serverCpuSeconds')].map((each) => each.toFixed(2)),
      ...[of('mostMb'), of('keys')].map((each) => each.toFixed(0)),
    ])
  }
  const [ours, reference] = rates
  const ratio = reference === undefined ? '' : `\nours loads ${(ours! / reference).toFixed(2)} times as fast`
  return table(rows) + ratio
}

await main()
