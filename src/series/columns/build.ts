/** Makes the columns file of an archive. docs/formats/rollups.md */
import { Archive } from '../../archive/archive.ts'
import { RecordReader } from '../../archive/reader.ts'
import { PcpError } from '../../model/errors.ts'
import { archiveFiles } from '../../sys/archive-files.ts'
import { EventLoopTurn } from '../../sys/event-loop.ts'
import { replaceFileBy } from '../../sys/replace-file.ts'
import { NUMERIC } from './encode.ts'
import { contentStamp } from './places.ts'
import { ColumnsWriter } from './write.ts'

/** Options of `buildColumns`. */
export interface BuildOptions {
  readonly signal?: AbortSignal | undefined
  /** Bytes of samples in memory; default 32 MB. */
  readonly chunkBytes?: number
}

/** Facts about a columns file that was made. */
export interface BuiltColumns {
  readonly values: number
  /** Mean seconds between records. */
  readonly interval: number
}

/**
 * Writes the columns file of an archive whose files have this content. PM_ERR_GENERIC for times that go backward, EINTR if aborted, errors of
 * reading and of the file system; no file is then left, and an older one is intact.
 */
export async function buildColumns(
  base: string,
  content: string,
  path: string,
  { signal, chunkBytes }: BuildOptions = {},
): Promise<BuiltColumns> {
  const archive = Archive.open(base, archiveFiles())
  try {
    return await replaceFileBy(path, async (append) => {
      const writer = new ColumnsWriter(append, chunkBytes)
      const built = await copy(archive, writer, signal)
      writer.finish(contentStamp(content))
      return built
    })
  } finally {
    archive.close()
  }
}

async function copy(
  archive: Archive,
  writer: ColumnsWriter,
  signal: AbortSignal | undefined,
): Promise<BuiltColumns> {
  const { descs } = archive.metadata
  const reader = new RecordReader(archive, { checkValues: false })
  const turn = new EventLoopTurn()
  let [sec, nsec, values, records] = [-1, 0, 0, 0]
  let begun: number | undefined
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    if (record.sec < sec || (record.sec === sec && record.nsec < nsec))
      throw new PcpError(
        'PM_ERR_GENERIC',
        `${archive.members[0]!.base}: times go backward at second ${record.sec}`,
      )
    sec = record.sec
    nsec = record.nsec
    begun ??= sec
    records++
    writer.record(sec, nsec, record.count === 0)
    if (record.count > 0) record.index()
    for (let s = 0; s < record.count; s++) {
      const type = descs.get(record.pmids[s]!)?.type
      if (type === undefined || record.statuses[s]! <= 0 || !NUMERIC.has(type)) continue
      writer.add(record.pmids[s]!, type, record.toSet(s))
      values += record.statuses[s]!
    }
    if (turn.shouldYield()) {
      await turn.yield()
      if (signal?.aborted === true) throw new PcpError('EINTR', 'interrupted')
    }
  }
  return { values, interval: records < 2 ? 0 : (sec - begun!) / (records - 1) }
}
