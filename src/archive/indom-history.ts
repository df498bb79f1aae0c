/** The history of one instance domain. docs/formats/archive.md §4.2 */
import { decodeText } from '../base/text.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { DELETED, type IndomLayout } from './meta-records.ts'

/** State of an instance domain from a time on. */
export interface IndomSnapshot {
  readonly sec: number
  readonly nsec: number
  /** Ascending. */
  readonly ids: Int32Array
  /** Returns the name of the `i`th instance. */
  name(i: number): string
}

/** An instance domain record in the metadata. */
interface IndomRecord extends IndomLayout {
  readonly sec: number
  readonly nsec: number
  readonly view: DataView
  readonly isDelta: boolean
}

/** Instances with the positions of their names: metadata file and offset. */
interface Resolved {
  readonly ids: Int32Array
  readonly views: readonly DataView[] | DataView
  readonly names: Int32Array
}

/** Most cached instances of snapshots computed from deltas; beyond that the cache is cleared. */
const MAX_KEPT = 4_000_000

/** All records of one domain. */
export class IndomHistory {
  #records: IndomRecord[] = []
  #snapshots: IndomSnapshot[] | undefined
  readonly #resolved = new Map<number, Resolved>()
  #kept = 0

  /** Adds a checked record; a delta without a predecessor applies to an empty domain. */
  add(view: DataView, layout: IndomLayout, { sec, nsec }: Timestamp, isDelta: boolean): void {
    this.#records.push({ ...layout, sec, nsec, view, isDelta })
    this.#snapshots = undefined
  }

  /** Snapshots, oldest first; of equal times the one read later is last and applies. */
  get snapshots(): readonly IndomSnapshot[] {
    if (this.#snapshots !== undefined) return this.#snapshots
    this.#records.sort((a, b) => a.sec - b.sec || a.nsec - b.nsec)
    this.#records = this.#records.filter((record, i, all) => i === 0 || !isRepeated(all[i - 1]!, record))
    this.#resolved.clear()
    const times = timesOf(this.#records)
    this.#snapshots = times.map((time, i) => new Snapshot(time, () => this.#resolve(i)))
    return this.#snapshots
  }

  /** Returns the newest snapshot at or before a time. */
  at({ sec, nsec }: Timestamp): IndomSnapshot | undefined {
    const list = this.snapshots
    let low = 0
    let high = list.length
    while (low < high) {
      const mid = (low + high) >> 1
      const one = list[mid]!
      if (one.sec < sec || (one.sec === sec && one.nsec <= nsec)) low = mid + 1
      else high = mid
    }
    return list[low - 1]
  }

  #resolve(i: number): Resolved {
    const known = this.#resolved.get(i)
    if (known !== undefined) return known
    let from = i
    while (from > 0 && this.#records[from]!.isDelta && !this.#resolved.has(from - 1)) from--
    let resolved = this.#resolved.get(from - 1)
    for (let k = from; k <= i; k++) {
      const record = this.#records[k]!
      resolved = record.isDelta && resolved !== undefined ? applied(resolved, record) : whole(record)
      this.#keep(k, resolved)
    }
    return resolved!
  }

  #keep(i: number, resolved: Resolved): void {
    if (this.#kept + resolved.ids.length > MAX_KEPT) {
      this.#resolved.clear()
      this.#kept = 0
    }
    this.#resolved.set(i, resolved)
    this.#kept += resolved.ids.length
  }
}

class Snapshot implements IndomSnapshot {
  readonly sec: number
  readonly nsec: number
  readonly #resolve: () => Resolved

  constructor({ sec, nsec }: Timestamp, resolve: () => Resolved) {
    this.sec = sec
    this.nsec = nsec
    this.#resolve = resolve
  }

  get ids(): Int32Array {
    return this.#resolve().ids
  }

  name(i: number): string {
    const { views, names } = this.#resolve()
    return cString(views instanceof DataView ? views : views[i]!, names[i]!)
  }
}

/** Reads text up to a NUL. Records end in a length below 2^24, whose first byte is 0, or with the file. */
export function cString(view: DataView, at: number): string {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  const end = bytes.indexOf(0, at)
  return decodeText(bytes, at, end === -1 ? bytes.length : end)
}

/**
 * Returns the times from which records apply. Full records 1 ns after a delta have the delta's time: `ArchiveWriter` writes further states of
 * one time like this, as PCP cannot read a record with the time of a delta.
 */
function timesOf(records: readonly IndomRecord[]): readonly Timestamp[] {
  let delta: IndomRecord | undefined
  return records.map((record) => {
    if (record.isDelta) delta = record
    const isMoved = !record.isDelta && delta !== undefined && record.nsec === (delta.nsec + 1) % 1e9
    return isMoved && record.sec === delta!.sec + (record.nsec === 0 ? 1 : 0) ? delta! : record
  })
}

/** Returns the instances of a full record, ascending. */
function whole({ view, count, ids, offsets, names }: IndomRecord): Resolved {
  const idColumn = new Int32Array(count)
  const nameColumn = new Int32Array(count)
  let used = 0
  let isSorted = true
  for (let i = 0; i < count; i++) {
    const offset = view.getInt32(offsets + 4 * i)
    if (offset === DELETED) continue
    idColumn[used] = view.getInt32(ids + 4 * i)
    nameColumn[used] = names + offset
    if (used > 0 && idColumn[used]! < idColumn[used - 1]!) isSorted = false
    used++
  }
  const resolved = { ids: idColumn.subarray(0, used), views: view, names: nameColumn.subarray(0, used) }
  return isSorted ? resolved : sorted(resolved)
}

function sorted({ ids, views, names }: Resolved): Resolved {
  const order = Array.from(ids.keys()).sort((a, b) => ids[a]! - ids[b]!)
  return {
    ids: Int32Array.from(order, (i) => ids[i]!),
    views,
    names: Int32Array.from(order, (i) => names[i]!),
  }
}

/**
 * Merges a snapshot with its changes, by ascending id. An instance that already exists keeps its name; deleting a missing
 * instance has no effect.
 */
function applied(before: Resolved, delta: IndomRecord): Resolved {
  const gone = new Set<number>()
  for (let i = 0; i < delta.count; i++) {
    if (delta.view.getInt32(delta.offsets + 4 * i) === DELETED)
      gone.add(delta.view.getInt32(delta.ids + 4 * i))
  }
  const added = whole(delta)
  const size = before.ids.length + added.ids.length
  const ids = new Int32Array(size)
  const names = new Int32Array(size)
  const sources: DataView[] | undefined = before.views === added.views ? undefined : new Array(size)
  let used = 0
  const put = (from: Resolved, i: number): void => {
    if (sources !== undefined) sources[used] = from.views instanceof DataView ? from.views : from.views[i]!
    ids[used] = from.ids[i]!
    names[used++] = from.names[i]!
  }
  let [b, a] = [0, 0]
  while (b < before.ids.length || a < added.ids.length) {
    const old = b < before.ids.length ? before.ids[b]! : Number.POSITIVE_INFINITY
    const young = a < added.ids.length ? added.ids[a]! : Number.POSITIVE_INFINITY
    if (old <= young) {
      if (!gone.has(old)) {
        put(before, b)
        if (old === young) a++
      }
      b++
    } else put(added, a++)
  }
  const views = sources ?? before.views
  return { ids: ids.subarray(0, used), views, names: names.subarray(0, used) }
}

/** Returns whether a full record repeats the one before, with the same time. */
function isRepeated(before: IndomRecord, record: IndomRecord): boolean {
  if (before.sec !== record.sec || before.nsec !== record.nsec || before.count !== record.count) return false
  if (before.isDelta || record.isDelta) return false
  const [a, b] = [whole(before), whole(record)]
  return a.ids.every(
    (id, i) => id === b.ids[i] && cString(before.view, a.names[i]!) === cString(record.view, b.names[i]!),
  )
}
