/** The history of one object's labels. docs/formats/archive.md §4.3 */
import type { Timestamp } from '../base/timestamp.ts'
import type { LabelSet } from '../model/labels.ts'
import { decodeLabelSets } from './meta-records.ts'

/** A checked label record in the metadata. */
export interface LabelPlace extends Timestamp {
  readonly view: DataView
  readonly at: number
  readonly length: number
  readonly type: number
}

/** All label records of one object. */
export class LabelHistory {
  readonly #places: LabelPlace[] = []
  /** Newest first; of equal times the one read first is first. */
  #sorted: readonly LabelPlace[] | undefined

  /** Adds a checked record. */
  add(place: LabelPlace): void {
    this.#places.push(place)
    this.#sorted = undefined
  }

  /** Returns the sets of the newest record, or of the newest at or before a time. */
  at(moment: Timestamp | undefined): readonly LabelSet[] {
    const place =
      moment === undefined
        ? this.#newestFirst[0]
        : this.#newestFirst.find(
            ({ sec, nsec }) => sec < moment.sec || (sec === moment.sec && nsec <= moment.nsec),
          )
    return place === undefined ? [] : decodeLabelSets(place.view, place.at, place.length, place.type)
  }

  get #newestFirst(): readonly LabelPlace[] {
    this.#sorted ??= [...this.#places].sort((a, b) => b.sec - a.sec || b.nsec - a.nsec)
    return this.#sorted
  }
}
