/** The order of instance domain records in the input. docs/formats/archive.md §4.2 */
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'

/** Times of the records of one domain so far. */
interface DomainOrder {
  latest: Timestamp
  latestDelta: Timestamp | undefined
  isUnordered: boolean
  hasMisplacedDelta: boolean
  /** Times of several records, as `timeKey` returns them. */
  readonly shared: Set<string>
}

/** Which domains have records that are not in ascending order of time. */
export class IndomOrder {
  readonly #domains = new Map<Indom, DomainOrder>()

  /** Adds the next record of the file. */
  add(indom: Indom, at: Timestamp, isDelta: boolean): void {
    const latestDelta = isDelta ? at : undefined
    const known = this.#domains.get(indom)
    if (known === undefined) {
      const state = { isUnordered: false, hasMisplacedDelta: isDelta, shared: new Set<string>() }
      this.#domains.set(indom, { latest: at, latestDelta, ...state })
      return
    }
    const order = compareTimes(at, known.latest)
    const previous = isDelta ? known.latest : known.latestDelta
    if (previous !== undefined && compareTimes(at, previous) <= 0) known.hasMisplacedDelta = true
    if (order < 0) known.isUnordered = true
    if (order === 0) known.shared.add(timeKey(at))
    if (order > 0) known.latest = at
    if (isDelta && (known.latestDelta === undefined || compareTimes(at, known.latestDelta) > 0))
      known.latestDelta = at
  }

  /** Returns whether a record of the domain is earlier than one before it. */
  isUnordered(indom: Indom): boolean {
    return this.#domains.get(indom)?.isUnordered ?? false
  }

  /** Returns whether several records of an ordered domain have this time. */
  isShared(indom: Indom, at: Timestamp): boolean {
    return this.#domains.get(indom)?.shared.has(timeKey(at)) ?? false
  }

  /**
   * Returns whether a delta is the first record of the domain or not later than all records before it, or a full record is not later than
   * a delta before it: PCP 6.0.3 crashes on equal times, or applies the delta to other instances.
   */
  hasMisplacedDelta(indom: Indom): boolean {
    return this.#domains.get(indom)?.hasMisplacedDelta ?? false
  }
}

function timeKey({ sec, nsec }: Timestamp): string {
  return `${sec} ${nsec}`
}
