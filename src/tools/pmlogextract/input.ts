/** An input of an extraction: its records in the window, and whether the next input continues it. pmlogextract(1) */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import { SparseReader } from '../../archive/transfer/sparse-reader.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { type Pmid, pmid } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'

/** Metrics in pmlogger's first and last record that identify the collector. */
const PMCD_PID = pmid(2, 0, 23)
const PMCD_SEQNUM = pmid(2, 0, 24)
const LOGUE_METRICS = 5

/** Damage in an input. */
export interface Damage {
  readonly error: PcpError
  readonly offset: number
  readonly size: number
}

/** An input read forwards. */
export class Input {
  readonly name: string
  readonly archive: Archive
  /** The next record to write; undefined at the end. */
  record: RecordView | undefined
  /** Bytes of records read so far. */
  bytesRead = 0
  readonly #reader: RecordReader
  /** Used instead of the reader if few metrics are wanted. */
  #sparse: SparseReader | undefined
  readonly #onDamage: (damage: Damage) => void
  /** Volume, and offset after the last record. */
  #volume = -1
  #position = 0
  #hasLost = false
  #last: Timestamp | undefined
  #prologue: string | undefined
  #epilogue: string | undefined

  /** `onDamage` is called if an input ends too early. */
  constructor(name: string, archive: Archive, onDamage: (damage: Damage) => void) {
    this.name = name
    this.archive = archive
    this.#onDamage = onDamage
    this.#reader = new RecordReader(archive, { checkValues: false, reportsTears: true })
  }

  /** Total bytes of its volumes. */
  get bytes(): number {
    let bytes = 0
    for (const { volumes } of this.archive.members)
      for (const volume of volumes) bytes += volume.tryOpen()?.source.size ?? 0
    return bytes
  }

  /** Time of the last record read. */
  get last(): Timestamp | undefined {
    return this.#last
  }

  /** Moves to the first record at or after a time. For few `wanted` metrics it reads only parts of large records. */
  begin(start: Timestamp, wanted: ReadonlySet<Pmid> | undefined): void {
    this.#reader.rewind()
    this.advance()
    this.#prologue = this.#epilogue
    this.#last = undefined
    if (wanted !== undefined && SparseReader.suits(this.archive)) {
      this.#sparse = new SparseReader(this.archive, wanted)
      this.#goTo(this.record)
    }
    if (compareTimes(start, this.archive.start) > 0) this.seek(start)
  }

  /** Switches readers: reads the current record again with the sparse reader. */
  #goTo(record: RecordView | undefined): void {
    if (this.#sparse === undefined || record === undefined) return
    this.#sparse.startAt(record)
    this.record = undefined
    this.advance()
  }

  /** Moves to the first record at or after a time. */
  seek(start: Timestamp): void {
    this.#reader.seek(start, 'forward')
    this.record = this.#step(() => this.#reader.next())
    if (this.#sparse === undefined) this.#arrived()
    else this.#goTo(this.record)
    // Times in an archive may go backwards; skips records before the window.
    while (this.record !== undefined && compareTimes(this.record.timestamp(), start) < 0) this.advance()
  }

  /** Advances to the next record. */
  advance(): void {
    const sparse = this.#sparse
    if (this.record !== undefined) this.#last = this.record.timestamp()
    this.record = this.#step(() => (sparse === undefined ? this.#reader.next() : sparse.next()))
    // Records skipped on the way to the end count as read.
    if (this.record === undefined && sparse !== undefined) this.#last = sparse.lastTime ?? this.#last
    this.#arrived()
  }

  #arrived(): void {
    if (this.record === undefined) return
    this.bytesRead += this.record.length
    this.#epilogue = collectorOf(this.record)
  }

  /** Returns whether `next` continues this input without a gap, with the same collector. */
  isContinuedBy(next: Input): boolean {
    return this.#epilogue !== undefined && this.#epilogue === next.#prologue
  }

  #step(next: () => RecordView | undefined): RecordView | undefined {
    for (;;) {
      try {
        const record = next()
        if (record !== undefined && record.member >= 0) {
          this.#volume = record.volume
          this.#position = this.#sparse?.end ?? record.position + record.length
        }
        return record
      } catch (error) {
        const problem = PcpError.from(error)
        if (problem.code === 'PM_ERR_LOGOVERLAP') continue // the next member continues
        if (problem.code !== 'PM_ERR_LOGREC') throw error
        const offset = this.#sparse?.end ?? this.#position
        this.#hasLost ||= !this.#isTorn(offset)
        this.#onDamage({ error: problem, offset, size: this.#sizeOfVolume() })
        return undefined
      }
    }
  }

  /** Whether records or volumes were unreadable, other than an incomplete last record. */
  get hasLost(): boolean {
    const volumes = this.archive.members.flatMap((member) => member.volumes)
    return this.#hasLost || volumes.some(({ problem }) => problem !== undefined)
  }

  /** Returns whether damage is an incomplete record at the end of the last volume, as after a crash of the recorder. */
  #isTorn(offset: number): boolean {
    const data = this.archive.data.at(-1)!
    const last = data.member.volumes.length - 1
    const target = data.target(last)
    return target !== undefined && target.volume === this.#volume && data.isTorn(last, target, offset)
  }

  #sizeOfVolume(): number {
    const { volumes } = this.archive.members[this.archive.members.length - 1]!
    const volume = volumes.find(({ number }) => number === this.#volume) ?? volumes[0]!
    return volume.tryOpen()?.source.size ?? 0
  }
}

/** Returns the collector in a first or last record; undefined for other records. */
function collectorOf(record: RecordView): string | undefined {
  if (record.count !== LOGUE_METRICS) return undefined
  const values: string[] = []
  for (const id of [PMCD_PID, PMCD_SEQNUM]) {
    const s = record.find(id)
    if (s < 0 || record.statuses[s] !== 1) return undefined
    const word = record.view.getInt32(record.pairs[s]! + 4)
    if (record.formats[s] === 0) values.push(String(word))
    else {
      const { bytes } = record.toSet(s)
      values.push(bytes.join())
    }
  }
  return values.join(' ')
}
