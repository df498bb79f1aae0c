/** Stored history of a fleet: bytes a value and query times, over archives without and with rollups, and over engines. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { maintainRollups } from '../../../../src/series/columns/maintain.ts'
import { table } from '../report.ts'
import { compressedBytes, writeArchives } from './archives.ts'
import { type Engine, engineDir, installedEngines } from './engines.ts'
import { type FleetMetric, hostName, valuesPerSample } from './metrics.ts'
import { diskBytes, run } from './processes.ts'
import { compareProxies } from './proxies.ts'
import { HOUR_OF_ALL, type Span, type StoreAddress, timeQueries } from './queries.ts'

/** Which hosts to store. */
export interface StoredRun {
  readonly hosts: number
  readonly hours: number
  readonly interval: number
  readonly metrics: readonly FleetMetric[]
  readonly runs: number
  /** Names of the engines to load. */
  readonly engines: readonly string[]
  /** Whether to compare our pmproxy with the reference's over the key server. */
  readonly comparesProxies: boolean
}

const HEADINGS = ['query', 'found', 'first ms', 'p50 ms', 'p99 ms', 'runs']
/** Time for rollups. */
const ROLLUP_SEC = 1800

/** What a store of the fleet costs. */
export interface StoredCost {
  /** Median of the query for an hour of all hosts, in milliseconds. */
  readonly hourMs: number
  /** Memory of the engine and of the process that queries, in megabytes. */
  readonly memoryMb: number
}

/** Prints bytes a value and query times of archives and of each installed engine; returns them by engine. */
export async function measureStored(stored: StoredRun): Promise<ReadonlyMap<string, StoredCost>> {
  const { hosts, hours, interval, metrics } = stored
  const dir = mkdtempSync(join(tmpdir(), 'pcp-ts-fleet-'))
  try {
    const archives = join(dir, 'archives')
    mkdirSync(archives)
    const samples = Math.round((hours * 3600) / interval)
    const start = Math.floor(Date.now() / 1000 / interval) * interval - samples * interval
    const span = { start, end: start + samples * interval }
    const values = hosts * samples * valuesPerSample(metrics)
    console.log(
      `${hosts} hosts, ${samples} samples in ${(hours * 60).toFixed(0)} min: ${(values / 1e6).toFixed(1)} million values`,
    )
    const reporter = new Reporter(values, span, stored.runs)
    const begun = performance.now()
    const bytes = writeArchives(archives, { hosts, metrics, start, samples, interval })
    const seconds = (performance.now() - begun) / 1000
    const address = { kind: 'archives', directory: archives } as const
    const compressed = compressedBytes(archives, 1) * hosts
    await reporter.report('archives', address, {
      seconds,
      disk: [
        ['as recorded', bytes],
        ['compressed by xz', compressed],
      ],
      memory: [],
    })
    const rolled = await run(process.argv[1]!, ['rollup', archives], ROLLUP_SEC)
    await reporter.report('rollups', address, {
      seconds: rolled.seconds,
      disk: [['beside the archives', diskBytes(join(archives, 'rollups'))]],
      memory: [['making them', rolled.peakMb]],
    })
    const bases = Array.from({ length: hosts }, (_, host) => join(archives, hostName(host)))
    for (const engine of installedEngines()) {
      if (!stored.engines.includes(engine.name)) continue
      if (values > engine.mostValues) {
        console.log(`${engine.name}: not loaded, ${values} values are too many for this machine\n`)
        continue
      }
      try {
        await measureEngine(engine, bases, { dir, reporter, stored, span })
      } catch (error) {
        console.log(`${engine.name}: not measured: ${error instanceof Error ? error.message : error}\n`)
      }
    }
    return reporter.costs
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Makes the rollups of archives: a child process of `measureStored`, so that its memory can be measured. */
export async function rollupProcess(archives: string): Promise<void> {
  const { problems } = await maintainRollups([archives], { nowMs: Date.now(), isActive: () => false })
  if (problems.length > 0) throw new Error(problems.join('; '))
}

interface Measuring {
  readonly dir: string
  readonly reporter: Reporter
  readonly stored: StoredRun
  readonly span: Span
}

async function measureEngine(
  engine: Engine,
  bases: readonly string[],
  { dir, reporter, stored, span }: Measuring,
): Promise<void> {
  const own = engineDir(dir, engine)
  const { loading, loadedMb, disk, address, memoryMb, close } = await engine.load(bases, own)
  try {
    await reporter.report(engine.name, address, {
      seconds: loading.seconds,
      disk,
      memory: [
        ['our loader', loading.peakMb],
        ['engine when loaded', loadedMb],
      ],
      engineMb: memoryMb,
    })
    if (address.kind === 'keys' && stored.comparesProxies)
      await compareProxies(address.port, join(dir, 'proxies'), span, stored.runs)
  } finally {
    await close()
    rmSync(own, { recursive: true, force: true })
  }
}

interface Used {
  /** Seconds in which the values were stored. */
  readonly seconds: number
  readonly disk: readonly (readonly [what: string, bytes: number])[]
  readonly memory: readonly (readonly [what: string, mb: number])[]
  readonly engineMb?: () => number
}

/** Times the queries over a store, prints what it costs, and keeps the costs by name. */
class Reporter {
  readonly costs = new Map<string, StoredCost>()
  readonly #values: number
  readonly #span: Span
  readonly #runs: number

  constructor(values: number, span: Span, runs: number) {
    this.#values = values
    this.#span = span
    this.#runs = runs
  }

  async report(
    name: string,
    address: StoreAddress,
    { seconds, disk, memory, engineMb }: Used,
  ): Promise<void> {
    const { timed, peakMb } = await timeQueries(address, this.#span, this.#runs)
    const hour = timed.find(({ what }) => what === HOUR_OF_ALL)!
    const engine = engineMb?.()
    const parts = [...memory, ['queries', peakMb] as const]
    if (engine !== undefined) parts.push(['engine after queries', engine])
    const perValue = (bytes: number): number => bytes / this.#values
    console.log(
      [
        `${name}: ${millions(this.#values / seconds)} values a second stored, ` +
          `${millions((hour.count / hour.p50Ms) * 1000)} queried (${HOUR_OF_ALL}); load of the machine ${loadavg()[0]!.toFixed(1)}`,
        `  bytes a value on disk: ${disk.map(([what, bytes]) => `${perValue(bytes).toFixed(2)} ${what}`.trim()).join(', ') || 'none'}` +
          (disk.length > 0 ? '' : `, in memory ${perValue(engine! * 2 ** 20).toFixed(2)}`),
        `  memory (PSS): ${parts.map(([what, mb]) => `${what} ${mb.toFixed(0)} MB`).join(', ')}`,
        table([
          HEADINGS,
          ...timed.map(({ what, count, firstMs, p50Ms, p99Ms, runs }) => [
            what,
            String(count),
            ...[firstMs, p50Ms, p99Ms].map((ms) => ms.toFixed(1)),
            String(runs),
          ]),
        ]),
        ...timed.flatMap(({ what, count, problem }) => {
          if (problem !== undefined) return `  ${what}: ${problem}`
          return count === 0 ? `  ${what}: nothing found` : []
        }),
        '',
      ].join('\n'),
    )
    this.costs.set(name, {
      hourMs: hour.p50Ms,
      memoryMb: peakMb + (engine ?? 0),
    })
  }
}

function millions(count: number): string {
  return `${(count / 1e6).toFixed(2)} million`
}
