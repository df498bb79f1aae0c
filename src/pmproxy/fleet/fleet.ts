/**
 * The hosts of the archives below directories: their health, and one metric over all of them. docs/reference/pmproxy.md
 *
 *     directories ──► HostIndex: archives by host ──► readHost: means in buckets, kept until files change ──► answers
 *                                                        └─ from columns files, or from records
 */
import {
  FLEET_STATES,
  type FleetAnswer,
  type FleetHosts,
  type FleetLabel,
  type FleetRange,
} from '../../archive/fleet/answer.ts'
import type { Aggregate, BucketGrid } from '../../archive/fleet/bucket-means.ts'
import {
  byFigure,
  FIGURES,
  type Health,
  type HealthFigure,
  healthOf,
  hostState,
  MEAN_SEC,
  NEEDS,
  SEEN,
  seenState,
  sentValue,
  UNKNOWN_HEALTH,
} from '../../archive/fleet/figures.ts'
import { fleetQuantiles, rowMeans, topRows } from '../../archive/fleet/statistics.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PcpError } from '../../model/errors.ts'
import { domainOf, PM_INDOM_NULL } from '../../model/ids.ts'
import { PROC_DOMAIN } from '../../model/process-sample.ts'
import { rateUnits } from '../../model/rate.ts'
import { PM_SEM_COUNTER, semStr } from '../../model/types.ts'
import { unitsStr } from '../../model/units.ts'
import { OpenColumns } from '../../series/archives/open-columns.ts'
import { type ArchivedHost, archivesWithin, HostIndex } from './index-of-hosts.ts'
import { aggregateOf, type HostRows, readHost } from './read-host.ts'
import type { ReadingTime } from './reading-time.ts'

/** Values of one answer; more hosts get fewer buckets. */
const MOST_CELLS = 3_000_000
/** Answers about values that are kept for each host. */
const MOST_KEPT = 6
/** Directories and times of columns files that are kept. */
const MOST_COLUMNS_BYTES = 32 << 20
/** Figures of hosts with long intervals are means over so many of them, and over at most so many seconds. */
const MEAN_INTERVALS = 3
const MOST_MEAN_SEC = 3600

/** A metric over all hosts. */
export interface FleetRequest {
  /** Name of a metric, or id of a figure. */
  readonly name: string
  readonly isFigure: boolean
  readonly instance?: string | undefined
  readonly aggregate?: Aggregate | undefined
  readonly start: number
  readonly step: number
  readonly buckets: number
  /** Number of hosts in `top`. */
  readonly top: number
  /** Metrics of processes are for users who have identified themselves. */
  readonly seesProcesses: boolean
}

/** Cached values of a host; dropped when its files change. */
interface Kept {
  readonly stamp: string
  readonly health: Map<number, Health>
  readonly rows: Map<string, HostValues | undefined>
}

/** Values of a host by bucket, with the descriptor unless they are a figure's. */
interface HostValues {
  readonly values: Float32Array
  readonly desc: MetricDesc | undefined
}

/** Answers questions about all hosts. */
export class Fleet {
  readonly #index: HostIndex
  /** Without warnings: records replace damaged files. */
  readonly #columns = new OpenColumns(() => {}, MOST_COLUMNS_BYTES)
  #kept = new Map<string, Kept>()

  /** `clock` is in milliseconds and does not go back. */
  constructor(roots: readonly string[], files: () => ArchiveFiles, clock?: () => number) {
    this.#index = new HostIndex(roots, files, clock)
  }

  /** Returns all hosts with their health at a time; archives to open are those of the window. */
  async health(
    at: number,
    window: { readonly start: number; readonly finish: number },
    time: ReadingTime,
  ): Promise<FleetAnswer> {
    const { hosts, unread, unreadable, leftOut } = await this.#hosts(time)
    const columns: Mutable<Omit<FleetHosts, 'values' | 'states'>> = {
      ...{ key: [], name: [], last: [], every: [], state: [], archives: [] },
    }
    const values = FIGURES.map((): (number | null)[] => [])
    const states = FIGURES.map((): number[] => [])
    let [late, start, end] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const host of hosts) {
      const isRead = await time.hasMore()
      if (!isRead) late++
      const tail = isRead ? tailOf(host, at) : undefined
      const seen = seenState(tail?.last, tail?.every, at)
      const health =
        tail === undefined || seen === 'stale' ? UNKNOWN_HEALTH : this.#healthOf(host, tail.last, tail.every)
      columns.key.push(host.key)
      columns.name.push(host.name)
      columns.last.push(tail?.last ?? null)
      columns.every.push(tail?.every ?? null)
      columns.state.push(FLEET_STATES.indexOf(hostState(seen, health.states)))
      columns.archives.push(isRead ? archivesWithin(host, window.start, window.finish) : [])
      for (const i of FIGURES.keys()) {
        values[i]!.push(sentValue(health.values[i]!))
        states[i]!.push(FLEET_STATES.indexOf(health.states[i]!))
      }
      start = Math.min(start, host.archives[0]!.start)
      if (isRead) end = Math.max(end, ...host.archives.map((known) => known.end))
    }
    return {
      at,
      span: end >= start ? { start, end } : null,
      meanSec: MEAN_SEC,
      seen: SEEN,
      figures: FIGURES.map(({ needs: _, of: __, ...figure }) => figure),
      labels: labelsOf(hosts),
      hosts: { ...columns, values: byFigure(values), states: byFigure(states) },
      unread: unread + late,
      leftOut,
      unreadable,
    }
  }

  /** Returns one metric over all hosts. PM_ERR_NAME if no host records it. */
  async range(request: FleetRequest, time: ReadingTime): Promise<FleetRange> {
    const { hosts, unread } = await this.#hosts(time)
    const grid = fleetGrid(request, hosts.length)
    const figure = request.isFigure ? FIGURES.find(({ id }) => id === request.name) : undefined
    if (request.isFigure && figure === undefined) {
      const ids = FIGURES.map(({ id }) => id).join(', ')
      throw new PcpError('PM_ERR_ARG', `figure must be one of ${ids}, not ${request.name}`)
    }
    const cells = new Float32Array(hosts.length * grid.buckets).fill(Number.NaN)
    let [late, without] = [0, 0]
    let desc: MetricDesc | undefined
    let text: string | undefined
    for (const [i, host] of hosts.entries()) {
      if (!(await time.hasMore())) {
        late++
        continue
      }
      const found = this.#valuesOf(host, request, figure, grid)
      const own = found?.desc
      if (found === undefined || (figure === undefined && !isAlike(own, desc))) {
        without++
        continue
      }
      desc ??= own
      text ??= own === undefined ? undefined : oneline(host, own)
      cells.set(found.values, i * grid.buckets)
    }
    if (figure === undefined && desc === undefined && late + unread === 0)
      throw new PcpError('PM_ERR_NAME', `No host has values of ${request.name} in archives; check its name`)
    const matrix = { cells, buckets: grid.buckets }
    const rows = [...hosts.keys()]
    const means = rowMeans(matrix)
    const { count, ...quantiles } = fleetQuantiles(matrix, rows)
    return {
      ...grid,
      name: request.name,
      ...describe(request, figure, desc, text),
      hosts: hosts.map(({ key }) => key),
      without,
      unread: unread + late,
      quantiles: {
        p50: numbers(quantiles.p50),
        p90: numbers(quantiles.p90),
        p99: numbers(quantiles.p99),
        max: numbers(quantiles.max),
        count: [...count],
      },
      top: topRows(means, request.top, rows).map((row) => [hosts[row]!.key, rounded(means[row]!)]),
      cells,
    }
  }

  /** Closes all archives; idempotent. */
  close(): void {
    this.#kept.clear()
    this.#columns.clear()
    this.#index.close()
  }

  async #hosts(time: ReadingTime): ReturnType<HostIndex['hosts']> {
    const found = await this.#index.hosts(time)
    const kept = new Map<string, Kept>()
    for (const { key, stamp } of found.hosts) {
      const before = this.#kept.get(key)
      kept.set(key, before?.stamp === stamp ? before : { stamp, health: new Map(), rows: new Map() })
    }
    this.#kept = kept
    return found
  }

  #healthOf(host: ArchivedHost, last: number, every: number | undefined): Health {
    return remembered(this.#kept.get(host.key)?.health, last, () => {
      const step = Math.min(MOST_MEAN_SEC, Math.max(MEAN_SEC, MEAN_INTERVALS * (every ?? 0)))
      const rows = this.#read(host, NEEDS, { start: last - step, step, buckets: 1 })?.rows
      return rows === undefined ? UNKNOWN_HEALTH : healthOf(rows.map((row) => row[0]!))
    })
  }

  /** Returns the values of a host; undefined if it does not record the metric. */
  #valuesOf(
    host: ArchivedHost,
    request: FleetRequest,
    figure: HealthFigure | undefined,
    grid: BucketGrid,
  ): HostValues | undefined {
    const { name, isFigure, instance, aggregate, seesProcesses } = request
    const key = JSON.stringify([name, isFigure, instance, aggregate, seesProcesses, grid])
    return remembered(this.#kept.get(host.key)?.rows, key, () => {
      if (figure !== undefined) {
        const rows = this.#read(host, figure.needs, grid)?.rows
        if (rows === undefined) return undefined
        const values = Float32Array.from({ length: grid.buckets }, (_, b) =>
          figure.of(rows.map((row) => row[b]!)),
        )
        return { values, desc: undefined }
      }
      const isHidden = (pmid: number | undefined): boolean =>
        pmid === undefined || (!seesProcesses && domainOf(pmid) === PROC_DOMAIN)
      if (host.archives.every((known) => isHidden(known.numeric(name)))) return undefined
      const found = this.#read(host, [{ name, instance, aggregate }], grid)
      const desc = found?.descs[0]
      if (desc === undefined) return undefined
      const factor = factorOf(desc)
      return { values: Float32Array.from(found!.rows[0]!, (value) => value * factor), desc }
    })
  }

  #read(host: ArchivedHost, needs: Parameters<typeof readHost>[1], grid: BucketGrid): HostRows | undefined {
    try {
      return readHost(host, needs, grid, { columns: this.#columns, use: (known) => this.#index.use(known) })
    } catch (error) {
      // One damaged archive does not hide the others.
      if (error instanceof PcpError) return undefined
      throw error
    }
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer V)[] ? V[] : T[K] }

/** Returns the remembered value for a key; remembers the latest few. */
function remembered<K, V>(values: Map<K, V> | undefined, key: K, make: () => V): V {
  if (values?.has(key)) return values.get(key)!
  const value = make()
  if (values !== undefined) {
    if (values.size >= MOST_KEPT) values.delete(values.keys().next().value!)
    values.set(key, value)
  }
  return value
}

function tailOf(
  { archives }: ArchivedHost,
  at: number,
): { readonly last: number; readonly every: number | undefined } | undefined {
  const known = archives.findLast(({ start }) => start <= at)
  try {
    return known?.tail(at)
  } catch (error) {
    if (error instanceof PcpError) return undefined // damaged
    throw error
  }
}

/** Returns the buckets of an answer about so many hosts; a bucket may be a multiple of the wanted ones. */
export function fleetGrid({ start, step, buckets }: BucketGrid, hosts: number): BucketGrid {
  const most = Math.max(1, Math.floor(MOST_CELLS / Math.max(1, hosts)))
  const merged = Math.ceil(buckets / most)
  return { start, step: step * merged, buckets: Math.ceil(buckets / merged) }
}

/** Checks that a metric of two hosts has the same meaning. */
function isAlike(own: MetricDesc | undefined, first: MetricDesc | undefined): boolean {
  return own !== undefined && (first === undefined || (own.units === first.units && own.sem === first.sem))
}

/** Returns the factor from the growth of a counter per second to its rate. */
function factorOf({ sem, units }: MetricDesc): number {
  return sem === PM_SEM_COUNTER ? rateUnits(units).factor : 1
}

function oneline({ archives }: ArchivedHost, { pmid }: MetricDesc): string | undefined {
  return archives.at(-1)!.archive.metadata.text({ kind: 'metric', id: pmid, level: 'oneline' })
}

function describe(
  request: FleetRequest,
  figure: HealthFigure | undefined,
  desc: MetricDesc | undefined,
  help = '',
): Pick<FleetRange, 'title' | 'help' | 'units' | 'sem' | 'unit' | 'aggregate'> {
  if (figure !== undefined)
    return {
      ...{ title: figure.title, help: figure.rule, units: 'none', sem: 'instant' },
      ...{ unit: figure.unit, aggregate: null },
    }
  const { name: title, instance } = request
  if (desc === undefined) return { title, help, units: 'none', sem: 'instant', unit: null, aggregate: null }
  const isCounter = desc.sem === PM_SEM_COUNTER
  return {
    title: instance === undefined ? title : `${title} ${instance}`,
    help,
    units: unitsStr(isCounter ? rateUnits(desc.units).units : desc.units) || 'none',
    sem: isCounter ? 'rate' : semStr(desc.sem),
    unit: null,
    aggregate: desc.indom === PM_INDOM_NULL || instance !== undefined ? null : aggregateOf(request, desc),
  }
}

function labelsOf(hosts: readonly ArchivedHost[]): FleetLabel[] {
  const names = new Set(hosts.flatMap(({ labels }) => [...labels.keys()]))
  return [...names].sort().map((name) => {
    const places = new Map<string, number>()
    const of = hosts.map(({ labels }) => {
      const value = labels.get(name)
      if (value === undefined) return -1
      const place = places.get(value) ?? places.size
      places.set(value, place)
      return place
    })
    return { name, values: [...places.keys()], of }
  })
}

function rounded(value: number): number {
  return Number(value.toPrecision(5))
}

function numbers(values: Float64Array): (number | null)[] {
  return Array.from(values, (value) => (Number.isNaN(value) ? null : rounded(value)))
}
