/**
 * Recording times of the metrics that a chart samples: they decide when to sample, and where there are gaps. An archive interpolates
 * between any two records without a mark, however far apart.
 */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE } from '../model/types.ts'
import { IntervalEstimator, IntervalHistory } from './chart-interval.ts'
import type { ValueSink } from './scan.ts'

/** Most instances with separate gaps; further ones use those of the metric. Charts have no more columns. */
const MOST_INSTANCES = 5000

/** Gaps between samples of an instance, or of a metric as a whole. Times must be looked up in ascending order. */
export class RecordingTimes implements ValueSink {
  readonly pace: IntervalEstimator
  readonly #onTime: ((time: number) => void) | undefined
  /** Start and end of each gap, alternating. */
  readonly #gaps: number[] = []
  #at = 0
  #count = 0
  #first = Number.NaN
  #before = Number.NaN
  #last = Number.NaN
  #isMarked = false

  /** `onTime` is called once for each time. */
  constructor(metric: IntervalEstimator | undefined, onTime?: (time: number) => void) {
    this.pace = new IntervalEstimator(metric)
    this.#onTime = onTime
  }

  add(time: number): void {
    if (time <= this.#last) return
    const last = this.#last
    const isGap = this.pace.next(time) || this.#isMarked
    this.#isMarked = false
    if (++this.#count === 1) this.#first = time
    // The third sample shows how far apart the first two may be.
    else if (this.#count === 3 && this.#gaps.length === 0 && last - this.#before > this.pace.gapAfter)
      this.#gaps.push(this.#before, last)
    if (isGap && this.#count > 1) this.#gaps.push(last, time)
    this.#before = last
    this.#last = time
    this.#onTime?.(time)
  }

  /** Seconds between samples; 0 if unknown. */
  get interval(): number {
    return this.pace.interval || (this.#count === 2 ? this.#last - this.#first : 0)
  }

  /** Returns whether a time is after all samples. */
  isBehind(time: number): boolean {
    return time > this.#last
  }

  /** Marks an interruption of recording. */
  mark(time: number): void {
    if (!(time >= this.#last)) return
    this.#isMarked = true
    this.pace.interrupt(time)
  }

  /** Returns whether there are samples at or around a time, without a gap between them. */
  covers(time: number): boolean {
    if (!(time >= this.#first && time <= this.#last)) return false
    this.#moveTo(time)
    return !(this.#gaps[this.#at]! < time)
  }

  /** Returns the end of the last gap before a time, -Infinity without one. */
  gapEnd(time: number): number {
    this.#moveTo(time)
    return this.#gaps[this.#at - 1] ?? Number.NEGATIVE_INFINITY
  }

  #moveTo(time: number): void {
    while (this.#gaps[this.#at + 1]! <= time) this.#at += 2
  }
}

/** Recording times of one metric. */
export class MetricRecordingTimes {
  /** All instances together. */
  readonly whole: RecordingTimes
  /** The times to sample from, ascending: in the window, and the last one before it. */
  readonly times: readonly number[]
  readonly #intervals = new IntervalHistory()
  readonly #isSingular: boolean
  readonly #byInst = new Map<number, RecordingTimes>()

  constructor({ indom }: MetricDesc, times: readonly number[], onTime: (time: number) => void) {
    this.times = times
    this.whole = new RecordingTimes(undefined, (time) => {
      this.#intervals.add(time, this.whole.pace.interval)
      onTime(time)
    })
    this.#isSingular = indom === PM_INDOM_NULL
  }

  /** Returns the seconds between samples at a time; 0 if unknown. */
  intervalAt(time: number): number {
    return this.#intervals.at(time) || this.whole.interval
  }

  /** Returns the sink for the times of an instance's values. */
  sinkOf(inst: number): ValueSink {
    if (this.#isSingular) return this.whole
    const { whole } = this
    // Called again for each part that is scanned.
    let own = this.#byInst.get(inst)
    if (own === undefined) {
      if (this.#byInst.size >= MOST_INSTANCES) return whole
      own = new RecordingTimes(whole.pace)
      this.#byInst.set(inst, own)
    }
    const samples = own
    return {
      add: (time) => {
        whole.add(time)
        samples.add(time)
      },
    }
  }

  mark(time: number): void {
    this.whole.mark(time)
    for (const samples of this.#byInst.values()) samples.mark(time)
  }

  /** Returns the samples that apply to an instance computed from the metric. */
  of(inst: number): RecordingTimes {
    return this.#byInst.get(inst) ?? this.whole
  }
}

/** Recording times of all metrics that are sampled. */
export class SampleTimes {
  readonly #start: number
  readonly #finish: number
  readonly #most: number
  readonly #byId = new Map<Pmid, MetricRecordingTimes>()
  /** The times as recorded, by seconds. */
  readonly #exact = new Map<number, Timestamp>()
  #record: Timestamp | undefined
  readonly #marks: number[] = []

  /** Keeps about `most` times of each metric. */
  constructor({ start, finish }: { readonly start: number; readonly finish: number }, most: number) {
    this.#start = start
    this.#finish = finish
    this.#most = most
  }

  /** Follows a recorded metric; the result is shared for equal metrics. */
  follow(desc: MetricDesc): MetricRecordingTimes {
    let samples = this.#byId.get(desc.pmid)
    if (samples === undefined) {
      const times: number[] = []
      samples = new MetricRecordingTimes(desc, times, (time) => this.#note(times, time))
      this.#byId.set(desc.pmid, samples)
    }
    return samples
  }

  get ids(): readonly Pmid[] {
    return [...this.#byId.keys()]
  }

  sinkOf(id: Pmid, inst: number): ValueSink | undefined {
    return this.#byId.get(id)?.sinkOf(inst)
  }

  mark(time: number): void {
    for (const samples of this.#byId.values()) samples.mark(time)
    // Parts that are scanned overlap.
    if (!(time <= this.#marks.at(-1)!)) this.#marks.push(time)
  }

  /** Returns when recording was first interrupted between two times. */
  markBetween(after: number, until: number): number | undefined {
    return this.#marks.find((mark) => mark > after && mark <= until)
  }

  /** Takes the exact time of the values that follow. */
  record(time: Timestamp): void {
    this.#record = time
  }

  /**
   * Returns a recording time exactly. A double is up to 0.12 microseconds off: before the first record of a metric or after its last one,
   * where it has no value.
   */
  exact(time: number): Timestamp | undefined {
    return this.#exact.get(time)
  }

  /** Keeps a time of the window, or the last one before it, with which rates start. */
  #note(times: number[], time: number): void {
    if (time > this.#finish || times.length > this.#most) return
    if (times.length > 0 && time < this.#start) times.length = 0
    times.push(time)
    if (this.#record === undefined) return
    const { sec, nsec } = this.#record
    this.#exact.set(time, { sec, nsec })
  }
}

/** Returns whether a metric is discrete, so that missing samples are not gaps. */
export const isDiscrete = ({ sem }: MetricDesc): boolean => sem === PM_SEM_DISCRETE
