/** Reads the records of the window and hands their values to whoever sums them up. */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PM_VAL_INSITU } from '../../model/types.ts'
import { Progress } from '../lib/progress.ts'
import { RecordsBetween } from '../lib/records-between.ts'
import type { ToolIo } from '../lib/tool.ts'

/** Takes the values of one metric. */
export interface Consumer {
  /** Value set `s` of a record of this time; `mark` is when the last mark was. Times are nanoseconds since the archive's start. False when a value cannot be read. */
  take(record: RecordView, s: number, time: number, mark: number): boolean
}

/** What to read, and for whom. */
export interface Scan {
  readonly archive: Archive
  readonly io: ToolIo
  readonly start: Timestamp
  readonly finish: Timestamp
  /** Who takes the values of a metric; undefined for nobody. */
  readonly consumers: ReadonlyMap<number, Consumer>
  /** Hears of marks. */
  readonly onMark: (time: number) => void
  /** Hears of a metric whose values are not of its type. */
  readonly onUnreadable: (pmid: number) => void
  /** Called with each error in place of values. */
  readonly onError?: (pmid: number, status: number) => void
}

const NANOS = 1e9

/**
 * Nanoseconds from a base to a moment: exact for a hundred days, and the sums and differences of times in a scan with it. That is
 * what makes sixteen digits of an average come out as the reference's.
 */
export function nanosSince(base: Timestamp, sec: number, nsec: number): number {
  return (sec - base.sec) * NANOS + (nsec - base.nsec)
}

/** Nanoseconds as seconds: whole ones and a fraction, added. */
export function toSeconds(nanos: number): number {
  const whole = Math.floor(nanos / NANOS)
  return whole + (nanos - whole * NANOS) / NANOS
}

/**
 * Reads all records. Throws what the reader throws. Returns the time of the last record since the archive's start.
 * `careful` checks all of every record first, which takes half as long again; without it only what is decoded is checked, and
 * damage shows as an unreadable metric.
 */
export function scanRecords(scan: Scan, careful = false): number {
  const { archive, start, finish, onMark } = scan
  const reader = new RecordReader(archive, { checkValues: careful, reportsTears: true })
  const records = new RecordsBetween(reader, start, finish)
  const progress = new Progress(scan.io, nanosSince(start, finish.sec, finish.nsec))
  const onError = (pmid: number, status: number): void => {
    progress.clear()
    scan.onError?.(pmid, status)
  }
  const values = new ValueScan({ ...scan, onError })
  let mark = Number.NEGATIVE_INFINITY
  let time = 0
  try {
    for (let record = records.next(); record !== undefined; record = records.next()) {
      time = nanosSince(archive.start, record.sec, record.nsec)
      if (record.count === 0) {
        mark = time
        onMark(time)
      } else if (!values.scan(record, time, mark)) break
      progress.update(nanosSince(start, record.sec, record.nsec))
    }
  } finally {
    progress.clear()
  }
  return time
}

/** Finds the consumers of value sets by the places they had in the record before. */
class ValueScan {
  readonly #scan: Scan
  readonly #ids: number[] = []
  readonly #consumers: (Consumer | undefined)[] = []

  constructor(scan: Scan) {
    this.#scan = scan
  }

  /** False when the rest of the archive is not to be trusted. */
  scan(record: RecordView, time: number, mark: number): boolean {
    record.index()
    const { pmids, statuses, count } = record
    for (let s = 0; s < count; s++) {
      const id = pmids[s]!
      if (statuses[s]! <= 0) {
        if (statuses[s]! < 0) this.#scan.onError?.(id, statuses[s]!)
        continue
      }
      if (this.#ids[s] !== id) {
        this.#ids[s] = id
        this.#consumers[s] = this.#scan.consumers.get(id)
      }
      const consumer = this.#consumers[s]
      if (consumer === undefined ? blocksFit(record, s) : consumer.take(record, s, time, mark)) continue
      this.#scan.onUnreadable(id)
      return false
    }
    return true
  }
}

/** Do the value blocks of set `s` lie inside the record? Asked for sets that are not decoded. */
function blocksFit({ view, offset, length, pairs, formats, statuses }: RecordView, s: number): boolean {
  if (formats[s] === PM_VAL_INSITU) return true
  const end = offset + length - 4
  for (let i = statuses[s]!, at = pairs[s]! + 4; i > 0; i--, at += 8) {
    const block = offset - 8 + 4 * view.getInt32(at)
    if (block < at || block + 4 > end || block + (view.getInt32(block) & 0xffffff) > end) return false
  }
  return true
}
