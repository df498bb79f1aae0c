/** The order of instance domain records in the input. docs/formats/archive.md §4.2 */
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'

interface PreviousRecord {
  readonly at: Timestamp
  readonly isDelta: boolean
}

/** Domains whose records are not in ascending order of time. */
export class IndomOrder {
  readonly #previous = new Map<Indom, PreviousRecord>()
  readonly #unordered = new Set<Indom>()
  readonly #misplaced = new Set<Indom>()

  /** Adds the next record of the file. */
  add(indom: Indom, at: Timestamp, isDelta: boolean): void {
    const previous = this.#previous.get(indom)
    this.#previous.set(indom, { at, isDelta })
    const isLater = previous === undefined || compareTimes(at, previous.at) > 0
    if (!isLater) this.#unordered.add(indom)
    if (isDelta ? previous === undefined || !isLater : !isLater && previous!.isDelta)
      this.#misplaced.add(indom)
  }

  /** Returns whether a record of the domain is not later than the one before. */
  isUnordered(indom: Indom): boolean {
    return this.#unordered.has(indom)
  }

  /** Returns whether a delta has no predecessor, or one with the same or a later time: PCP 6.0.3 crashes on such records. */
  hasMisplacedDelta(indom: Indom): boolean {
    return this.#misplaced.has(indom)
  }
}
