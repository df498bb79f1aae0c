/** Pass 3: checks the records of data volumes: timestamps, encoding, and decreasing counters. */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import {
  PM_SEM_COUNTER,
  PM_TYPE_32,
  PM_TYPE_64,
  PM_TYPE_U32,
  PM_TYPE_U64,
  PM_VAL_INSITU,
} from '../../model/types.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { Progress } from '../lib/progress.ts'
import type { Check, FindingText } from './check.ts'
import { CounterHistory } from './counter-history.ts'

/** Types of counters that can wrap, with the message. */
const WRAPPING: { readonly [type: number]: string } = {
  [PM_TYPE_32]: 'signed 32-bit wrap',
  [PM_TYPE_U32]: 'unsigned 32-bit wrap',
  [PM_TYPE_64]: 'signed 64-bit wrap',
  [PM_TYPE_U64]: 'unsigned 64-bit wrap',
}

/** The records to check. */
export interface DataRange {
  readonly start: Timestamp
  readonly finish: Timestamp
  readonly text: FindingText
}

/** State of a metric over the records so far. */
interface Metric {
  readonly id: Pmid
  readonly desc: MetricDesc | undefined
  /** Value format of its first values; it must not change. */
  format: number | undefined
  readonly history: CounterHistory | undefined
}

/** Reports problems in the data. Returns false if it cannot be read to the end. */
export function checkData(check: Check, archive: Archive, base: string, range: DataRange): boolean {
  check.sayVerbose(`${base}: start pass3`)
  const data = new DataCheck(check, archive, base, range)
  const isReadable = data.run()
  if (isReadable) {
    check.sayVerbose(`Processed ${data.results} pmResult records`)
    if (data.marks > 0) check.sayVerbose(`Processed ${data.marks} <mark> records`)
  }
  return isReadable
}

/** Aborts the check, because later records cannot be trusted. */
class Hopeless extends Error {}

class DataCheck {
  /** Records read, including the one after the end of the window. */
  results = 0
  marks = 0
  readonly #check: Check
  readonly #progress: Progress
  readonly #archive: Archive
  readonly #base: string
  readonly #range: DataRange
  readonly #metrics = new Map<Pmid, Metric>()
  readonly #last: Metric[] = []
  /** Timestamps of records with values, by number. */
  readonly #times: Timestamp[] = []
  /** Number of the first record after the last mark, where counters may restart. */
  #afterMark = 0

  constructor(check: Check, archive: Archive, base: string, range: DataRange) {
    const end = archive.end()
    const progress = new Progress(check.io, isError(end) ? 0 : end.sec - archive.start.sec)
    this.#progress = progress
    this.#check = {
      ...check,
      say(text) {
        progress.clear()
        check.say(text)
      },
    }
    this.#archive = archive
    this.#base = base
    this.#range = range
  }

  run(): boolean {
    const { start, finish } = this.#range
    const reader = new RecordReader(this.#archive, { reportsTears: true })
    if (compareTimes(start, this.#archive.start) > 0) reader.seek(start, 'forward')
    let before: Timestamp | undefined
    try {
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        const time = record.timestamp()
        this.results++
        this.#progress.update(record.sec - this.#archive.start.sec)
        this.#checkTime(record, time, before)
        before = time
        if (compareTimes(time, finish) > 0) break
        if (record.count === 0) this.#mark()
        else this.#checkRecord(record, time)
      }
      return true
    } catch (error) {
      if (error instanceof Hopeless) this.#check.say(`${this.#check.io.progname}: possibly corrupt archive?`)
      else if (error instanceof PcpError)
        this.#check.say(`${this.#check.io.progname}: pmFetch: ${error.text}`)
      else throw error
      return false
    } finally {
      this.#progress.clear()
    }
  }

  #mark(): void {
    this.marks++
    this.#afterMark = this.#times.length
  }

  #checkTime(record: RecordView, time: Timestamp, before: Timestamp | undefined): void {
    const { text } = this.#range
    const where = this.#where(record, time)
    const { start } = this.#archive
    if (compareTimes(time, start) < 0)
      this.#check.say(`${where}: timestamp before label timestamp: ${text.stamp(start)}`)
    if (before !== undefined && compareTimes(time, before) < 0)
      this.#check.say(`${where}: timestamp went backwards, prior timestamp: ${text.stamp(before)}`)
  }

  #where(record: RecordView, time: Timestamp): string {
    return `${this.#base}.${record.volume}:[${this.#range.text.stamp(time)}]`
  }

  #checkRecord(record: RecordView, time: Timestamp): void {
    const number = this.#times.length
    this.#times.push(time)
    for (let s = 0; s < record.count; s++) {
      const metric = this.#metricAt(s, record, time)
      if (metric.desc === undefined || record.statuses[s]! <= 0) continue
      const format = record.formats[s]!
      metric.format ??= format
      if (format === metric.format || (format !== PM_VAL_INSITU && metric.format !== PM_VAL_INSITU)) {
        if (metric.history !== undefined) this.#checkCounter(record, s, metric, metric.history, number)
        continue
      }
      const name = this.#range.text.name(metric.id)
      this.#check.say(
        `${this.#where(record, time)} ${name}: encoding botch valfmt=${format} not ${metric.format} as expected`,
      )
    }
  }

  #metricAt(s: number, record: RecordView, time: Timestamp): Metric {
    const id = record.pmids[s]!
    const last = this.#last[s]
    if (last !== undefined && last.id === id) return last
    let metric = this.#metrics.get(id)
    if (metric === undefined) {
      metric = this.#newMetric(id)
      this.#metrics.set(id, metric)
      if (metric.desc === undefined) {
        const { text } = new PcpError('PM_ERR_PMID_LOG')
        this.#check.say(`${this.#where(record, time)} ${pmidStr(id)}: pmLookupDesc failed: ${text}`)
      }
    }
    this.#last[s] = metric
    return metric
  }

  #newMetric(id: Pmid): Metric {
    const desc = this.#archive.metadata.descs.get(id)
    const isCounter = desc?.sem === PM_SEM_COUNTER && WRAPPING[desc.type] !== undefined
    const history = isCounter ? new CounterHistory(desc) : undefined
    return { id, desc, format: undefined, history }
  }

  #checkCounter(
    record: RecordView,
    s: number,
    metric: Metric,
    history: CounterHistory,
    number: number,
  ): void {
    let from = 0
    for (;;) {
      const i = history.update(record, s, from, number, this.#afterMark)
      if (i === record.statuses[s]!) return
      if (history.problem === 'unreadable') {
        const { text } = new PcpError('PM_ERR_CONV')
        const where = this.#where(record, this.#times[number]!)
        this.#check.say(`${where} ${this.#range.text.name(metric.id)}: pmExtractValue failed: ${text}`)
        throw new Hopeless()
      }
      if (!this.#check.wanted.noWraps) this.#sayWrap(record, metric, history)
      from = i + 1
    }
  }

  #sayWrap(record: RecordView, metric: Metric, history: CounterHistory): void {
    const { text } = this.#range
    const { value, before, seen, inst } = history
    const time = record.timestamp()
    const desc = metric.desc!
    const instance = desc.indom === PM_INDOM_NULL ? '' : `[${text.instance(desc.indom, inst)}]`
    this.#check.say(
      `${this.#where(record, time)}: ${text.name(metric.id)}${instance}: ${WRAPPING[desc.type]}\n` +
        `\tvalue ${text.number(before)} at ${text.stamp(this.#times[seen]!)}\n` +
        `\tvalue ${text.number(value)} at ${text.stamp(time)}`,
    )
  }
}
