/** The values of one instance, on their way to a chart: counters become rates, and too many points become fewer. docs/pmproxy.md */
import { counterGrowth } from '../model/rate.ts'
import { PM_SEM_COUNTER, PM_SEM_DISCRETE } from '../model/types.ts'
import { Pace } from './chart-pace.ts'

/** What a chart shows. */
export interface ChartWindow {
  /** Seconds since the epoch. */
  readonly start: number
  readonly finish: number
  /** Most points of a column. */
  readonly points: number
}

/** A finished column; NaN where nothing may be concluded. */
export interface ChartPoints {
  readonly times: Float64Array
  readonly values: Float64Array
  readonly min?: Float64Array
  readonly max?: Float64Array
}

/**
 * Sums of the values in equal parts of the window. Gaps at the edges of a part stay gaps; the last one inside a part comes before its
 * point.
 */
class Shares {
  readonly #start: number
  readonly #perSecond: number
  readonly #last: number
  readonly #count: Int32Array
  readonly #sum: Float64Array
  readonly #min: Float64Array
  readonly #max: Float64Array
  /** Of the last value of each part; NaN for a part that is empty. */
  readonly #time: Float64Array
  /** Times of gaps before and behind the values of a part, by part; most charts have few. */
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

  /** A value follows a gap of the same part. */
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

/** What a column is of. */
export interface ColumnOptions {
  readonly sem: number
  /** What a change a second is multiplied with. */
  readonly factor: number
  /** Leaves counters as they are. */
  readonly raw: boolean
  /** How often the metric was sampled, whatever its instances; absent where the caller marks the gaps. */
  readonly pace?: Pace
  /** Hears of each so many points more before there is space for them; may throw. */
  readonly reserve: (points: number) => void
}

/** Takes values in the order of time. */
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
  /** None for what holds until it changes. */
  readonly #pace: Pace | undefined
  /** The second value, until the third shows how far it may be from the first. */
  #held: readonly [time: number, value: number] | undefined
  readonly #reserve: (points: number) => void

  constructor(window: ChartWindow, { sem, factor, raw, pace, reserve }: ColumnOptions) {
    this.#window = window
    if (pace !== undefined && sem !== PM_SEM_DISCRETE) this.#pace = new Pace(pace)
    this.#isRate = sem === PM_SEM_COUNTER && !raw
    this.#factor = factor
    this.#reserve = reserve
    const points = Math.min(window.points, FIRST_POINTS)
    reserve(points)
    this.#times = new Float64Array(points)
    this.#values = new Float64Array(points)
  }

  /** A value; what lies before the window only begins a rate, what is not later than the one before is left out. */
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
      shown = ((counterGrowth(lastValue, value) ?? Number.NaN) / (time - lastTime)) * this.#factor
    }
    // Here rather than in `#push`: V8 takes it into the loop that calls this, without numbers on the heap.
    if (this.#shares !== undefined) this.#shares.add(time, shown)
    else this.#push(time, shown)
  }

  /** No other value follows: the second one, which waits for a third, counts. */
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

  /** When the last value was, unless recording was interrupted since: NaN. */
  get lastTime(): number {
    return this.#lastTime
  }

  /** The last value still holds. */
  hold(time: number): void {
    this.add(time, this.#lastValue)
  }

  /** Recording was interrupted; what lies before the last value is left out. */
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

  /** What came. */
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
