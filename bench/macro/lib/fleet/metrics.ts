/** Metrics of made-up hosts: names, types and units of PCP's linux agent, and values that follow from host, metric and time. */
import { readFileSync } from 'node:fs'
import { indom as makeIndom, pmid as makePmid, PM_IN_NULL, PM_INDOM_NULL } from '../../../../src/model/ids.ts'
import type { SemName, TypeName } from '../../../../src/pmda/define.ts'

/** A row of the recorded catalogue of an agent. */
interface CatalogueRow {
  readonly name: string
  readonly pmid: string
  readonly type: TypeName | 'string'
  readonly sem: SemName
  readonly units: string
  readonly indom: string | null
}

/** A metric of each host. */
export interface FleetMetric {
  readonly name: string
  readonly cluster: number
  readonly item: number
  readonly pmid: number
  readonly type: TypeName
  readonly sem: SemName
  readonly units: string
  /** Serial number of its instance domain; undefined for one value. */
  readonly serial: number | undefined
  readonly indom: number
  readonly instances: readonly number[]
}

/** Domain of the metrics: the linux agent's. */
export const FLEET_DOMAIN = 60

/** Start of all counters: 2026-01-01. */
const EPOCH = 1_767_225_600

/** Names of instances by serial number of their domain, in order of their identifiers. */
export const FLEET_INSTANCES: ReadonlyMap<number, readonly string[]> = new Map([
  [0, ['cpu0', 'cpu1', 'cpu2', 'cpu3']],
  [1, ['sda', 'sdb']],
  [2, ['1 minute', '5 minute', '15 minute']],
  [3, ['lo', 'eth0']],
  [5, ['/dev/sda1', '/dev/sda2']],
])

const AREAS =
  /^(?:kernel\.(?:all|percpu)|mem\.(?:util|vmstat)|swap|network\.(?:interface|tcp|all)|disk\.(?:all|dev)|filesys|hinv\.ncpu)(?:\.|$)/

/** Returns the first `count` metrics, those with instances first. Throws if there are fewer. */
export function fleetMetrics(count: number): readonly FleetMetric[] {
  const all: FleetMetric[] = []
  const rows: readonly CatalogueRow[] = JSON.parse(readFileSync('test/vectors/metrics/linux.json', 'utf8'))
  for (const { name, pmid, type, sem, units, indom } of rows) {
    const serial = indom === null ? undefined : Number(indom.split('.')[1])
    const names = serial === undefined ? [] : FLEET_INSTANCES.get(serial)
    if (type === 'string' || names === undefined || !AREAS.test(name)) continue
    const [, cluster, item] = pmid.split('.').map(Number) as [number, number, number]
    all.push({
      name,
      cluster,
      item,
      pmid: makePmid(FLEET_DOMAIN, cluster, item),
      type,
      sem,
      units,
      serial,
      indom: serial === undefined ? PM_INDOM_NULL : makeIndom(FLEET_DOMAIN, serial),
      instances: serial === undefined ? [PM_IN_NULL] : names.map((_, i) => i),
    })
  }
  all.sort((a, b) => Number(a.serial === undefined) - Number(b.serial === undefined))
  if (all.length < count) throw new Error(`The catalogue has ${all.length} such metrics, not ${count}`)
  return all.slice(0, count)
}

/** Returns the number of values in a sample of one host. */
export function valuesPerSample(metrics: readonly FleetMetric[]): number {
  return metrics.reduce((sum, { instances }) => sum + instances.length, 0)
}

/**
 * Returns a value. Counters grow at a rate that differs by host, metric and instance and has a daily and a ten-minute wave;
 * gauges have the same waves around a level; a third of all metrics never change, as on real hosts.
 */
export function valueAt(
  host: number,
  { sem, type, item, cluster }: FleetMetric,
  inst: number,
  sec: number,
): number {
  const seed = (host * 7919 + cluster * 104_729 + item * 1_299_709 + (inst + 1) * 15_485_863) >>> 0
  if (sem === 'discrete' || (cluster + item) % 3 === 0) return seed % 1000
  const wave = 1 + 0.4 * Math.sin(sec / 13_750 + host) + 0.2 * Math.sin(sec / 95 + seed)
  const level = 1 + (seed % 5000)
  if (sem === 'counter') return Math.floor(level * (sec - EPOCH) * 1.7 + level * 300 * wave)
  return type === 'float' || type === 'double' ? Math.fround((level / 100) * wave) : Math.floor(level * wave)
}

/** Returns the name of a host; a multiple of ten hosts forms a rack, three racks in turn an environment. */
export function hostName(host: number): string {
  return `host${String(host).padStart(4, '0')}`
}

/** Returns labels of a host. */
export function hostLabels(host: number): Readonly<Record<string, string>> {
  return { rack: `r${Math.floor(host / 10)}`, env: ['prod', 'stage', 'test'][host % 3]! }
}

/** Returns the loopback address of a host's collector. */
export function hostAddress(host: number): string {
  return `127.7.${Math.floor(host / 250)}.${1 + (host % 250)}`
}
