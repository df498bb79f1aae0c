/** Values of processes, named as in PCP's reports. pcp-pidstat(1), pcp-ps(1) */
import { formatF } from '../../../base/printf.ts'
import { secondsBetween, type Timestamp } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import { strftime } from '../../../time/strftime.ts'
import type { Zone } from '../../../time/zone.ts'
import type { Sample } from '../sampled/metrics.ts'

const PID = 'proc.psinfo.pid'

/** Shown for a missing value. */
export const UNKNOWN = '?'

/** Names of the scheduling policies by number; 4 is unused. sched(7) */
export const POLICIES: readonly string[] = ['NORMAL', 'FIFO', 'RR', 'BATCH', '', 'IDLE', 'DEADLINE']

/** Rounds to two decimals and formats as these reports do: `0.0`, `1.5`, `0.48`; a question mark if missing. */
export function formatRounded(value: number | undefined): string {
  if (value === undefined) return UNKNOWN
  const near = Number(formatF(value, 2))
  return Number.isInteger(near) ? `${near}.0` : String(near)
}

/** Formats a value; a question mark if missing. */
export function formatValue(value: number | string | undefined): string {
  return value === undefined ? UNKNOWN : String(value)
}

/** Formats a time. */
export function formatTime(format: string, { sec, nsec }: Timestamp, zone: Zone): string {
  return strftime(format, sec, zone, nsec)
}

/** Throws PM_ERR_PERMISSION if the user may not see processes; an empty list would look as if there were none. */
export function requireProcessAccess(sample: Sample): void {
  const error = sample.error(PID)
  if (error?.code !== 'PM_ERR_PERMISSION') return
  const hint = 'the collector shows processes to users it knows, as on its local socket (-h unix:)'
  throw new PcpError(error.code, `${error.message}: ${hint}`)
}

/** The values of processes in a sample, and the growth of their counters since the previous one. */
export class ProcessValues {
  readonly #now: Sample
  readonly #before: Sample | undefined
  readonly #texts = new Map<string, ReadonlyMap<number, string>>()
  /** PIDs by instance, ascending. */
  readonly pids: ReadonlyMap<number, number>
  /** Seconds since the previous sample. */
  readonly elapsedSec: number

  constructor(now: Sample, before: Sample | undefined) {
    this.#now = now
    this.#before = before
    this.pids = new Map([...now.numbers(PID)].sort(([, a], [, b]) => a - b))
    this.elapsedSec = before === undefined ? 0 : secondsBetween(before.time, now.time)
  }

  /** Returns a number of a process. */
  number(name: string, inst: number): number | undefined {
    return this.#now.number(name, inst)
  }

  /** Returns a text of a process. */
  text(name: string, inst: number): string | undefined {
    let texts = this.#texts.get(name)
    if (texts === undefined) {
      texts = this.#now.texts(name)
      this.#texts.set(name, texts)
    }
    return texts.get(inst)
  }

  /** Returns the growth of a counter; undefined without a previous value, or if it decreased. */
  growth(name: string, inst: number): number | undefined {
    return this.#now.growth(this.#before, name, inst)
  }

  /** Returns the growth a second. */
  rate(name: string, inst: number): number | undefined {
    const growth = this.growth(name, inst)
    return growth === undefined || this.elapsedSec <= 0 ? undefined : growth / this.elapsedSec
  }

  /** Returns the growth of the sum of millisecond counters as a percentage of elapsed time. */
  percent(inst: number, ...names: readonly string[]): number | undefined {
    let milliseconds = 0
    for (const name of names) milliseconds += this.growth(name, inst) ?? Number.NaN
    return Number.isNaN(milliseconds) || this.elapsedSec <= 0
      ? undefined
      : milliseconds / this.elapsedSec / 10
  }

  /** Returns resident memory as a percentage of physical memory. */
  memoryPercent(inst: number): number | undefined {
    const rss = this.number('proc.psinfo.rss', inst)
    const all = this.#now.number('mem.physmem')
    return rss === undefined || all === undefined || all === 0 ? undefined : (100 * rss) / all
  }
}

/** Parses comma-separated numbers, as for -p and -P; returns undefined for other text. */
export function parsePids(list: string): ReadonlySet<number> | undefined {
  const words = list.split(',')
  return words.every((word) => /^\d+$/.test(word)) ? new Set(words.map(Number)) : undefined
}
