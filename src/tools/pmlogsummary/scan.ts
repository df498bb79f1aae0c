/** Reads the records in the window and passes their values to consumers. */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PM_VAL_INSITU } from '../../model/types.ts'
import { Progress } from '../lib/progress.ts'
import { RecordsBetween } from '../lib/records-between.ts'
import type { ToolIo } from '../lib/tool.ts'

/** Consumes the values of one metric. */
export interface Consumer {
  /** Adds value set `s` of a record at `time`; `mark` is the time of the last mark. Times are nanoseconds since the archive's start. Returns false if a value is unreadable. */
  take(record: RecordView, s: number, time: number, mark: number): boolean
}

/** What to read, and the consumers. */
export interface ScanOptions {
  readonly archive: Archive
  readonly io: ToolIo
  readonly start: Timestamp
  readonly finish: Timestamp
  /** Consumer of each metric to read. */
  readonly consumers: ReadonlyMap<number, Consumer>
  /** Called for each mark. */
  readonly onMark: (time: number) => void
  /** Called for a metric with values that do not match its type. */
  readonly onUnreadable: (pmid: number) => void
  /** Called for each error instead of values. */
  readonly onError?: (pmid: number, status: number) => void
}

const NANOS = 1e9

/**
 * Returns the nanoseconds since a base: exact for a hundred days, including sums and differences. This keeps all sixteen digits of an
 * average equal to the reference's.
 */
export function nanosSince(base: Timestamp, sec: number, nsec: number): number {
  return (sec - base.sec) * NANOS + (nsec - base.nsec)
}

/** Converts nanoseconds to seconds, by adding whole seconds and a fraction. */
export function toSeconds(nanos: number): number {
  const whole = Math.floor(nanos / NANOS)
  return whole + (nanos - whole * NANOS) / NANOS
}

/**
 * Reads all records and returns the time of the last one since the archive's start. Throws the reader's errors. `careful` validates all
 * records first, which adds half the time; otherwise only decoded parts are checked, and damage appears as an unreadable metric.
 */
export function scanRecords(scan: ScanOptions, careful = false): number {
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

/** Finds the consumers of value sets by their index in the previous record. */
class ValueScan {
  readonly #scan: ScanOptions
  readonly #ids: number[] = []
  readonly #consumers: (Consumer | undefined)[] = []

  constructor(scan: ScanOptions) {
    this.#scan = scan
  }

  /** Returns false if the rest of the archive cannot be trusted. */
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

/** Returns whether the value blocks of set `s` are within the record; for sets that are not decoded. */
function blocksFit({ view, offset, length, pairs, formats, statuses }: RecordView, s: number): boolean {
  if (formats[s] === PM_VAL_INSITU) return true
  const end = offset + length - 4
  for (let i = statuses[s]!, at = pairs[s]! + 4; i > 0; i--, at += 8) {
    const block = offset - 8 + 4 * view.getInt32(at)
    if (block < at || block + 4 > end || block + (view.getInt32(block) & 0xffffff) > end) return false
  }
  return true
}
