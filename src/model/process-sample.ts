/** Processes at one time, in columns: what the chart page shows as a table. docs/reference/pmproxy.md */
import type { MetricDesc } from './desc.ts'
import { PM_TYPE_STRING } from './types.ts'
import { extract, extractNumber } from './value-set.ts'
import type { ValueSet } from './values.ts'

/** Domain of the proc agent, with metrics and instances of processes. */
export const PROC_DOMAIN = 3

/** Roots of the metrics of processes: all of them, and those that the proc agent found hot. */
export const PROCESS_FAMILIES = ['proc', 'hotproc'] as const

export type ProcessFamily = (typeof PROCESS_FAMILIES)[number]

/** Columns: names of metrics below the root. `predicate` exists for hot processes only. */
export const PROCESS_COLUMNS = [
  'psinfo.psargs',
  'psinfo.sname',
  'psinfo.ppid',
  'psinfo.start_time',
  'psinfo.utime',
  'psinfo.stime',
  'psinfo.rss',
  'psinfo.minflt',
  'psinfo.maj_flt',
  'psinfo.cgroups',
  'id.uid_nm',
  'id.container',
  'io.read_bytes',
  'io.write_bytes',
  'predicate.cpuburn',
  'predicate.iodemand',
] as const

export type ProcessColumn = (typeof PROCESS_COLUMNS)[number]

/** Values of a column, in the order of the processes; null without a value. */
export type ProcessValues = readonly (string | number | null)[]

/** The processes at one time. */
export interface ProcessSample {
  /** Seconds since the epoch. */
  readonly at: number
  readonly family: ProcessFamily
  readonly pids: readonly number[]
  /** Instance names; empty in samples that are only compared with. */
  readonly names: readonly string[]
  /** Counters are as recorded, in the units of the proc agent: ms, KB, bytes. */
  readonly columns: { readonly [name in ProcessColumn]?: ProcessValues }
}

/** The processes of an instant, and what is needed for rates and to find the processes that ended. */
export interface ProcessesAnswer {
  /** Null if nothing was recorded near the instant. */
  readonly sample: ProcessSample | null
  /** The sample before it, without texts; null if recording was interrupted between them. */
  readonly before: ProcessSample | null
  /** The newest sample of an archive, with start times only; null for a host. */
  readonly newest: ProcessSample | null
}

/** Returns the names of the metrics of a family. */
export function processMetrics(family: ProcessFamily): string[] {
  const columns = PROCESS_COLUMNS.filter((name) => family === 'hotproc' || !name.startsWith('predicate.'))
  return columns.map((name) => `${family}.${name}`)
}

/** A column and its descriptor. */
export interface DescribedColumn {
  readonly column: ProcessColumn
  readonly desc: MetricDesc
}

/** Most processes of a sample: the rest is left out. */
export const MOST_PROCESSES = 20_000

/** Makes a sample without names of value sets, which may be missing or in any order. Errors in sets are missing values. */
export function processSample(
  at: number,
  family: ProcessFamily,
  described: readonly DescribedColumn[],
  sets: readonly ValueSet[],
): ProcessSample {
  const places = new Map<number, number>()
  for (const { status, inst } of sets)
    for (let i = 0; i < status && places.size < MOST_PROCESSES; i++)
      if (!places.has(inst[i]!)) places.set(inst[i]!, places.size)
  const columns: { [name in ProcessColumn]?: (string | number | null)[] } = {}
  for (const { column, desc } of described) {
    const set = sets.find(({ pmid }) => pmid === desc.pmid)
    if (set === undefined || set.status <= 0) continue
    const values = new Array<string | number | null>(places.size).fill(null)
    for (let i = 0; i < set.status; i++) {
      const place = places.get(set.inst[i]!)
      if (place !== undefined) values[place] = valueIn(set, i, desc.type)
    }
    columns[column] = values
  }
  const pids = [...places.keys()]
  return { at, family, pids, names: [], columns }
}

function valueIn(set: ValueSet, i: number, type: number): string | number | null {
  if (type !== PM_TYPE_STRING) return extractNumber(set, i, type)
  const value = extract(set, i, type)
  return typeof value === 'string' ? value : null
}
