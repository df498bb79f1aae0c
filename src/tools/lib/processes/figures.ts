/** Figures of processes, in the words of PCP's reports. pcp-pidstat(1), pcp-ps(1) */
import { formatF } from '../../../base/printf.ts'
import { secondsBetween, type Timestamp } from '../../../base/timestamp.ts'
import { PcpError } from '../../../model/errors.ts'
import { strftime } from '../../../time/strftime.ts'
import type { Zone } from '../../../time/zone.ts'
import type { Sample } from '../sampled/metrics.ts'

const PID = 'proc.psinfo.pid'

/** What stands where there is no value. */
export const UNKNOWN = '?'

/** Names of the scheduling policies by number; the fifth has none. sched(7) */
export const POLICIES: readonly string[] = ['NORMAL', 'FIFO', 'RR', 'BATCH', '', 'IDLE', 'DEADLINE']

/** A number rounded to two decimals as these reports show it: `0.0`, `1.5`, `0.48`; a question mark for none. */
export function rounded(value: number | undefined): string {
  if (value === undefined) return UNKNOWN
  const near = Number(formatF(value, 2))
  return Number.isInteger(near) ? `${near}.0` : String(near)
}

/** A value as it is; a question mark for none. */
export function shown(value: number | string | undefined): string {
  return value === undefined ? UNKNOWN : String(value)
}

/** A moment in a format's words. */
export function stamp(format: string, { sec, nsec }: Timestamp, zone: Zone): string {
  return strftime(format, sec, zone, nsec)
}

/** Throws PM_ERR_PERMISSION where processes are not for whoever asks: a list without any would look as if there were none. */
export function mustSeeProcesses(sample: Sample): void {
  const error = sample.error(PID)
  if (error?.code !== 'PM_ERR_PERMISSION') return
  const hint = 'the collector shows processes to users it knows, as on its local socket (-h unix:)'
  throw new PcpError(error.code, `${error.message}: ${hint}`)
}

/** What there is of each process in a sample, and how its counters grew since the one before. */
export class ProcessFigures {
  readonly #now: Sample
  readonly #before: Sample | undefined
  readonly #texts = new Map<string, ReadonlyMap<number, string>>()
  /** The process number of each instance that has one, ascending. */
  readonly pids: ReadonlyMap<number, number>
  /** Since the sample before. */
  readonly elapsedSec: number

  constructor(now: Sample, before: Sample | undefined) {
    this.#now = now
    this.#before = before
    this.pids = new Map([...now.numbers(PID)].sort(([, a], [, b]) => a - b))
    this.elapsedSec = before === undefined ? 0 : secondsBetween(before.time, now.time)
  }

  /** A number of a process. */
  number(name: string, inst: number): number | undefined {
    return this.#now.number(name, inst)
  }

  /** A text of a process. */
  text(name: string, inst: number): string | undefined {
    let texts = this.#texts.get(name)
    if (texts === undefined) {
      texts = this.#now.texts(name)
      this.#texts.set(name, texts)
    }
    return texts.get(inst)
  }

  /** How much a counter grew; undefined without a value before, or when it went backwards. */
  growth(name: string, inst: number): number | undefined {
    return this.#now.growth(this.#before, name, inst)
  }

  /** Growth a second. */
  rate(name: string, inst: number): number | undefined {
    const growth = this.growth(name, inst)
    return growth === undefined || this.elapsedSec <= 0 ? undefined : growth / this.elapsedSec
  }

  /** Counters of milliseconds together as a percentage of the time that passed. */
  percent(inst: number, ...names: readonly string[]): number | undefined {
    let milliseconds = 0
    for (const name of names) milliseconds += this.growth(name, inst) ?? Number.NaN
    return Number.isNaN(milliseconds) || this.elapsedSec <= 0
      ? undefined
      : milliseconds / this.elapsedSec / 10
  }

  /** Resident memory as a percentage of the machine's. */
  memoryPercent(inst: number): number | undefined {
    const rss = this.number('proc.psinfo.rss', inst)
    const all = this.#now.number('mem.physmem')
    return rss === undefined || all === undefined || all === 0 ? undefined : (100 * rss) / all
  }
}

/** Numbers by comma, as -p and -P take them; undefined for anything else. */
export function parsePids(list: string): ReadonlySet<number> | undefined {
  const words = list.split(',')
  return words.every((word) => /^\d+$/.test(word)) ? new Set(words.map(Number)) : undefined
}
