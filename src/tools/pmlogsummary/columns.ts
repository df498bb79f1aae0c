/** What is kept of each instance of a metric, as columns by slot. */

/** Time of an instance that had no value yet. */
export const NEVER: number = Number.POSITIVE_INFINITY

/**
 * The columns. A value set that holds every instance moves all of them to the same time, which is then kept once: of most
 * values nothing but `last` is touched.
 */
export class Columns {
  /** Slots in use. */
  length = 0
  /** The last value. */
  last: Float64Array
  /** A counter's value where the increments not yet in `area` start. */
  base: Float64Array
  /** Sum of increments up to `base`, or of values times how long they lasted. */
  area: Float64Array
  /** When the time covered starts; moved on by what is left out. */
  first: Float64Array
  /** When the last value was; see `together`. */
  time: Float64Array
  /** When the last value of every instance was, in place of `time`; NEVER when they differ. */
  together: number = NEVER

  constructor(room: number) {
    this.last = new Float64Array(room)
    this.base = new Float64Array(room)
    this.area = new Float64Array(room)
    this.first = new Float64Array(room)
    this.time = new Float64Array(room)
  }

  /** Makes slots up to `length`, without values. */
  extendTo(length: number): void {
    if (length > this.last.length) {
      const room = Math.max(length, 2 * this.last.length)
      this.last = grown(this.last, room)
      this.base = grown(this.base, room)
      this.area = grown(this.area, room)
      this.first = grown(this.first, room)
      this.time = grown(this.time, room)
    }
    this.time.fill(NEVER, this.length, length)
    this.length = length
  }

  /** Instances have times of their own from now on; the first `done` of them `now`. */
  separate(done = 0, now = 0): void {
    if (this.together !== NEVER) this.time.fill(this.together, 0, this.length)
    this.time.fill(now, 0, done)
    this.together = NEVER
  }

  /** When the last value of an instance was. */
  timeOf(slot: number): number {
    return this.together === NEVER ? this.time[slot]! : this.together
  }
}

function grown(column: Float64Array, room: number): Float64Array {
  const more = new Float64Array(room)
  more.set(column)
  return more
}
