/** Samples of one metric from archives: from columns files if there are, otherwise from records. */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { extract } from '../../model/value-set.ts'
import type { Value } from '../../model/values.ts'
import type { MetricChunk, WantedSamples } from '../columns/file.ts'
import { Goals, isNewestFirst } from '../query/window.ts'
import type { Sample, SampleWindow } from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'
import { ColumnCursor, newestOf } from './column-samples.ts'
import type { SampleCursor } from './sample-cursor.ts'

/** An archive, with the metric's descriptor in it. */
export interface SampledArchive {
  /** Returns the archive, opened if necessary; undefined if it cannot be read. */
  readonly open: () => Archive | undefined
  /** Returns the metric's samples from the columns file; undefined if they have to be read from records. */
  readonly columns: (wanted: WantedSamples) => readonly MetricChunk[] | undefined
  readonly desc: MetricDesc
  /** Identifiers of instances by number; '' for a metric without instances. */
  readonly idOf: (inst: number) => string
}

/** Reads samples of archives in order of time. Errors of the budget, of damaged records as `RecordReader`, and `DamagedColumns`. */
export function readSamples(
  archives: readonly SampledArchive[],
  window: SampleWindow,
  budget: ValueBudget,
): readonly Sample[] {
  return isNewestFirst(window)
    ? latest(archives, window.samples!, budget)
    : new RangeReader(window, budget).read(archives)
}

function latest(archives: readonly SampledArchive[], most: number, budget: ValueBudget): readonly Sample[] {
  const samples: Sample[] = []
  for (const each of [...archives].reverse()) {
    if (samples.length >= most) break
    const chunks = each.columns({ newest: most - samples.length })
    if (chunks === undefined) fromRecords(each, most, samples, budget)
    else
      for (const sample of newestOf(new ColumnCursor(chunks, idsOf(each)), most - samples.length)) {
        budget.take(sample.values.length)
        samples.push(sample)
      }
    // The counters of two archives may be of two boots.
    const last = samples.at(-1)
    if (last !== undefined && samples.length < most)
      samples[samples.length - 1] = { ...last, isAfterGap: true }
  }
  return samples
}

function fromRecords(each: SampledArchive, most: number, samples: Sample[], budget: ValueBudget): void {
  const archive = each.open()
  if (archive === undefined) return
  const reader = new RecordReader(archive, { checkValues: false, sparse: true, bufferBytes: 1 << 16 })
  reader.toEnd()
  for (let record = reader.previous(); record !== undefined; record = reader.previous()) {
    if (record.count === 0) {
      const last = samples.pop()
      if (last !== undefined) samples.push({ ...last, isAfterGap: true })
      continue
    }
    const sample = sampleOf(record, each)
    if (sample === undefined) continue
    budget.take(sample.values.length)
    samples.push(sample)
    if (samples.length >= most) return
  }
}

/** Reads a range, or the samples nearest before goals. */
class RangeReader {
  readonly #window: SampleWindow
  readonly #budget: ValueBudget
  readonly #most: number
  readonly #goals: Goals | undefined
  readonly #samples: Sample[] = []
  /** The sample that a goal may take, and how it is read. */
  #waiting: (() => Sample) | undefined
  #waitingTime = 0
  #lastSec = Number.NEGATIVE_INFINITY
  #lastNsec = 0

  constructor(window: SampleWindow, budget: ValueBudget) {
    const { samples = Number.POSITIVE_INFINITY, interval, start } = window
    this.#window = window
    this.#budget = budget
    this.#most = samples
    if (interval !== undefined && interval > 0)
      this.#goals = new Goals(interval, start === undefined ? undefined : start.sec + start.nsec / 1e9)
  }

  read(archives: readonly SampledArchive[]): readonly Sample[] {
    const { start, finish } = this.#window
    for (const each of archives) {
      if (this.#samples.length >= this.#most) break
      const chunks = each.columns({ start, finish })
      if (chunks !== undefined) {
        this.#from(new ColumnCursor(chunks, idsOf(each), start))
        continue
      }
      const archive = each.open()
      if (archive !== undefined) this.#from(new RecordCursor(archive, each, start, finish))
    }
    const isFull = this.#samples.length >= this.#most
    if (!isFull && this.#waiting !== undefined && this.#goals!.takes(this.#waitingTime, undefined))
      this.#take(this.#waiting())
    return this.#samples
  }

  #from<H>(cursor: SampleCursor<H>): void {
    const { finish } = this.#window
    const goals = this.#goals
    let isAfterGap = true
    /** The sample of this cursor that waits. */
    let held: H | undefined
    let isHeldAfterGap = false
    const read = (handle: H, hasGap: boolean): Sample => {
      const sample = cursor.read(handle)
      return hasGap ? { ...sample, isAfterGap: true } : sample
    }
    while (this.#samples.length < this.#most && cursor.next()) {
      const { sec, nsec } = cursor
      if (finish !== undefined && (sec - finish.sec || nsec - finish.nsec) > 0) break
      isAfterGap ||= cursor.isAfterGap
      // Of archives that overlap, the earlier one is read up to its end.
      if ((sec - this.#lastSec || nsec - this.#lastNsec) <= 0) continue
      this.#lastSec = sec
      this.#lastNsec = nsec
      if (goals === undefined) this.#take(read(cursor.hold(), isAfterGap))
      else {
        const time = sec + nsec / 1e9
        if (held !== undefined) {
          if (goals.takes(this.#waitingTime, time)) this.#take(read(held, isHeldAfterGap))
        } else if (this.#waiting !== undefined && goals.takes(this.#waitingTime, time))
          this.#take(this.#waiting())
        this.#waiting = undefined
        this.#waitingTime = time
        held = cursor.hold()
        isHeldAfterGap = isAfterGap
      }
      isAfterGap = false
    }
    if (held !== undefined) {
      const [last, hasGap] = [held, isHeldAfterGap]
      this.#waiting = () => read(last, hasGap)
    }
  }

  #take(sample: Sample): void {
    this.#budget.take(sample.values.length)
    this.#samples.push(sample)
  }
}

/** Steps through the records of an archive. Handles are samples. */
class RecordCursor implements SampleCursor<Sample> {
  sec = 0
  nsec = 0
  isAfterGap = true
  readonly #each: SampledArchive
  readonly #finish: Timestamp | undefined
  readonly #reader: RecordReader
  #sample: Sample | undefined

  constructor(
    archive: Archive,
    each: SampledArchive,
    start: Timestamp | undefined,
    finish: Timestamp | undefined,
  ) {
    this.#each = each
    this.#finish = finish
    this.#reader = new RecordReader(archive, { checkValues: false, sparse: true })
    if (start !== undefined) this.#reader.seek(start, 'forward')
  }

  next(): boolean {
    this.isAfterGap = this.#sample === undefined
    const finish = this.#finish
    for (let record = this.#reader.next(); record !== undefined; record = this.#reader.next()) {
      if (finish !== undefined && (record.sec - finish.sec || record.nsec - finish.nsec) > 0) return false
      if (record.count === 0) this.isAfterGap = true
      const sample = sampleOf(record, this.#each)
      if (sample === undefined) continue
      this.#sample = sample
      this.sec = sample.sec
      this.nsec = sample.nsec
      return true
    }
    return false
  }

  hold(): Sample {
    return this.#sample!
  }

  read(handle: Sample): Sample {
    return handle
  }
}

/** Returns the metric's values in a record; undefined if it has none. */
function sampleOf(record: RecordView, { desc, idOf }: SampledArchive): Sample | undefined {
  const s = record.find(desc.pmid)
  if (s < 0 || record.statuses[s]! <= 0) return undefined
  const set = record.toSet(s)
  const count = record.statuses[s]!
  const ids: string[] = []
  const values: Value[] = []
  for (let i = 0; i < count; i++) {
    ids.push(desc.indom === PM_INDOM_NULL ? '' : idOf(set.inst[i]!))
    values.push(extract(set, i, desc.type))
  }
  return { sec: record.sec, nsec: record.nsec, ids, values }
}

function idsOf({ desc, idOf }: SampledArchive): (inst: number) => string {
  return desc.indom === PM_INDOM_NULL ? () => '' : idOf
}
