/**
 * Estimates the sampling interval of a metric from its samples and detects gaps, across which charts draw no line. An archive does
 * not record the interval of a metric, and the interval may change.
 */

/** Intervals without a sample that make a gap. Timers are sometimes late; a single missing sample makes two intervals. */
const PATIENCE = 1.75
/** Number of recent distances whose maximum is the interval: a metric may be in several logging groups. */
const KEPT = 4
/**
 * Two long distances make a new interval if they are similar and at most one short distance is between them: two logging groups may
 * record a metric one right after the other.
 */
const MOST_BETWEEN = 1
const ALIKE = 1.25
/** Distances to look back for the start of a new interval, which the estimator notices late. */
const MOST_LATE = KEPT + MOST_BETWEEN + 1

/** Follows the samples of a metric or an instance. */
export class IntervalEstimator {
  readonly #metric: IntervalEstimator | undefined
  #last = Number.NaN
  #interval = 0
  #patience = Number.POSITIVE_INFINITY
  readonly #known: number[] = []
  /** The last long distance, and the number of distances since. */
  #long = Number.NaN
  #sinceLong = 0

  /** `metric` provides the interval until the instance has enough samples; `expected` is a known interval in seconds. */
  constructor(metric?: IntervalEstimator, expected = 0) {
    this.#metric = metric
    if (expected <= 0) return
    this.#known.push(expected)
    this.#setInterval(expected)
  }

  /** The interval in seconds; 0 until it is known, which takes three samples. */
  get interval(): number {
    return this.#interval === 0 && this.#metric !== undefined ? this.#metric.interval : this.#interval
  }

  /** Longest distance between two samples without a gap, in seconds. */
  get gapAfter(): number {
    return this.#interval === 0 && this.#metric !== undefined ? this.#metric.gapAfter : this.#patience
  }

  /** Takes the time of the next sample; returns true if there is a gap before it. Ignores times that are not later. */
  next(time: number): boolean {
    const distance = time - this.#last
    if (distance <= 0) return false
    this.#last = time
    if (Number.isNaN(distance)) return false
    if (this.gapAfter === Number.POSITIVE_INFINITY) return this.#takeFirst(distance)
    if (distance > this.gapAfter) {
      this.#takeLong(distance)
      return true
    }
    this.#sinceLong++
    this.#take(distance)
    return false
  }

  /** Uses the shorter one of the first two distances as interval; the other one may be a gap. */
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

  /** Marks an interruption: the distance across it is not an interval. */
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

/** The intervals of a metric over time, each in force from the first sample at that distance. */
export class IntervalHistory {
  /** Times after which an interval is in force, ascending; the first one is so from the start. */
  readonly #after: number[] = []
  readonly #intervals: number[] = []
  readonly #recent: number[] = []

  /** Takes the time of a sample, and the interval after it; 0 if unknown. */
  add(time: number, interval: number): void {
    const recent = this.#recent
    recent.push(time)
    if (recent.length > MOST_LATE + 1) recent.shift()
    if (interval === 0) return
    const before = this.#intervals.at(-1)
    if (before !== undefined && Math.max(interval, before) <= ALIKE * Math.min(interval, before)) return
    this.#intervals.push(interval)
    this.#after.push(before === undefined ? Number.NEGATIVE_INFINITY : this.#startOf(interval, before))
  }

  /** Returns the interval in force at a time, 0 if unknown. */
  at(time: number): number {
    let low = 0
    let high = this.#after.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#after[middle]! < time) low = middle + 1
      else high = middle
    }
    return this.#intervals[Math.max(0, low - 1)] ?? 0
  }

  /** Returns the time after which recent distances are nearer to the new interval than to the one before. */
  #startOf(interval: number, before: number): number {
    const recent = this.#recent
    let i = recent.length - 1
    const isNew = (distance: number): boolean => distance ** 2 > interval * before === interval > before
    while (i > 0 && isNew(recent[i]! - recent[i - 1]!)) i--
    return Math.max(recent[i]!, this.#after.at(-1)!)
  }
}

/** Returns how long the next sample may take after these samples, which are at least `least` seconds apart. */
export function gapAfter(times: readonly number[], least: number): number {
  const pace = new IntervalEstimator()
  for (const time of times) pace.next(time)
  const last = times.length < 2 ? 0 : times.at(-1)! - times.at(-2)!
  return PATIENCE * Math.max(least, pace.interval || last)
}
