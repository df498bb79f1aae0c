/** Rows of the process table, from samples in columns. */
import { containerOf } from '../../model/container-id.ts'
import type { ProcessColumn, ProcessesAnswer, ProcessSample } from '../../model/process-sample.ts'
import { counterRate } from '../../model/rate.ts'

/**
 * Is the process in the newest sample too? `ended`: no, or its PID is that of a later process. `unlisted`: that sample has only the
 * busiest processes, so it may have ended or rest.
 */
export type Presence = 'running' | 'ended' | 'unlisted'

/** A process at an instant. Null: not known. */
export interface ProcessRow {
  readonly pid: number
  /** First word of its instance name, which selects it in charts. */
  readonly instance: string
  readonly parent: number | null
  readonly command: string
  readonly user: string
  /** One letter, as in ps(1). */
  readonly state: string
  /** Path of its control group. */
  readonly cgroup: string
  /** Long id of its container; empty outside of containers. */
  readonly container: string
  /** CPUs in use: seconds per second. */
  readonly cpu: number | null
  /** Resident memory in bytes. */
  readonly memory: number | null
  /** Bytes per second read from and written to block devices. */
  readonly io: number | null
  readonly read: number | null
  readonly written: number | null
  /** Major page faults per second. */
  readonly faults: number | null
  readonly presence: Presence
}

/** Returns the rows of a sample, in its order. */
export function rowsOf({ sample, before, newest }: ProcessesAnswer): ProcessRow[] {
  if (sample === null) return []
  const rates = new Rates(sample, before)
  // The agent has no rates in its first sample after a start, which then are 0 of all processes.
  const predicate = (column: 'predicate.cpuburn' | 'predicate.iodemand', i: number): number | null =>
    before === null && !sample.columns[column]?.some((value) => value) ? null : numberAt(sample, column, i)
  const presence = presenceIn(sample, newest)
  return sample.pids.map((pid, i) => {
    const text = (column: ProcessColumn): string => textAt(sample, column, i)
    const number = (column: ProcessColumn): number | null => numberAt(sample, column, i)
    const [user, system] = [rates.of('psinfo.utime', i), rates.of('psinfo.stime', i)]
    const [read, written] = [rates.of('io.read_bytes', i), rates.of('io.write_bytes', i)]
    const rss = number('psinfo.rss')
    const groups = text('psinfo.cgroups')
    const name = sample.names[i] ?? String(pid)
    return {
      pid,
      instance: name.split(' ', 1)[0]!,
      parent: number('psinfo.ppid'),
      command: text('psinfo.psargs') || name.replace(/^\d+ /, ''),
      user: text('id.uid_nm'),
      state: text('psinfo.sname'),
      cgroup: cgroupOf(groups),
      container: text('id.container') || containerOf(groups.replaceAll(';', '/')),
      cpu: user === null || system === null ? predicate('predicate.cpuburn', i) : (user + system) / 1000,
      memory: rss === null ? null : rss * 1024,
      io:
        read === null || written === null ? scaled(predicate('predicate.iodemand', i), 1024) : read + written,
      read,
      written,
      faults: rates.of('psinfo.maj_flt', i),
      presence: presence(i),
    }
  })
}

/** Rates per second since the sample before. */
export class Rates {
  readonly #sample: ProcessSample
  readonly #before: ProcessSample | null
  readonly #seconds: number
  /** Positions in the sample before, by PID. */
  readonly #places: ReadonlyMap<number, number>

  constructor(sample: ProcessSample, before: ProcessSample | null) {
    this.#sample = sample
    this.#before = before
    this.#seconds = before === null ? 0 : sample.at - before.at
    this.#places = placesOf(before)
  }

  /** Null at the start, and for a process that was not in the sample before if that had only the busiest. */
  of(column: ProcessColumn, i: number): number | null {
    const [sample, before] = [this.#sample, this.#before]
    const now = numberAt(sample, column, i)
    if (now === null || before === null || this.#seconds <= 0) return null
    const place = this.#places.get(sample.pids[i]!)
    if (place !== undefined && isSame(sample, i, before, place)) {
      const then = numberAt(before, column, place)
      return then === null ? null : (counterRate(then, now, this.#seconds) ?? null)
    }
    return sample.family === 'proc' && before.family === 'proc' ? now / this.#seconds : null
  }
}

function presenceIn(sample: ProcessSample, newest: ProcessSample | null): (i: number) => Presence {
  if (newest === null || newest.at <= sample.at) return () => 'running'
  const places = placesOf(newest)
  return (i) => {
    const place = places.get(sample.pids[i]!)
    if (place === undefined) return newest.family === 'proc' ? 'ended' : 'unlisted'
    return isSame(sample, i, newest, place) ? 'running' : 'ended'
  }
}

/** Checks whether two entries with the same PID are the same process. */
function isSame(one: ProcessSample, i: number, other: ProcessSample, j: number): boolean {
  const [a, b] = [numberAt(one, 'psinfo.start_time', i), numberAt(other, 'psinfo.start_time', j)]
  return a === null || b === null || a === b
}

function placesOf(sample: ProcessSample | null): ReadonlyMap<number, number> {
  return new Map(sample?.pids.map((pid, i) => [pid, i]))
}

/** Returns a value of a process; null without one. */
export function numberAt({ columns }: ProcessSample, column: ProcessColumn, i: number): number | null {
  const value = columns[column]?.[i]
  return typeof value === 'number' ? value : null
}

function textAt({ columns }: ProcessSample, column: ProcessColumn, i: number): string {
  const value = columns[column]?.[i]
  return typeof value === 'string' ? value : ''
}

const scaled = (value: number | null, factor: number): number | null =>
  value === null ? null : value * factor

/** Returns the longest path of `controllers:path;controllers:path`: in hierarchies of version 1 most are the root. */
function cgroupOf(groups: string): string {
  const paths = groups.split(';').map((group) => group.slice(group.indexOf(':') + 1))
  return paths.reduce((longest, path) => (path.length > longest.length ? path : longest), '')
}
