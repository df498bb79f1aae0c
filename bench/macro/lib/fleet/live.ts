/** Recording a fleet: one pmlogger for all hosts, and Prometheus scraping the same values. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { labelSize } from '../../../../src/archive/label.ts'
import { secondsBetween, type Timestamp } from '../../../../src/base/timestamp.ts'
import { PcpError } from '../../../../src/model/errors.ts'
import { openArchive } from '../../../../src/pmapi/archive.ts'
import { freePort } from '../free-port.ts'
import { quantile, table } from '../report.ts'
import { spawnCollectors } from './collectors.ts'
import { type FleetMetric, hostAddress, hostName, valuesPerSample } from './metrics.ts'
import { answer, type Cost, costOf, diskBytes, listening, sleep, start, stop } from './processes.ts'

/** Time within which all archives must have values. */
const FIRST_VALUES_MS = 180_000

/** Which hosts to record, and for how long. */
export interface LiveRun {
  readonly hosts: number
  readonly sec: number
  readonly interval: number
  readonly metrics: readonly FleetMetric[]
}

/** Prints the costs of recording; returns them by recorder. */
export async function measureLive(run: LiveRun): Promise<ReadonlyMap<string, Cost>> {
  const port = await freePort()
  const collectors = await spawnCollectors(run.hosts, port, run.metrics.length)
  try {
    console.log(`Recording ${run.hosts} hosts for ${run.sec} s`)
    const rows: string[][] = [['recorder', 'CPU % of one', 'PSS MB', 'bytes a value on disk']]
    const farm = await recordedByFarm(run, port)
    const costs = new Map([['pmlogger --farm', farm.cost]])
    rows.push(row('pmlogger --farm', farm.cost, farm.bytesPerValue))
    if (existsSync('/usr/bin/prometheus')) {
      const scraped = await scrapedByPrometheus(run, port + 1)
      costs.set('prometheus', scraped.cost)
      rows.push(row('prometheus', scraped.cost, scraped.bytesPerValue))
    }
    console.log(`${table(rows)}\n${farm.punctuality}\n`)
    return costs
  } finally {
    await stop(collectors)
  }
}

function row(name: string, { cpuPercent, pssMb }: Cost, bytes: number): string[] {
  return [name, cpuPercent.toFixed(1), pssMb.toFixed(0), bytes.toFixed(2)]
}

interface Recorded {
  readonly cost: Cost
  readonly bytesPerValue: number
}

async function recordedByFarm(
  { hosts, sec, interval, metrics }: LiveRun,
  port: number,
): Promise<Recorded & { readonly punctuality: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-fleet-'))
  try {
    const lines = Array.from(
      { length: hosts },
      (_, i) => `${hostAddress(i)}:${port} ${hostName(i)} all.conf\n`,
    )
    writeFileSync(join(dir, 'farm'), lines.join(''))
    writeFileSync(
      join(dir, 'all.conf'),
      `log mandatory on ${interval} sec {\n${metrics.map(({ name }) => name).join('\n')}\n}\n`,
    )
    const program = join(process.cwd(), 'bin', 'pmlogger')
    const args = ['--max-old-space-size=4000', program, '--farm', 'farm', '-V', '3', '-l', 'farm.log']
    const farm = start(process.execPath, args, dir)
    const begun = performance.now()
    for (const waiting = new Set(Array.from({ length: hosts }, (_, i) => hostName(i))); waiting.size > 0; ) {
      await sleep(200)
      if (performance.now() - begun > FIRST_VALUES_MS)
        throw new Error(`${waiting.size} hosts have no values in their archives yet`)
      if (farm.exitCode !== null) throw new Error(`The recorder ended with status ${farm.exitCode}`)
      for (const name of waiting) if (hasValues(join(dir, `${name}.index`))) waiting.delete(name)
    }
    const cost = await costOf(farm, sec)
    await stop(farm)
    let samples = 0
    const gaps: number[] = []
    for (let i = 0; i < hosts; i++) {
      const times = await recordTimes(join(dir, hostName(i)), metrics.length)
      samples += times.length
      for (const [at, time] of times.slice(1).entries()) gaps.push(secondsBetween(times[at]!, time))
    }
    const off = gaps.map((gap) => Math.abs(gap - interval) * 1000).sort((a, b) => a - b)
    const missing = gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / interval) - 1), 0)
    return {
      cost,
      bytesPerValue: diskBytes(dir) / (samples * valuesPerSample(metrics)),
      punctuality:
        `pmlogger: ${samples} samples, ${missing} missing, intervals off by ` +
        `${quantile(off, 0.5).toFixed(1)} ms (p50), ${quantile(off, 0.99).toFixed(0)} ms (p99)`,
    }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Checks whether the index has more entries than those of the label and the prologue. */
function hasValues(path: string): boolean {
  const entrySize = 32
  return existsSync(path) && statSync(path).size > labelSize(3) + entrySize
}

async function recordTimes(base: string, least: number): Promise<readonly Timestamp[]> {
  const context = await openArchive(base)
  const archive = context.archive!
  archive.setMode('forward', archive.start)
  const times: Timestamp[] = []
  try {
    for (;;) {
      const { sets, timestamp } = archive.fetchRecord()
      if (sets.length >= least) times.push(timestamp)
    }
  } catch (error) {
    if (PcpError.from(error).code !== 'PM_ERR_EOL') throw error
  } finally {
    await context.close()
  }
  return times
}

async function scrapedByPrometheus({ hosts, sec, interval }: LiveRun, port: number): Promise<Recorded> {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-fleet-'))
  try {
    const targets = Array.from({ length: hosts }, (_, i) => `      - ${hostAddress(i)}:${port}\n`)
    writeFileSync(
      join(dir, 'prometheus.yml'),
      `global:\n  scrape_interval: ${interval}s\nscrape_configs:\n- job_name: fleet\n  static_configs:\n  - targets:\n${targets.join('')}`,
    )
    mkdirSync(join(dir, 'data'))
    const own = await freePort()
    const args = [
      `--web.listen-address=127.0.0.1:${own}`,
      '--storage.tsdb.path=data',
      '--config.file=prometheus.yml',
    ]
    const server = start('/usr/bin/prometheus', args, dir)
    await listening(server, own)
    // One interval later every host has been scraped.
    await sleep(interval * 1000)
    const cost = await costOf(server, sec)
    const samples = Math.max(1, await storedValues(own))
    await stop(server)
    return { cost, bytesPerValue: diskBytes(join(dir, 'data')) / samples }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Returns the number of values that a Prometheus has stored since its start. */
export async function storedValues(port: number): Promise<number> {
  const text = await answer(`http://127.0.0.1:${port}/metrics`)
  return [...text.matchAll(/^prometheus_tsdb_head_samples_appended_total.* (\S+)$/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  )
}
