/**
 * How often a metric is sampled, learned from its samples, and where samples are missing: no line crosses such a stretch. An archive does
 * not record the interval of a metric, and it may change.
 */

/** So many intervals without a sample are a gap. Timers are late at times; where one sample is missing there are two. */
const PATIENCE = 1.75
/** Distances whose longest is the interval: a metric may be in several groups of its logger. */
const KEPT = 4
/**
 * Two long distances are a new interval if they are alike and at most one short one is between them: two groups of a logger may record a
 * metric one right after the other.
 */
const MOST_BETWEEN = 1
const ALIKE = 1.25

/** Follows the samples of a metric, or of an instance of it. */
export class Pace {
  readonly #metric: Pace | undefined
  #last = Number.NaN
  #interval = 0
  #patience = Number.POSITIVE_INFINITY
  readonly #known: number[] = []
  /** The last long distance, and how many have followed it. */
  #long = Number.NaN
  #sinceLong = 0

  /** `metric` knows the interval before the instance has samples enough; `expected` is one that is known beforehand, in seconds. */
  constructor(metric?: Pace, expected = 0) {
    this.#metric = metric
    if (expected <= 0) return
    this.#known.push(expected)
    this.#setInterval(expected)
  }

  /** The interval in seconds; 0 before it is known, which takes three samples. */
  get interval(): number {
    return this.#interval === 0 && this.#metric !== undefined ? this.#metric.interval : this.#interval
  }

  /** The longest distance between two samples that is no gap, in seconds. */
  get patience(): number {
    return this.#interval === 0 && this.#metric !== undefined ? this.#metric.patience : this.#patience
  }

  /** Takes the next sample; returns true if there is a gap before it. Leaves out a time that is not later. */
  next(time: number): boolean {
    const distance = time - this.#last
    if (distance <= 0) return false
    this.#last = time
    if (Number.isNaN(distance)) return false
    if (this.patience === Number.POSITIVE_INFINITY) return this.#takeFirst(distance)
    if (distance > this.patience) {
      this.#takeLong(distance)
      return true
    }
    this.#sinceLong++
    this.#take(distance)
    return false
  }

  /** The shorter one of the first two distances is the interval, and the other one may be a gap. */
  #takeFirst(distance: number): boolean {
    const first = this.#known[0]
    if (first === undefined) {
      this.#known.push(distance)
      return false
    }
    if (first > PATIENCE * distance) this.#known[0] = distance
    else if (distance <= PATIENCE * first) this.#known.push(distance)
    this.#setInterval(Math.max(...this.#known))
    if (distance <= this.#patience) return false
    this.#takeLong(distance)
    return true
  }

  /** Recording was interrupted: the distance across a mark is no interval. */
  interrupt(time: number): void {
    if (time >= this.#last) this.#last = Number.NaN
  }

  #take(distance: number): void {
    const known = this.#known
    known.push(distance)
    const gone = known.length > KEPT ? known.shift()! : 0
    if (distance > this.#interval || gone >= this.#interval || this.#interval === 0)
      this.#setInterval(Math.max(...known))
  }

  #takeLong(distance: number): void {
    const before = this.#sinceLong > MOST_BETWEEN ? Number.NaN : this.#long
    this.#long = distance
    this.#sinceLong = 0
    if (!(Math.max(before, distance) <= ALIKE * Math.min(before, distance))) return
    this.#known.splice(0, KEPT, before, distance)
    this.#long = Number.NaN
    this.#setInterval(Math.max(before, distance))
  }

  #setInterval(seconds: number): void {
    this.#interval = seconds
    this.#patience = PATIENCE * seconds
  }
}

/** Returns how long the next sample may take after the last of some, which are at least `least` seconds apart. */
export function patienceAfter(times: readonly number[], least: number): number {
  const pace = new Pace()
  for (const time of times) pace.next(time)
  const last = times.length < 2 ? 0 : times.at(-1)! - times.at(-2)!
  return PATIENCE * Math.max(least, pace.interval || last)
}
