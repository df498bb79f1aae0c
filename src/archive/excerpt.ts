/** A part of an archive as a new one, in memory. pmlogextract(1) */
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import type { Pmid } from '../model/ids.ts'
import { compareTimes } from '../time/arithmetic.ts'
import type { Archive } from './archive.ts'
import { RecordReader } from './reader.ts'
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
}

/**
 * Copies the records of a window with their metadata: files by part (`index`, `meta`, `0`), format version 3 unless the archive has 2.
 * PM_ERR_NODATA if no record is left, PM_ERR_TOOBIG for more than `maxBytes`, PM_ERR_LOGREC for a damaged record, and any error of `turn`.
 */
export async function excerpt(
  archive: Archive,
  { from, to, wants = () => true, pid, maxBytes, turn = async () => {}, partBytes = 1 << 20 }: ExcerptOptions,
): Promise<ReadonlyMap<string, Uint8Array>> {
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
  const metadata = new MetadataCopy(archive, new WrittenMetadata())
  const reader = new RecordReader(archive, { checkValues: false })
  await archive.prefetch(from, to)
  reader.seek(from, 'forward')
  let [size, read] = [0, 0]
  let mark: Timestamp | undefined
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    const time = record.timestamp()
    if (compareTimes(time, to) > 0) break
    if (compareTimes(time, from) < 0) continue
    // Those left out count too: a window of other metrics is as much work.
    read += record.length
    if (read >= partBytes) {
      read = 0
      await turn()
      await archive.prefetch(time, to)
    }
    if (record.count === 0) {
      if (size > 0) mark = time // written before the next values only
      continue
    }
    const bytes = copy.copy(record)
    if (bytes === undefined) continue
    size += bytes.length
    if (size > maxBytes)
      throw new PcpError(
        'PM_ERR_TOOBIG',
        `More than ${maxBytes} bytes of records: choose a shorter window or fewer metrics`,
      )
    if (mark !== undefined) writer.mark(mark)
    mark = undefined
    metadata.before(record, copy, writer)
    writer.record(time, bytes)
  }
  writer.close()
  if (size === 0) throw new PcpError('PM_ERR_NODATA', 'Nothing was recorded in this window')
  return output.contents()
}
