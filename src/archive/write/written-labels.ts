/** The last written labels of each object. docs/formats/archive.md */
import type { Timestamp } from '../../base/timestamp.ts'
import type { LabelSet } from '../../model/labels.ts'
import { type ArchiveVersion, storedAfter } from '../stamp.ts'

/** Labels to write. */
export interface LabelChange {
  readonly at: Timestamp
  /** Compares labels. */
  readonly value: string
}

/** Last written labels of all objects of one archive. */
export class WrittenLabels {
  readonly #version: ArchiveVersion
  readonly #last = new Map<string, LabelChange>()

  constructor(version: ArchiveVersion) {
    this.#version = version
  }

  /**
   * Returns the change to the present labels of an object; undefined if they are unchanged. Of records with the same time readers apply the
   * first one, so each is later than the one before.
   */
  change(at: Timestamp, key: string, sets: readonly LabelSet[]): LabelChange | undefined {
    const value = sets.map(({ inst, json, labels }) => `${inst} ${labels[0]?.flags} ${json}`).join('\n')
    const last = this.#last.get(key)
    if (last?.value === value) return undefined
    return { at: storedAfter(last?.at, at, this.#version), value }
  }

  /** Records that a change has been written. */
  commit(key: string, change: LabelChange): void {
    this.#last.set(key, change)
  }
}
