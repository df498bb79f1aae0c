/**
 * Finds out whether values at a start of recording were recorded again later, by reading where an interval would have recorded them.
 * A place at 12 h shows all usual intervals that divide 12 h. docs/decisions/remote-archives.md
 *
 *     value at 0:00                 4:00           6:00      window at 7:10
 *     │····························│5 s···········│5 s······│
 */
import type { FilePart } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import type { Pmid } from '../model/ids.ts'
import type { MemberData, NearEntry } from './member-data.ts'
import { RecordWindow } from './record-window.ts'

const [MINUTE, HOUR] = [60, 3600]
/** Seconds of the intervals that are checked, longest first. */
const INTERVALS = [
  ...[24, 12, 8, 6, 4, 3, 2, 1].map((hours) => hours * HOUR),
  ...[30, 20, 15, 10, 5, 4].map((minutes) => minutes * MINUTE),
]
/** How early and late recorders are, in seconds. */
const [EARLY_SEC, LATE_SEC] = [5, 5]
/** Bytes by which reading continues where those of a place do not suffice. */
const BUFFER_BYTES = 4 << 10
/** Unit in which files on web servers are read. */
export const BLOCK_BYTES: number = 16 << 10
/** Most bytes of one place: a distance between entries of the index, and as much for a large record. */
const MOST_BYTES = 256 << 10

/** Records of one member that would repeat those of a start; each place is read once. */
export class Recurrence {
  readonly #data: MemberData
  /** Metrics recorded around each second; undefined if they are unknown. */
  readonly #seen = new Map<number, ReadonlySet<Pmid> | undefined>()

  constructor(data: MemberData) {
    this.#data = data
  }

  /** Returns those of the metrics recorded at a start that were not recorded again between it and a time, as far as usual intervals show. */
  unrepeated(ids: readonly Pmid[], start: Timestamp, time: Timestamp): Pmid[] {
    let left = [...ids]
    for (const sec of this.#placesBetween(start.sec, time.sec)) {
      if (left.length === 0) break
      if (!this.#seen.has(sec)) this.#seen.set(sec, this.#read(sec))
      const seen = this.#seen.get(sec)
      left = seen === undefined ? [] : left.filter((id) => !seen.has(id))
    }
    return left
  }

  /** Returns the parts of the volumes that this reads. */
  partsOf(start: Timestamp, time: Timestamp): FilePart[] {
    return this.#placesBetween(start.sec, time.sec).flatMap((sec) => {
      const near = this.#data.nearEntry({ sec, nsec: 0 })
      if (this.#seen.has(sec) || near === undefined) return []
      const { path } = this.#data.member.volumes[near.volume]!
      return [{ path, ...bytesOf(near) }]
    })
  }

  /** Returns times, in seconds, so that each checked interval that fits between `start` and `time` has a record at one: the cheapest to read. */
  #placesBetween(start: number, time: number): number[] {
    const places: number[] = []
    for (const interval of INTERVALS)
      if (interval < time - start && !places.some((place) => (place - start) % interval === 0))
        places.push(this.#cheapest(start, time, interval))
    return places
  }

  /** Returns the multiple of an interval for which the fewest blocks are read. */
  #cheapest(start: number, time: number, interval: number): number {
    let [best, least] = [start + interval, Number.POSITIVE_INFINITY]
    for (let sec = start + interval; sec < time; sec += interval) {
      const near = this.#data.nearEntry({ sec, nsec: 0 })
      const count = this.#seen.has(sec) ? 0 : near === undefined ? least : blocksOf(bytesOf(near))
      if (count >= least) continue
      best = sec
      least = count
    }
    return best
  }

  /** Returns undefined without an index. */
  #read(sec: number): ReadonlySet<Pmid> | undefined {
    const near = this.#data.nearEntry({ sec, nsec: 0 })
    const target = near === undefined ? undefined : this.#data.target(near.volume)
    if (near === undefined || target === undefined) return undefined
    const { offset, length } = bytesOf(near)
    // All in one request, unless that was done in advance.
    target.source.readInto(new Uint8Array(length), offset)
    // Checked records have all their metrics.
    const window = new RecordWindow(true, BUFFER_BYTES)
    window.attach(target)
    return recordedAround(window, near, sec)
  }
}

function blocksOf({ offset, length }: { readonly offset: number; readonly length: number }): number {
  return Math.ceil((offset + length) / BLOCK_BYTES) - Math.floor(offset / BLOCK_BYTES)
}

function bytesOf({ position, direction, distance }: NearEntry): {
  readonly offset: number
  readonly length: number
} {
  const length = Math.min(distance, MOST_BYTES)
  return direction === 'forward'
    ? { offset: position, length }
    : { offset: Math.max(0, position - length), length }
}

/** Returns the metrics of the records around a second; undefined for damage, for too many bytes, and if they may continue in another volume. */
function recordedAround(
  window: RecordWindow,
  { position, direction }: NearEntry,
  sec: number,
): ReadonlySet<Pmid> | undefined {
  const seen = new Set<Pmid>()
  const isForward = direction === 'forward'
  let at = position
  while (Math.abs(at - position) < MOST_BYTES) {
    const outcome = isForward ? window.load(at) : window.loadBefore(at)
    if (outcome === 'end' && !isForward) return seen
    if (outcome !== 'record') return undefined
    const after = window.sec - sec
    if (isForward ? after > LATE_SEC : after < -EARLY_SEC) return seen
    if (after >= -EARLY_SEC && after <= LATE_SEC)
      for (let i = 0; i < window.count; i++) seen.add(window.pmids[i]!)
    at += isForward ? window.length : -window.length
  }
  return undefined
}
