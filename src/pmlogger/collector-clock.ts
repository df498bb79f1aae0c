/** Detects steps of a collector's clock by comparing it with a monotonic clock. docs/reference/pmlogger.md */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'

/** Smallest backward step that counts, in seconds. With smaller ones an archive's records stay in order. */
const MOST_BACK = 1
/** Smallest forward step that counts, in seconds. */
const LEAST_FORWARD = 10

/** Times of one collector's results. */
export class CollectorClock {
  #last: Timestamp | undefined
  /** When the last result was requested, in monotonic milliseconds. */
  #askedMs = 0

  /**
   * Takes the timestamp of a result requested at `askedMs` that had arrived by `arrivedMs` (monotonic). Returns the seconds by
   * which the clock was stepped since the previous result, negative for backwards; 0 if the step is below the thresholds.
   */
  step(time: Timestamp, askedMs: number, arrivedMs: number): number {
    const last = this.#last
    const passed = (arrivedMs - this.#askedMs) / 1000
    const forward = last === undefined ? 0 : secondsBetween(last, time)
    if (forward <= -MOST_BACK) return forward
    if (last !== undefined && forward - passed >= LEAST_FORWARD) return forward - passed
    if (forward < 0) return 0
    this.#last = time
    this.#askedMs = askedMs
    return 0
  }
}
