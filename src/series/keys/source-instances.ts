/** Instances of a source by number, as they are called at a time, with their identifiers. */
import type { IndomSnapshot } from '../../archive/indom-history.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import { instanceId } from '../ids.ts'
import { instanceLabels, type SeriesMetadata } from '../labels.ts'
import { encodedArguments } from './command-buffer.ts'
import { type KeyId, keyId } from './schema.ts'

/** An instance. */
export interface Instance {
  readonly id: KeyId
  readonly name: string
  readonly inst: number
  /** Identifier as an argument of a command. */
  readonly field: Uint8Array
  /** Its own labels. */
  readonly labels: readonly LabelSet[]
}

interface Domain {
  snapshot: IndomSnapshot | undefined
  readonly labels: ReadonlyMap<number, LabelSet>
  /** As they were called last. */
  readonly known: Map<number, Instance>
}

/** The most instances of a domain that are remembered. */
const MOST_KNOWN = 100_000

/** Finds instances. */
export class SourceInstances {
  readonly #metadata: SeriesMetadata
  readonly #domains = new Map<Indom, Domain>()

  constructor(metadata: SeriesMetadata) {
    this.#metadata = metadata
  }

  /** Chooses the time of the following `find` in a domain; returns the state of the domain then. */
  at(indom: Indom, time: Timestamp): IndomSnapshot | undefined {
    let domain = this.#domains.get(indom)
    if (domain === undefined) {
      domain = { snapshot: undefined, labels: instanceLabels(this.#metadata, indom), known: new Map() }
      this.#domains.set(indom, domain)
    }
    domain.snapshot = this.#metadata.snapshotAt(indom, time)
    return domain.snapshot
  }

  /** Returns an instance; undefined if it has no name at the time. `metricLabels` are those of a metric of the domain. */
  find(indom: Indom, inst: number, metricLabels: readonly LabelSet[]): Instance | undefined {
    const { snapshot, known, labels } = this.#domains.get(indom)!
    const i = snapshot === undefined ? -1 : indexOf(snapshot.ids, inst)
    if (i < 0) return undefined
    const name = snapshot!.name(i)
    const before = known.get(inst)
    if (before?.name === name) return before
    const own = labels.get(inst)
    const sets = own === undefined ? [] : [own]
    const id = keyId(instanceId(name, [...metricLabels, ...sets]))
    const instance = { id, name, inst, field: encodedArguments(id.bytes), labels: sets }
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(inst, instance)
    return instance
  }
}

/** Returns the position of a number in ascending ones; -1 without it. */
function indexOf(ids: Int32Array, inst: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! < inst) low = middle + 1
    else high = middle
  }
  return ids[low] === inst ? low : -1
}
