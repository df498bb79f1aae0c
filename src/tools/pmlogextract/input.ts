/** One input of an extraction: its records in the window, and whether another input continues it. pmlogextract(1) */
import type { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import type { RecordView } from '../../archive/record-view.ts'
import { SparseReader } from '../../archive/transfer/sparse-reader.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { type Pmid, pmid } from '../../model/ids.ts'
import { compareTimes } from '../../time/arithmetic.ts'

/** Metrics of the records that pmlogger begins and ends an archive with; of these two, the collector. */
const PMCD_PID = pmid(2, 0, 23)
const PMCD_SEQNUM = pmid(2, 0, 24)
const LOGUE_METRICS = 5

/** Where an input is damaged. */
export interface Damage {
  readonly error: PcpError
  readonly offset: number
  readonly size: number
}

/** An input being read forwards. */
export class Input {
  readonly name: string
  readonly archive: Archive
  /** The record to be written next; undefined at the end. */
  record: RecordView | undefined
  /** Bytes of the records read. */
  bytesRead = 0
  readonly #reader: RecordReader
  /** Takes over where few metrics are wanted. */
  #sparse: SparseReader | undefined
  readonly #onDamage: (damage: Damage) => void
  /** Volume, and where the record behind the last one starts. */
  #volume = -1
  #position = 0
  #hasLost = false
  #last: Timestamp | undefined
  #prologue: string | undefined
  #epilogue: string | undefined

  /** `onDamage` hears why an input ends too early. */
  constructor(name: string, archive: Archive, onDamage: (damage: Damage) => void) {
    this.name = name
    this.archive = archive
    this.#onDamage = onDamage
    this.#reader = new RecordReader(archive, { checkValues: false, reportsTears: true })
  }

  /** Bytes of its volumes. */
  get bytes(): number {
    let bytes = 0
    for (const { volumes } of this.archive.members)
      for (const volume of volumes) bytes += volume.tryOpen()?.source.size ?? 0
    return bytes
  }

  /** Time of the last record that was read. */
  get last(): Timestamp | undefined {
    return this.#last
  }

  /** Goes to the first record at or after a time. Of large records only these metrics need be there. */
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

  /** Reads a record again, by what reads the next ones. */
  #goTo(record: RecordView | undefined): void {
    if (this.#sparse === undefined || record === undefined) return
    this.#sparse.startAt(record)
    this.record = undefined
    this.advance()
  }

  /** Goes on at the first record at or after a time. */
  seek(start: Timestamp): void {
    this.#reader.seek(start, 'forward')
    this.record = this.#step(() => this.#reader.next())
    if (this.#sparse === undefined) this.#arrived()
    else this.#goTo(this.record)
    // Times may go backwards in an archive; what is before the window is not wanted.
    while (this.record !== undefined && compareTimes(this.record.timestamp(), start) < 0) this.advance()
  }

  /** Steps to the next record. */
  advance(): void {
    const sparse = this.#sparse
    if (this.record !== undefined) this.#last = this.record.timestamp()
    this.record = this.#step(() => (sparse === undefined ? this.#reader.next() : sparse.next()))
    // What was left out on the way to the end counts as read.
    if (this.record === undefined && sparse !== undefined) this.#last = sparse.lastTime ?? this.#last
    this.#arrived()
  }

  #arrived(): void {
    if (this.record === undefined) return
    this.bytesRead += this.record.length
    this.#epilogue = collectorOf(this.record)
  }

  /** Does `next` begin where this input ended, by the same collector, so that nothing is missing in between? */
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
        if (problem.code === 'PM_ERR_LOGOVERLAP') continue // the next member goes on
        if (problem.code !== 'PM_ERR_LOGREC') throw error
        const offset = this.#sparse?.end ?? this.#position
        this.#hasLost ||= !this.#isTorn(offset)
        this.#onDamage({ error: problem, offset, size: this.#sizeOfVolume() })
        return undefined
      }
    }
  }

  /** Returns whether records or volumes could not be read, other than one that was torn at the end and never complete. */
  get hasLost(): boolean {
    const volumes = this.archive.members.flatMap((member) => member.volumes)
    return this.#hasLost || volumes.some(({ problem }) => problem !== undefined)
  }

  /** Is this damage what a crash of the recorder leaves at the end of the last volume? */
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

/** Which collector a prologue or epilogue names; undefined for any other record. */
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
