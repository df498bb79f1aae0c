/**
 * Records of values that are recorded only once, found by reading a few places of an archive. docs/decisions/remote-archives.md
 *
 *     start            jump in time
 *     │once·····       ···mark│once·····             window
 *     └ START_BYTES    └──────┴ START_BYTES          └────┘
 */
import { bytesSource } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE } from '../model/types.ts'
import { compareTimes } from '../time/arithmetic.ts'
import type { Archive } from './archive.ts'
import type { MemberData } from './member-data.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'
import { RecordWindow } from './record-window.ts'
import { Recurrence } from './recurrence.ts'

/** Bytes that are read from a start of recording on: a recorder begins with the values that it records once. */
export const START_BYTES: number = 32 << 10
/** Bytes that are read together. */
const BUFFER_BYTES = 16 << 10
/** Most bytes for records that are larger. */
const MOST_BYTES = 256 << 10
/** Most jumps in time before a window at which a mark is searched: the newest. */
const MOST_JUMPS = 3
/** Records of a start that are compared with each other. */
const MOST_RECORDS = 64
/** Records of a start with a metric that is recorded once: a recorder repeats it after a failure. */
const MOST_TIMES = 2

/** A record, and those of its metrics that are not recorded regularly; a mark has none. */
export interface OnceRecord {
  readonly record: RecordView
  readonly ids: ReadonlySet<Pmid>
}

/** Finds such records; each place is read once. */
export class OnceRecords {
  readonly #archive: Archive
  readonly #known = new Map<string, readonly OnceRecord[]>()
  readonly #recurrences = new Map<MemberData, Recurrence>()

  constructor(archive: Archive) {
    this.#archive = archive
  }

  /**
   * Returns the records before a time that have some of these metrics, and the marks, newest first, until the last interruption of
   * recording that shows in the temporal index. A metric that is recorded at long intervals is left out, as its last value would have to
   * be searched.
   */
  *before(time: Timestamp, wanted: ReadonlySet<Pmid>): Generator<OnceRecord> {
    const own = this.#memberAt(time)
    if (own === undefined) return
    for (const found of this.#found(own, time)) yield* this.#unrepeated(found, own, time, wanted)
  }

  /** Reads in advance where `before` looks for a repetition; what it reads of interruptions is few bytes. */
  async prefetch(time: Timestamp, wanted: ReadonlySet<Pmid>): Promise<void> {
    const own = this.#memberAt(time)
    if (own === undefined || wanted.size === 0) return
    const has = ({ ids }: OnceRecord): boolean => [...ids].some((id) => wanted.has(id))
    const first = [...this.#found(own, time)].find((found) => found.some(has))?.find(has)
    if (first === undefined) return
    await this.#archive.prefetchParts(this.#recurrenceOf(own).partsOf(first.record.timestamp(), time))
  }

  /** Returns the records of each start of recording before a time, newest first, until one has some. */
  *#found(own: MemberData, time: Timestamp): Generator<readonly OnceRecord[]> {
    for (const jump of own.jumpsBefore(time, MOST_JUMPS)) {
      const found = isBefore(this.#at(jump, true), time)
      yield found
      if (found.length > 0) return
    }
    yield isBefore(this.#at(own.member.label.start, false), time)
  }

  #memberAt(time: Timestamp): MemberData | undefined {
    return this.#archive.data.findLast(({ member }) => compareTimes(member.label.start, time) <= 0)
  }

  *#unrepeated(
    found: readonly OnceRecord[],
    own: MemberData,
    time: Timestamp,
    wanted: ReadonlySet<Pmid>,
  ): Generator<OnceRecord> {
    for (const { record, ids } of found) {
      const asked = [...ids].filter((id) => wanted.has(id))
      const left = this.#recurrenceOf(own).unrepeated(asked, record.timestamp(), time)
      if (record.count === 0 || left.length > 0) yield { record, ids: new Set(left) }
    }
  }

  #recurrenceOf(data: MemberData): Recurrence {
    const known = this.#recurrences.get(data) ?? new Recurrence(data)
    this.#recurrences.set(data, known)
    return known
  }

  /** Returns the records of a start of recording, newest first. `isJump`: it is after a mark; none without one. */
  #at(from: Timestamp, isJump: boolean): readonly OnceRecord[] {
    const key = `${from.sec}.${from.nsec}`
    let found = this.#known.get(key)
    if (found === undefined) {
      const semOf = (id: Pmid): number | undefined => this.#archive.metadata.descs.get(id)?.sem
      found = this.#read(from, isJump)
        .reverse()
        .flatMap((records) => onceRecordsOf(records, semOf))
      this.#known.set(key, found)
    }
    return found
  }

  /** Returns the records from each mark to the next. Damage ends the reading: readers of the window report it if it matters. */
  #read(from: Timestamp, isJump: boolean): RecordView[][] {
    const reader = new RecordReader(this.#archive, { bufferBytes: BUFFER_BYTES })
    let found: RecordView[] = []
    const all: RecordView[][] = [found]
    let bytes = 0
    let isStarted = !isJump
    try {
      // A search would read more to check the index.
      if (isJump || this.#archive.data.length > 1) reader.seek(from, 'forward')
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        bytes += record.length
        const isEnough = isStarted && bytes > START_BYTES - BUFFER_BYTES && found.length > 1
        if (isEnough || bytes > MOST_BYTES || found.length === MOST_RECORDS) break
        // Recording starts again after each mark.
        if (record.count === 0) {
          if (!isStarted) bytes = 0
          isStarted = true
          found = []
          all.push(found)
        }
        if (isStarted) found.push(copyOf(record))
      }
    } catch (error) {
      if (!(error instanceof PcpError) || error.code !== 'PM_ERR_LOGREC') throw error
    }
    return all
  }
}

function isBefore(records: readonly OnceRecord[], time: Timestamp): readonly OnceRecord[] {
  return records.filter(({ record }) => compareTimes(record.timestamp(), time) <= 0)
}

/** Copies a record that its reader would overwrite. PM_ERR_LOGREC for a damaged one. */
export function copyOf(record: RecordView): RecordWindow {
  const { bytes, offset, length, version, volume, member, position } = record
  const copy = new RecordWindow(true, 0)
  const source = bytesSource(bytes.slice(offset, offset + length))
  copy.attach({ source, path: '', version, volume, member, start: 0 })
  copy.load(0)
  copy.position = position
  return copy
}

/**
 * Returns whether a record describes the host, as values do that a recorder records once. A whole subtree may have a few counters, as
 * `hinv` has those of frequency scaling.
 */
export function describesHost(ids: readonly Pmid[], semOf: (id: Pmid) => number | undefined): boolean {
  return 2 * ids.filter((id) => semOf(id) === PM_SEM_DISCRETE).length >= ids.length
}

/** Selects the metrics that are recorded once, and returns their records and the marks, newest first. */
function onceRecordsOf(
  records: readonly RecordView[],
  semOf: (id: Pmid) => number | undefined,
): readonly OnceRecord[] {
  const idsOf = new Map(records.map((record) => [record, record.pmids.slice(0, record.count)]))
  const timesOf = (id: Pmid): number => records.filter((record) => record.find(id) >= 0).length
  const found = records.map((record): OnceRecord => {
    const ids = idsOf.get(record)!
    const discrete = [...ids].filter((id) => semOf(id) === PM_SEM_DISCRETE)
    const others = [...ids].filter((id) => semOf(id) !== PM_SEM_DISCRETE)
    const isOnce = describesHost([...ids], semOf)
    const recursWithout = (id: Pmid): boolean =>
      records.some(
        (other) =>
          other !== record && others.some((companion) => other.find(companion) >= 0) && other.find(id) < 0,
      )
    const once = discrete.filter((id) => (isOnce || recursWithout(id)) && timesOf(id) <= MOST_TIMES)
    return { record, ids: new Set(once) }
  })
  return found.filter(({ record, ids }) => record.count === 0 || ids.size > 0).reverse()
}
