/** The last written state of each instance domain, from which changes are computed. docs/formats/archive.md */
import type { Timestamp } from '../../base/timestamp.ts'
import type { Indom } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { type ArchiveVersion, nextStoredTime } from '../stamp.ts'
import type { InstanceColumns } from './metadata.ts'

/** All instances of a domain, ascending. */
export interface Snapshot {
  readonly ids: readonly number[]
  readonly names: readonly string[]
}

/** A record of an instance domain to write. */
export interface IndomChange {
  readonly at: Timestamp
  readonly isDelta: boolean
  readonly instances: InstanceColumns
  /** The domain after the change. */
  readonly all: Snapshot
  /** Whether other instances were written for this time, or a later one. */
  readonly sharesTime: boolean
}

/**
 * Last written state of all instance domains of one archive.
 *
 * Readers sort the records of a domain by time and apply a delta to the one before, so a delta must be later than its predecessor. PCP 6.0.3
 * crashes on any two records with one time if one of them is a delta. After a delta, further instances of the same time are therefore
 * written for the next nanosecond; of full records with the same time, the last one applies.
 */
export class WrittenIndoms {
  readonly #version: ArchiveVersion
  readonly #last = new Map<Indom, IndomChange>()

  constructor(version: ArchiveVersion) {
    this.#version = version
  }

  /** Returns whether a domain has been written. */
  has(indom: Indom): boolean {
    return this.#last.has(indom)
  }

  /** Returns whether an instance is in the last written state. */
  hasInstance(indom: Indom, inst: number): boolean {
    const ids = this.#last.get(indom)?.all.ids
    return ids !== undefined && find(ids, inst) >= 0
  }

  /**
   * Returns the change to the present instances of a domain, given in any order; undefined if it is unchanged or empty, which no record can
   * represent. Of several instances with one id the first counts. `always`: also if unchanged.
   */
  change(
    at: Timestamp,
    indom: Indom,
    ids: readonly number[],
    names: readonly string[],
    always: boolean,
  ): IndomChange | undefined {
    const all = sorted(ids, names)
    const size = all.ids.length
    if (size === 0) return undefined
    const full = { at, isDelta: false, instances: all, all, sharesTime: false }
    const last = this.#last.get(indom)
    if (last === undefined) return full
    const delta = deltaBetween(last.all, all)
    const isSame = delta?.ids.length === 0
    if (isSame && !always) return undefined
    if (compareTimes(at, last.at) <= 0) {
      if (isSame && last.isDelta) return undefined
      const next = last.isDelta ? nextStoredTime(last.at, 3) : last.at
      return { ...full, at: next, sharesTime: last.sharesTime || !isSame }
    }
    const isShorter = delta !== undefined && !isSame && delta.ids.length <= size
    // Where a time had several states, the next time may have several too.
    if (this.#version === 2 || last.sharesTime || !isShorter) return full
    return { ...full, isDelta: true, instances: delta }
  }

  /** Returns a full record with its own time whatever was written before; undefined if empty. */
  full(at: Timestamp, ids: readonly number[], names: readonly string[]): IndomChange | undefined {
    const all = sorted(ids, names)
    return all.ids.length === 0 ? undefined : { at, isDelta: false, instances: all, all, sharesTime: true }
  }

  /** Records that a change has been written. */
  commit(indom: Indom, change: IndomChange): void {
    this.#last.set(indom, change)
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
