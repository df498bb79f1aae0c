/** Texts of instances in an archive that the browser has, such as mount points. */
import type { Archive } from '../../archive/archive.ts'
import { newestTexts, textsOf } from '../../archive/newest-texts.ts'
import type { OnceRecords } from '../../archive/once-records.ts'
import { ArchiveSource } from '../../archive/source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { Pmid } from '../../model/ids.ts'

/** Returns the newest texts of a string metric near the end of the archive, or else those at its start. */
export function textsNearEnds(archive: Archive, end: Timestamp, id: Pmid): ReadonlyMap<number, string> {
  const source = new ArchiveSource(archive)
  return newestTexts(
    {
      start: archive.start,
      end: () => end,
      setMode: (mode, when) => source.setMode(mode, when),
      fetchRecord: (ids, options) => source.fetchRecord(ids, options),
    },
    id,
  )
}

/** Returns the texts of a string metric that was recorded once, of an archive that is costly to read. */
export function textsRecordedOnce(once: OnceRecords, end: Timestamp, id: Pmid): ReadonlyMap<number, string> {
  for (const { record, ids } of once.before(end, new Set([id])))
    if (ids.has(id)) return textsOf(record.toSet(record.find(id)))
  return new Map()
}
