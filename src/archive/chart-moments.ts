/**
 * When the metrics were recorded that a chart samples: at which moments to sample them, and where nothing may be concluded between two
 * records. An archive interpolates across any stretch without a mark, however long.
 */
import type { MetricDesc } from '../model/desc.ts'
import { PM_INDOM_NULL, type Pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE } from '../model/types.ts'
import { Pace } from './chart-pace.ts'
import type { ValueSink } from './scan.ts'

/** Instances of a metric whose gaps are known apart; others have those of the metric. Charts have no more columns. */
const MOST_INSTANCES = 5000

/** Stretches without samples of one instance, or of a metric whatever its instances. Moments are looked up in ascending order. */
export class Samples implements ValueSink {
  readonly pace: Pace
  readonly #onTime: ((time: number) => void) | undefined
  /** Start and end of each gap, one behind the other. */
  readonly #gaps: number[] = []
  #at = 0
  #count = 0
  #first = Number.NaN
  #before = Number.NaN
  #last = Number.NaN
  #isMarked = false

  /** `onTime` gets each time once. */
  constructor(metric: Pace | undefined, onTime?: (time: number) => void) {
    this.pace = new Pace(metric)
    this.#onTime = onTime
  }

  add(time: number): void {
    if (time <= this.#last) return
    const last = this.#last
    const isGap = this.pace.next(time) || this.#isMarked
    this.#isMarked = false
    if (++this.#count === 1) this.#first = time
    // How far the first two may be apart is known with the third.
    else if (this.#count === 3 && this.#gaps.length === 0 && last - this.#before > this.pace.patience)
      this.#gaps.push(this.#before, last)
    if (isGap && this.#count > 1) this.#gaps.push(last, time)
    this.#before = last
    this.#last = time
    this.#onTime?.(time)
  }

  /** Recording was interrupted. */
  mark(time: number): void {
    if (!(time >= this.#last)) return
    this.#isMarked = true
    this.pace.interrupt(time)
  }

  /** Are there samples at or around a moment, without a gap between them? */
  covers(time: number): boolean {
    if (!(time >= this.#first && time <= this.#last)) return false
    this.#moveTo(time)
    return !(this.#gaps[this.#at]! < time)
  }

  /** The end of the last gap up to a moment, -Infinity without one. */
  gapEnd(time: number): number {
    this.#moveTo(time)
    return this.#gaps[this.#at - 1] ?? Number.NEGATIVE_INFINITY
  }

  #moveTo(time: number): void {
    while (this.#gaps[this.#at + 1]! <= time) this.#at += 2
  }
}

/** The records of one metric. */
export class MetricSamples {
  /** All of them. */
  readonly whole: Samples
  readonly #isSingular: boolean
  readonly #byInst = new Map<number, Samples>()

  constructor({ indom }: MetricDesc, onTime: (time: number) => void) {
    this.whole = new Samples(undefined, onTime)
    this.#isSingular = indom === PM_INDOM_NULL
  }

  /** Takes the times of an instance's values. */
  sinkOf(inst: number): ValueSink {
    if (this.#isSingular) return this.whole
    const { whole } = this
    // Asked for in each part that is scanned.
    let own = this.#byInst.get(inst)
    if (own === undefined) {
      if (this.#byInst.size >= MOST_INSTANCES) return whole
      own = new Samples(whole.pace)
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

  /** Those that decide about an instance of what is computed from the metric. */
  of(inst: number): Samples {
    return this.#byInst.get(inst) ?? this.whole
  }
}

/** The records of all metrics that are sampled together. */
export class Moments {
  readonly #start: number
  readonly #finish: number
  readonly #most: number
  readonly #times: number[] = []
  /** How many metrics were recorded at each of them. */
  readonly #counts: number[] = []
  /** The last moment before the window: rates begin there. */
  #before = Number.NaN
  readonly #byId = new Map<Pmid, MetricSamples>()
  /** How often each metric was recorded in the window, of those that do not hold until they change. */
  readonly #recorded: { moments: number }[] = []

  /** `most`: with more moments than that the window is sampled at equal steps. */
  constructor({ start, finish }: { readonly start: number; readonly finish: number }, most: number) {
    this.#start = start
    this.#finish = finish
    this.#most = most
  }

  /** Follows a metric that is recorded; the same for the same metric. */
  follow(desc: MetricDesc): MetricSamples {
    let samples = this.#byId.get(desc.pmid)
    if (samples === undefined) {
      const recorded = { moments: 0 }
      // That it does not change is no reason to leave out a moment.
      if (!isSteady(desc)) this.#recorded.push(recorded)
      samples = new MetricSamples(desc, (time) => this.#note(time, isSteady(desc) ? undefined : recorded))
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
  }

  #note(time: number, recorded: { moments: number } | undefined): void {
    if (time < this.#start) this.#before = time
    if (time < this.#start || time > this.#finish || this.#times.length > this.#most) return
    if (this.#times.at(-1) !== time) {
      this.#times.push(time)
      this.#counts.push(0)
    }
    if (recorded === undefined) return
    recorded.moments++
    this.#counts[this.#counts.length - 1]!++
  }

  /** The moments to sample; with too many records undefined. */
  list(isAligned: boolean): readonly number[] | undefined {
    if (this.#times.length > this.#most) return undefined
    const times = (isAligned ? this.#together() : undefined) ?? this.#times
    return Number.isNaN(this.#before) ? times : [this.#before, ...times]
  }

  /** Moments at which all metrics were recorded, where there are enough of them: values of two moments do not add up. */
  #together(): number[] | undefined {
    const counts = this.#recorded.map(({ moments }) => moments).filter((count) => count > 0)
    const together = this.#times.filter((_, i) => this.#counts[i] === counts.length)
    return 2 * together.length >= Math.min(...counts) ? together : undefined
  }
}

/** Holds until it changes: that there is no sample is no gap. */
export const isSteady = ({ sem }: MetricDesc): boolean => sem === PM_SEM_DISCRETE
