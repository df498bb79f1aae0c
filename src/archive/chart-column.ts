/** Values of one instance for a chart: counters become rates, and too many points are reduced. docs/reference/pmproxy.md */
import { counterDelta } from '../model/rate.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE } from '../model/types.ts'
import { IntervalEstimator } from './chart-interval.ts'

/** Time range and resolution of a chart. */
export interface ChartWindow {
  /** Seconds since the epoch. */
  readonly start: number
  readonly finish: number
  /** Most points per column. */
  readonly points: number
}

/** A finished column; NaN marks a gap. */
export interface ChartPoints {
  readonly times: Float64Array
  readonly values: Float64Array
  readonly min?: Float64Array
  readonly max?: Float64Array
}

/**
 * Aggregates values over equal parts of the window. Gaps at the edges of a part are kept; of those inside a part, the last is kept
 * and placed before its point.
 */
class Shares {
  readonly #start: number
  readonly #perSecond: number
  readonly #last: number
  readonly #count: Int32Array
  readonly #sum: Float64Array
  readonly #min: Float64Array
  readonly #max: Float64Array
  /** Time of the last value of each part; NaN for an empty part. */
  readonly #time: Float64Array
  /** Times of gaps before and after the values of a part, by part; most charts have few. */
  readonly #gapsBefore = new Map<number, number>()
  readonly #gapsBehind = new Map<number, number>()

  constructor({ start, finish, points }: ChartWindow) {
    this.#start = start
    this.#perSecond = points / (finish - start)
    this.#last = points - 1
    this.#count = new Int32Array(points)
    this.#sum = new Float64Array(points)
    this.#min = new Float64Array(points).fill(Number.POSITIVE_INFINITY)
    this.#max = new Float64Array(points).fill(Number.NEGATIVE_INFINITY)
    this.#time = new Float64Array(points).fill(Number.NaN)
  }

  add(time: number, value: number): void {
    const i = Math.min(this.#last, Math.max(0, Math.floor((time - this.#start) * this.#perSecond)))
    if (Number.isNaN(value)) {
      this.#gapsBehind.set(i, time)
      return
    }
    if (this.#gapsBehind.size > 0) this.#closeGap(i)
    this.#time[i] = time
    this.#count[i]!++
    this.#sum[i]! += value
    if (value < this.#min[i]!) this.#min[i] = value
    if (value > this.#max[i]!) this.#max[i] = value
  }

  /** Handles a value after a gap in the same part. */
  #closeGap(i: number): void {
    const gap = this.#gapsBehind.get(i)
    if (gap === undefined) return
    this.#gapsBefore.set(i, gap)
    this.#gapsBehind.delete(i)
  }

  finish(): ChartPoints {
    const room = this.#time.length + this.#gapsBefore.size + this.#gapsBehind.size
    const columns = [0, 1, 2, 3].map(() => new Float64Array(room))
    const [times, values, min, max] = columns as [Float64Array, Float64Array, Float64Array, Float64Array]
    let length = 0
    const gap = (time: number | undefined): void => {
      if (time === undefined) return
      times[length] = time
      values[length] = min[length] = max[length] = Number.NaN
      length++
    }
    for (let i = 0; i < this.#time.length; i++) {
      gap(this.#gapsBefore.get(i))
      const count = this.#count[i]!
      if (count > 0) {
        times[length] = this.#time[i]!
        values[length] = this.#sum[i]! / count
        min[length] = this.#min[i]!
        max[length++] = this.#max[i]!
      }
      gap(this.#gapsBehind.get(i))
    }
    const part = (column: Float64Array): Float64Array => column.subarray(0, length)
    return { times: part(times), values: part(values), min: part(min), max: part(max) }
  }
}

const FIRST_POINTS = 64
const NONE = new Float64Array(0)

/** Options of a column. */
export interface ColumnOptions {
  readonly sem: number
  /** Factor for the change per second of a counter. */
  readonly factor: number
  /** Keeps counters instead of converting them to rates. */
  readonly raw: boolean
  /** Sampling interval of the metric as a whole; missing if the caller marks gaps. */
  readonly pace?: IntervalEstimator
  /** Called with a number of points before space for them is allocated; may throw. */
  readonly reserve: (points: number) => void
}

/** Collects values in time order. */
export class ChartColumn {
  readonly #window: ChartWindow
  readonly #isRate: boolean
  readonly #factor: number
  #times: Float64Array
  #values: Float64Array
  #length = 0
  #shares: Shares | undefined
  #lastTime = Number.NaN
  #lastValue = Number.NaN
  /** Undefined for a discrete metric. */
  readonly #pace: IntervalEstimator | undefined
  /** The second value, until the third shows whether there was a gap before it. */
  #held: readonly [time: number, value: number] | undefined
  readonly #reserve: (points: number) => void

  constructor(window: ChartWindow, { sem, factor, raw, pace, reserve }: ColumnOptions) {
    this.#window = window
    if (pace !== undefined && sem !== PM_SEM_DISCRETE) this.#pace = new IntervalEstimator(pace)
    this.#isRate = sem === PM_SEM_COUNTER && !raw
    this.#factor = factor
    this.#reserve = reserve
    const points = Math.min(window.points, FIRST_POINTS)
    reserve(points)
    this.#times = new Float64Array(points)
    this.#values = new Float64Array(points)
  }

  /** Adds a value. Values before the window only start a rate; values that are not later than the previous one are skipped. */
  add(time: number, value: number): void {
    const pace = this.#pace
    if (this.#held !== undefined) {
      if (time <= this.#held[0]) return
      this.settle()
    }
    if (time <= this.#lastTime) return
    if (pace?.interval === 0 && !Number.isNaN(this.#lastTime)) this.#held = [time, value]
    else this.#keepPace(time, value)
  }

  #take(time: number, value: number): void {
    const lastTime = this.#lastTime
    const lastValue = this.#lastValue
    this.#lastTime = time
    this.#lastValue = value
    if (time < this.#window.start || time > this.#window.finish) return
    let shown = value
    if (this.#isRate) {
      if (Number.isNaN(lastTime)) return
      shown = ((counterDelta(lastValue, value) ?? Number.NaN) / (time - lastTime)) * this.#factor
    }
    // Here rather than in `#push`: V8 then inlines it into the caller's loop without heap numbers.
    if (this.#shares !== undefined) this.#shares.add(time, shown)
    else this.#push(time, shown)
  }

  /** Ends the input: a second value that waits for a third is accepted. */
  settle(): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    this.#keepPace(...held)
  }

  #keepPace(time: number, value: number): void {
    if (this.#pace?.next(time) === true) this.mark((this.#lastTime + time) / 2)
    this.#take(time, value)
  }

  /** Seconds between samples; 0 if unknown. */
  get interval(): number {
    return this.#pace?.interval ?? 0
  }

  /** Time of the last value; NaN if recording was interrupted since. */
  get lastTime(): number {
    return this.#lastTime
  }

  /** Repeats the last value. */
  hold(time: number): void {
    this.add(time, this.#lastValue)
  }

  /** Marks an interruption of recording; ignored before the last value. */
  mark(time: number): void {
    if (this.#held !== undefined && time < this.#held[0]) return
    this.settle()
    if (Number.isNaN(this.#lastTime) || time < this.#lastTime) return
    this.#lastTime = Number.NaN
    this.#pace?.interrupt(time)
    if (time < this.#window.start || time > this.#window.finish) return
    if (this.#shares !== undefined) this.#shares.add(time, Number.NaN)
    else this.#push(time, Number.NaN)
  }

  /** Returns the column. */
  finish(): ChartPoints {
    return (
      this.#shares?.finish() ?? {
        times: this.#times.subarray(0, this.#length),
        values: this.#values.subarray(0, this.#length),
      }
    )
  }

  #push(time: number, value: number): void {
    if (this.#length < this.#window.points) {
      if (this.#length === this.#times.length) this.#grow()
      this.#times[this.#length] = time
      this.#values[this.#length++] = value
      return
    }
    this.#shares = new Shares(this.#window)
    for (let i = 0; i < this.#length; i++) this.#shares.add(this.#times[i]!, this.#values[i]!)
    this.#shares.add(time, value)
    this.#times = NONE
    this.#values = NONE
  }

  #grow(): void {
    const points = Math.min(this.#window.points, 2 * this.#length)
    this.#reserve(points - this.#length)
    const larger = (column: Float64Array): Float64Array => {
      const grown = new Float64Array(points)
      grown.set(column)
      return grown
    }
    this.#times = larger(this.#times)
    this.#values = larger(this.#values)
  }
}
