/** The last written state of each instance domain, from which changes are computed. docs/formats/archive.md */
import type { Indom } from '../../model/ids.ts'
import type { ArchiveVersion } from '../stamp.ts'
import type { InstanceColumns } from './metadata.ts'

/** A change of an instance domain to write. */
export interface IndomChange {
  readonly isDelta: boolean
  readonly instances: InstanceColumns
  /** The domain after the change. */
  readonly all: Snapshot
}

/** All instances of a domain, ascending. */
export interface Snapshot {
  readonly ids: readonly number[]
  readonly names: readonly string[]
}

/** Last written state of all instance domains of one archive. */
export class WrittenIndoms {
  readonly #last = new Map<Indom, Snapshot>()

  /** Returns whether a domain has been written. */
  has(indom: Indom): boolean {
    return this.#last.has(indom)
  }

  /** Returns whether an instance is in the last written state. */
  hasInstance(indom: Indom, inst: number): boolean {
    const ids = this.#last.get(indom)?.ids
    return ids !== undefined && find(ids, inst) >= 0
  }

  /**
   * Returns the change to the present instances of a domain, given in any order; undefined if it is unchanged or empty, which no record can
   * represent. Of several instances with one id the first counts. `always`: also if unchanged.
   */
  change(
    version: ArchiveVersion,
    indom: Indom,
    ids: readonly number[],
    names: readonly string[],
    always: boolean,
  ): IndomChange | undefined {
    const next = sorted(ids, names)
    const size = next.ids.length
    if (size === 0) return undefined
    const last = this.#last.get(indom)
    const delta = last === undefined ? undefined : deltaBetween(last, next)
    const isSame = delta?.ids.length === 0
    if (isSame && !always) return undefined
    if (version === 3 && delta !== undefined && !isSame && delta.ids.length <= size)
      return { isDelta: true, instances: delta, all: next }
    return { isDelta: false, instances: next, all: next }
  }

  /** Records that a change has been written. */
  commit(indom: Indom, { all }: IndomChange): void {
    this.#last.set(indom, all)
  }
}

/** Returns deleted and added instances, ascending; undefined if an instance was renamed. */
function deltaBetween(last: Snapshot, next: Snapshot): InstanceColumns | undefined {
  const ids: number[] = []
  const names: (string | undefined)[] = []
  let l = 0
  let n = 0
  while (l < last.ids.length || n < next.ids.length) {
    const gone = last.ids[l] ?? Number.POSITIVE_INFINITY
    const come = next.ids[n] ?? Number.POSITIVE_INFINITY
    if (gone === come) {
      if (last.names[l++] !== next.names[n++]) return undefined
    } else if (gone < come) {
      ids.push(gone)
      names.push(undefined)
      l++
    } else {
      ids.push(come)
      names.push(next.names[n++])
    }
  }
  return { ids, names }
}

function sorted(ids: readonly number[], names: readonly string[]): Snapshot {
  if (ids.every((id, i) => i === 0 || ids[i - 1]! < id)) return { ids, names }
  const order = ids.map((_, i) => i).sort((a, b) => ids[a]! - ids[b]! || a - b)
  const distinct = order.filter((i, k) => k === 0 || ids[order[k - 1]!] !== ids[i])
  return { ids: distinct.map((i) => ids[i]!), names: distinct.map((i) => names[i]!) }
}

/** Returns the index of a number in an ascending list, -1 if missing. */
function find(ids: readonly number[], id: number): number {
  let low = 0
  let high = ids.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = ids[middle]!
    if (found === id) return middle
    if (found < id) low = middle + 1
    else high = middle - 1
  }
  return -1
}
