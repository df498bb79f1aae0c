/** A part of an archive as a new one, in memory. pmlogextract(1) */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { compareTimes } from '../time/arithmetic.ts'
import type { Archive } from './archive.ts'
import { carriedRecords } from './excerpt-carry.ts'
import type { OnceRecords } from './once-records.ts'
import { RecordReader } from './reader.ts'
import type { RecordView } from './record-view.ts'
import { type ArchiveVersion, writeStamp } from './stamp.ts'
import { MetadataCopy, WrittenMetadata } from './transfer/metadata-copy.ts'
import { RecordCopy } from './transfer/record-copy.ts'
import { memoryOutput } from './write/memory-output.ts'
import { ArchiveWriter } from './write/writer.ts'

/** What an excerpt has. */
export interface ExcerptOptions {
  /** Bounds of the records, inclusive. */
  readonly from: Timestamp
  readonly to: Timestamp
  /** Default: all metrics of the archive. */
  readonly wants?: (id: Pmid) => boolean
  /** Id of the writing process, for the label. */
  readonly pid: number
  /** Most bytes of the records. */
  readonly maxBytes: number
  /** Awaited after each `partBytes` of copied records, by default a MiB; may throw to stop. Default: does nothing. */
  readonly turn?: () => Promise<void>
  readonly partBytes?: number
  /** Finds the values that were recorded once, of an archive that is too costly to read back. Default: reads back. */
  readonly once?: OnceRecords
}

/**
 * Copies the records of a window, and the values that hold at its start, even if nothing else was recorded, with their metadata: files by part
 * (`index`, `meta`, `0`), format version 3 unless the archive has 2.
 * PM_ERR_NODATA if no record is left, PM_ERR_TOOBIG for more than `maxBytes`, PM_ERR_LOGREC for a damaged record, and any error of `turn`.
 */
export async function excerpt(
  archive: Archive,
  options: ExcerptOptions,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const {
    from,
    to,
    wants = () => true,
    pid,
    maxBytes,
    turn = async () => {},
    partBytes = 1 << 20,
    once,
  } = options
  const { hostname, timezone, zoneinfo } = archive.label
  const version = archive.members.every(({ label }) => label.version === 2) ? 2 : 3
  const output = memoryOutput('excerpt')
  const writer = ArchiveWriter.create(output, {
    version,
    hostname,
    timezone,
    zoneinfo,
    pid,
    indexesMarks: true,
  })
  const { descs } = archive.metadata
  // An archive may be opened without some metrics, which are in its records nevertheless.
  const copy = new RecordCopy(version, (id) => (descs.has(id) && wants(id) ? 'all' : 'nothing'))
  const metadata = new MetadataCopy(archive, new WrittenMetadata(), from)
  let [count, size, read] = [0, 0, 0]
  let mark: Timestamp | undefined
  const isPartRead = (bytes: number): boolean => {
    read += bytes
    if (read < partBytes) return false
    read = 0
    return true
  }
  const write = (record: RecordView, at: Timestamp, bytes: Uint8Array, copied: RecordCopy): void => {
    count++
    size += bytes.length
    if (size > maxBytes)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `More than ${maxBytes} bytes of records: choose a shorter window or fewer metrics`,
      )
    if (mark !== undefined) writer.mark(mark)
    mark = undefined
    metadata.before(record, copied, writer)
    writer.record(at, bytes)
  }
  await archive.prefetch(from, to)
  const carried = await carriedRecords(archive, {
    ...{ from, wants, once },
    onRead: (bytes) => (isPartRead(bytes) ? turn() : undefined),
  })
  metadata.older(carried)
  const carry = (at: Timestamp): void => {
    for (const { record, ids } of carried) {
      const own = new RecordCopy(version, (id) => (ids.has(id) ? 'all' : 'nothing'))
      write(record, at, stamped(own.copy(record)!, at, version), own)
    }
  }
  let isInterrupted = false
  /** The last record before an interruption, of any metric. */
  let last: Timestamp | undefined
  const reader = new RecordReader(archive, { checkValues: false })
  reader.seek(from, 'forward')
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const time = record.timestamp()
    if (compareTimes(time, to) > 0) break
    if (compareTimes(time, from) < 0) continue
    // Those left out count too: a window of other metrics is as much work.
    if (isPartRead(record.length)) {
      await turn()
      await archive.prefetch(time, to)
    }
    if (record.count === 0) {
      if (size > 0) mark = time // written before the next values only
      isInterrupted = true
      continue
    }
    if (!isInterrupted) {
      if (last === undefined) carry(from)
      last = time
    }
    const bytes = copy.copy(record)
    if (bytes !== undefined) write(record, time, bytes, copy)
  }
  // Without other values, the excerpt would end where it starts.
  const isAlone = carried.length > 0 && count === carried.length
  if (isAlone && last !== undefined && compareTimes(last, from) > 0) {
    mark = undefined
    carry(last)
  }
  writer.close()
  if (size === 0) throw new PcpError('PM_ERR_NODATA', 'Nothing was recorded in this window')
  return output.contents()
}

/** Returns a copy of an encoded record with another time. */
function stamped(bytes: Uint8Array, time: Timestamp, version: ArchiveVersion): Uint8Array {
  const copy = bytes.slice()
  writeStamp(new DataView(copy.buffer), 4, time, version)
  return copy
}
