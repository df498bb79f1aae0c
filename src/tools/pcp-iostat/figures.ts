/** The figures of a disk between two samples. pcp-iostat(1) */
import { secondsBetween } from '../../base/timestamp.ts'
import type { Sample } from '../lib/sampled/metrics.ts'
import type { Aggregation } from './options.ts'

/** In the order of the columns: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await %util. */
export type Figures = readonly number[]

/** What one device did; undefined figures: a counter went back, or there was none before. */
export interface Activity {
  readonly device: string
  readonly figures: Figures | undefined
}

/** Metrics below `disk.dev` or `disk.dm`, in the order PCP names them when they are missing. */
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

/** The metrics of devices, or of those of the device mapper. */
export function metricsOf(group: string): readonly { readonly name: string; readonly units: string }[] {
  return COUNTERS.map((name) => ({ name: `${group}.${name}`, units: UNITS[name] ?? 'count' }))
}

/** What the devices of a sample did since the one before, by name. */
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

function figuresOf(growth: (name: string) => number, seconds: number): Figures | undefined {
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

/** So much a request; nothing where there was none. */
function each(amount: number, requests: number): number {
  return requests === 0 ? 0 * amount : amount / requests
}

/** One line for all: undefined figures count for nothing. As in PCP the smallest is never above 0. */
export function aggregate(method: Aggregation, all: readonly Activity[], columns: number): Figures {
  const known = all.flatMap(({ figures }) => (figures === undefined ? [] : [figures]))
  return Array.from({ length: columns }, (_, i) => {
    const values = known.map((figures) => figures[i]!)
    if (method === 'min') return Math.min(0, ...values)
    if (method === 'max') return Math.max(0, ...values)
    const sum = values.reduce((total, value) => total + value, 0)
    return method === 'sum' || values.length === 0 ? sum : sum / values.length
  })
}

/** Nothing was read, written or waited for. */
export function isIdle({ figures }: Activity): boolean {
  return figures?.every((figure) => figure === 0) ?? false
}
