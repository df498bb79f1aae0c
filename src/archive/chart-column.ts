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
  readonly times: readonly number[]
  readonly values: readonly number[]
  readonly min?: readonly number[]
  readonly max?: readonly number[]
}

/** Sums of the values in equal parts of the window. */
class Shares {
  readonly #window: ChartWindow
  readonly #count: Int32Array
  readonly #sum: Float64Array
  readonly #min: Float64Array
  readonly #max: Float64Array
  readonly #time: Float64Array

  constructor(window: ChartWindow) {
    const { points } = window
    this.#window = window
    this.#count = new Int32Array(points)
    this.#sum = new Float64Array(points)
    this.#min = new Float64Array(points).fill(Number.POSITIVE_INFINITY)
    this.#max = new Float64Array(points).fill(Number.NEGATIVE_INFINITY)
    this.#time = new Float64Array(points)
  }

  add(time: number, value: number): void {
    const { start, finish, points } = this.#window
    const i = Math.min(points - 1, Math.max(0, Math.floor(((time - start) / (finish - start)) * points)))
    this.#time[i] = time
    if (Number.isNaN(value)) return
    this.#count[i]!++
    this.#sum[i]! += value
    if (value < this.#min[i]!) this.#min[i] = value
    if (value > this.#max[i]!) this.#max[i] = value
  }

  finish(): ChartPoints {
    const [times, values, min, max]: [number[], number[], number[], number[]] = [[], [], [], []]
    for (let i = 0; i < this.#count.length; i++) {
      if (this.#time[i] === 0) continue
      const count = this.#count[i]!
      times.push(this.#time[i]!)
      values.push(count === 0 ? Number.NaN : this.#sum[i]! / count)
      min.push(count === 0 ? Number.NaN : this.#min[i]!)
      max.push(count === 0 ? Number.NaN : this.#max[i]!)
    }
    return { times, values, min, max }
  }
}

/** Takes values in the order of time. */
export class ChartColumn {
  readonly #window: ChartWindow
  readonly #isRate: boolean
  readonly #factor: number
  readonly #times: number[] = []
  readonly #values: number[] = []
  #shares: Shares | undefined
  #lastTime = Number.NaN
  #lastValue = Number.NaN

  /** `factor` is what a change a second is multiplied with; `raw` leaves counters as they are. */
  constructor(window: ChartWindow, { sem, factor, raw }: { sem: number; factor: number; raw: boolean }) {
    this.#window = window
    this.#isRate = sem === PM_SEM_COUNTER && !raw
    this.#factor = factor
  }

  /** A value; what lies before the window only begins a rate, what is not later than the one before is left out. */
  add(time: number, value: number): void {
    const [lastTime, lastValue] = [this.#lastTime, this.#lastValue]
    if (time <= lastTime) return
    this.#lastTime = time
    this.#lastValue = value
    if (time < this.#window.start || time > this.#window.finish) return
    if (!this.#isRate) this.#push(time, value)
    else if (!Number.isNaN(lastTime)) {
      const growth = value - lastValue
      this.#push(time, growth < 0 ? Number.NaN : (growth / (time - lastTime)) * this.#factor)
    }
  }

  /** Recording was interrupted. */
  mark(time: number): void {
    if (Number.isNaN(this.#lastTime)) return
    this.#lastTime = Number.NaN
    if (time >= this.#window.start && time <= this.#window.finish) this.#push(time, Number.NaN)
  }

  /** What came. */
  finish(): ChartPoints {
    return this.#shares?.finish() ?? { times: this.#times, values: this.#values }
  }

  #push(time: number, value: number): void {
    if (this.#shares !== undefined) this.#shares.add(time, value)
    else if (this.#times.length < this.#window.points) {
      this.#times.push(time)
      this.#values.push(value)
    } else {
      this.#shares = new Shares(this.#window)
      this.#times.forEach((each, i) => {
        this.#shares!.add(each, this.#values[i]!)
      })
      this.#times.length = 0
      this.#values.length = 0
      this.#shares.add(time, value)
    }
  }
}
