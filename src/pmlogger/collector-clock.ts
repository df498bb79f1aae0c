/** Notices when the clock of a collector is set, by a clock that never is. docs/pmlogger.md */
import { secondsBetween, type Timestamp } from '../base/timestamp.ts'

/** Records keep their order within an archive as long as the clock goes back by less than this, in seconds. */
const MOST_BACK = 1
/** The least by which a clock is set forward to count as set, in seconds. */
const LEAST_FORWARD = 10

/** Times of one collector's results. */
export class CollectorClock {
  #last: Timestamp | undefined
  /** When the last result was asked for, in milliseconds that are never set. */
  #askedMs = 0

  /**
   * Takes the time of a result that was asked for at `askedMs` and had arrived at `arrivedMs`. Returns the seconds by which the clock
   * was set since the result before, negative for back; 0 when it was not, or so little that it does not matter.
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
