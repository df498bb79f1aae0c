/** The values of one instance, on their way to a chart: counters become rates, and too many points become fewer. docs/pmproxy.md */
import { PM_SEM_COUNTER } from '../model/types.ts'

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

/** Sums of the values in equal parts of the window. */
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
    this.#time[i] = time
    if (Number.isNaN(value)) return
    this.#count[i]!++
    this.#sum[i]! += value
    if (value < this.#min[i]!) this.#min[i] = value
    if (value > this.#max[i]!) this.#max[i] = value
  }

  finish(): ChartPoints {
    const [times, values] = [this.#time.slice(), this.#sum.slice()]
    const [min, max] = [this.#min.slice(), this.#max.slice()]
    let length = 0
    for (let i = 0; i < times.length; i++) {
      if (Number.isNaN(times[i]!)) continue
      const count = this.#count[i]!
      times[length] = times[i]!
      values[length] = count === 0 ? Number.NaN : values[i]! / count
      min[length] = count === 0 ? Number.NaN : min[i]!
      max[length++] = count === 0 ? Number.NaN : max[i]!
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
  readonly #reserve: (points: number) => void

  constructor(window: ChartWindow, { sem, factor, raw, reserve }: ColumnOptions) {
    this.#window = window
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
    const lastTime = this.#lastTime
    const lastValue = this.#lastValue
    if (time <= lastTime) return
    this.#lastTime = time
    this.#lastValue = value
    if (time < this.#window.start || time > this.#window.finish) return
    let shown = value
    if (this.#isRate) {
      if (Number.isNaN(lastTime)) return
      const growth = value - lastValue
      shown = growth < 0 ? Number.NaN : (growth / (time - lastTime)) * this.#factor
    }
    // Here rather than in `#push`: V8 takes it into the loop that calls this, without numbers on the heap.
    if (this.#shares !== undefined) this.#shares.add(time, shown)
    else this.#push(time, shown)
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
    if (Number.isNaN(this.#lastTime) || time < this.#lastTime) return
    this.#lastTime = Number.NaN
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
