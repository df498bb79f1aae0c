/** Samples of one metric from archives. */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import { extract } from '../../model/value-set.ts'
import type { Value } from '../../model/values.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { Goals, isNewestFirst } from '../query/window.ts'
import type { Sample, SampleWindow } from '../store.ts'
import type { ValueBudget } from '../value-budget.ts'

/** An archive, with the metric's descriptor in it. */
export interface SampledArchive {
  readonly archive: Archive
  readonly desc: MetricDesc
  /** Identifiers of instances by number; '' for a metric without instances. */
  readonly idOf: (inst: number) => string
}

/** Reads samples of archives in order of time. Errors of the budget, and of damaged records as `RecordReader`. */
export function readSamples(
  archives: readonly SampledArchive[],
  window: SampleWindow,
  budget: ValueBudget,
): readonly Sample[] {
  return isNewestFirst(window) ? latest(archives, window.samples!, budget) : inRange(archives, window, budget)
}

function latest(archives: readonly SampledArchive[], most: number, budget: ValueBudget): readonly Sample[] {
  const samples: Sample[] = []
  for (const each of [...archives].reverse()) {
    if (samples.length >= most) break
    const reader = new RecordReader(each.archive, { checkValues: false, sparse: true, bufferBytes: 1 << 16 })
    reader.toEnd()
    for (let record = reader.previous(); record !== undefined; record = reader.previous()) {
      if (record.count === 0) {
        const last = samples.pop()
        if (last !== undefined) samples.push({ ...last, isAfterGap: true })
        continue
      }
      const sample = sampleOf(record, each, false)
      if (sample === undefined) continue
      budget.take(sample.values.length)
      samples.push(sample)
      if (samples.length >= most) break
    }
    // The counters of two archives may be of two boots.
    const last = samples.at(-1)
    if (last !== undefined && samples.length < most)
      samples[samples.length - 1] = { ...last, isAfterGap: true }
  }
  return samples
}

function inRange(
  archives: readonly SampledArchive[],
  { samples: most = Number.POSITIVE_INFINITY, interval, start, finish }: SampleWindow,
  budget: ValueBudget,
): readonly Sample[] {
  const goals =
    interval === undefined || interval <= 0
      ? undefined
      : new Goals(interval, start === undefined ? undefined : start.sec + start.nsec / 1e9)
  const samples: Sample[] = []
  let waiting: Sample | undefined
  const take = (sample: Sample): void => {
    budget.take(sample.values.length)
    samples.push(sample)
  }
  const offer = (sample: Sample | undefined): void => {
    if (goals === undefined) {
      if (sample !== undefined) take(sample)
      return
    }
    if (waiting !== undefined && goals.takes(seconds(waiting), sample && seconds(sample))) take(waiting)
    waiting = sample
  }
  let lastTime: Sample | undefined
  for (const each of archives) {
    const reader = new RecordReader(each.archive, { checkValues: false, sparse: true })
    if (start !== undefined) reader.seek(start, 'forward')
    let isAfterGap = true
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (finish !== undefined && (record.sec - finish.sec || record.nsec - finish.nsec) > 0) break
      if (record.count === 0) isAfterGap = true
      const sample = sampleOf(record, each, isAfterGap)
      // Of archives that overlap, the earlier one is read up to its end.
      if (sample === undefined || (lastTime !== undefined && compareTimes(sample, lastTime) <= 0)) continue
      isAfterGap = false
      lastTime = sample
      offer(sample)
      if (samples.length >= most) return samples
    }
  }
  offer(undefined)
  return samples.slice(0, most === Number.POSITIVE_INFINITY ? undefined : most)
}

/** Returns the metric's values in a record; undefined if it has none. */
function sampleOf(
  record: RecordView,
  { desc, idOf }: SampledArchive,
  isAfterGap: boolean,
): Sample | undefined {
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
  const sample = { sec: record.sec, nsec: record.nsec, ids, values }
  return isAfterGap ? { ...sample, isAfterGap } : sample
}

function seconds({ sec, nsec }: Sample): number {
  return sec + nsec / 1e9
}
