/** Statistics of a disk between two samples. pcp-iostat(1) */
import { secondsBetween } from '../../base/timestamp.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import type { Aggregation } from './options.ts'

/** In column order: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await %util. */
export type DiskStatistics = readonly number[]

/** Activity of a device; without `figures` a counter restarted or has no previous value. */
export interface Activity {
  readonly device: string
  readonly figures: DiskStatistics | undefined
}

/** Metrics below `disk.dev` or `disk.dm`, in the order in which PCP reports missing ones. */
export const COUNTERS = [
  'read',
  'read_bytes',
  'write',
  'write_bytes',
  'read_merge',
  'write_merge',
  'blkread',
  'blkwrite',
  'read_rawactive',
  'write_rawactive',
  'avactive',
] as const

const UNITS: Readonly<Record<string, string>> = {
  read_bytes: 'Kbyte',
  write_bytes: 'Kbyte',
  read_rawactive: 'millisec',
  write_rawactive: 'millisec',
  avactive: 'millisec',
}

/** Returns the metrics of disks, or of device mapper devices. */
export function metricsOf(group: string): readonly { readonly name: string; readonly units: string }[] {
  return COUNTERS.map((name) => ({ name: `${group}.${name}`, units: UNITS[name] ?? 'count' }))
}

/** Returns the activity of the devices since the previous sample, by name. */
export function activities(group: string, before: Sample, now: Sample): Activity[] {
  const seconds = secondsBetween(before.time, now.time)
  const growth = (inst: number, name: string): number =>
    now.growth(before, `${group}.${name}`, inst) ?? Number.NaN
  const devices = [...now.instances(`${group}.read`)].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0))
  return devices.map(([inst, device]) => ({
    device,
    figures: figuresOf((name) => growth(inst, name), seconds),
  }))
}

function figuresOf(growth: (name: string) => number, seconds: number): DiskStatistics | undefined {
  const reads = growth('read')
  const writes = growth('write')
  const readKb = growth('read_bytes')
  const writtenKb = growth('write_bytes')
  const readMs = growth('read_rawactive')
  const writeMs = growth('write_rawactive')
  const requests = reads + writes
  const figures = [
    growth('read_merge') / seconds,
    growth('write_merge') / seconds,
    reads / seconds,
    writes / seconds,
    readKb / seconds,
    writtenKb / seconds,
    each(readKb + writtenKb, requests),
    (readMs + writeMs) / seconds / 1000,
    each(readMs + writeMs, requests),
    each(readMs, reads),
    each(writeMs, writes),
    (growth('avactive') / 1000 / seconds) * 100,
  ]
  return figures.every(Number.isFinite) ? figures : undefined
}

/** Returns the amount for each request; 0 without requests. */
function each(amount: number, requests: number): number {
  return requests === 0 ? 0 * amount : amount / requests
}

/** Aggregates devices; undefined figures count as 0. As in PCP the minimum is never above 0. */
export function aggregate(method: Aggregation, all: readonly Activity[], columns: number): DiskStatistics {
  const known = all.flatMap(({ figures }) => (figures === undefined ? [] : [figures]))
  return Array.from({ length: columns }, (_, i) => {
    const values = known.map((figures) => figures[i]!)
    if (method === 'min') return Math.min(0, ...values)
    if (method === 'max') return Math.max(0, ...values)
    const sum = values.reduce((total, value) => total + value, 0)
    return method === 'sum' || values.length === 0 ? sum : sum / values.length
  })
}

/** Was there no activity? */
export function isIdle({ figures }: Activity): boolean {
  return figures?.every((figure) => figure === 0) ?? false
}
