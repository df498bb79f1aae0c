/** A scan of a long window in parts, so that other work gets its turn. */
import { type Timestamp, toSeconds } from '../base/timestamp.ts'
import type { Pmid } from '../model/ids.ts'
import { fromSeconds } from '../time/stamp.ts'
import type { ScanOptions, ScanResult, ScanSink } from './scan.ts'

/** An archive that is scanned. */
export interface ScannedArchive {
  readonly start: Timestamp
  end(): Timestamp
  /** Scans recorded metrics, see `scan`. */
  scan(ids: readonly Pmid[], options: ScanOptions): ScanResult
  /** See `Archive.prefetch`; called before each part for the rest of the window. */
  prefetch?(from: Timestamp, to: Timestamp): Promise<void>
}

/** A window in seconds since the epoch, inclusive. */
export interface ScanWindow {
  readonly from: number
  readonly to: number
}

/**
 * Size of a scanned part between two turns: seconds at first, doubled until a part has so many records. At most some days, because
 * records may be dense again after a pause.
 */
const PART_SEC = 3600
const PART_RECORDS = 2000
const MOST_PART_SEC = 3 * 24 * 3600

/** Converts to a time within the archive. Its bounds are returned exactly, because a double does not hold nanoseconds. */
export function timeInArchive(archive: Pick<ScannedArchive, 'start' | 'end'>, seconds: number): Timestamp {
  if (seconds <= toSeconds(archive.start)) return archive.start
  const end = archive.end()
  return seconds >= toSeconds(end) ? end : fromSeconds(seconds)
}

/** Scans a window, and awaits `turn` between its parts. Sinks may get a value at the end of a part twice. PM_ERR_* as `scan`. */
export async function scanParts(
  archive: ScannedArchive,
  ids: readonly Pmid[],
  { from: start, to: finish }: ScanWindow,
  into: ScanSink,
  turn: () => Promise<void>,
): Promise<void> {
  const end = Math.min(finish, toSeconds(archive.end()))
  let from = Math.max(toSeconds(archive.start), start)
  let seconds = PART_SEC
  while (ids.length > 0 && from <= end) {
    const to = Math.min(end, from + seconds)
    await archive.prefetch?.(timeInArchive(archive, from), timeInArchive(archive, end))
    const { records } = archive.scan(ids, {
      from: timeInArchive(archive, from),
      to: timeInArchive(archive, to),
      into,
    })
    if (to >= end) break
    from = to
    if (records < PART_RECORDS) seconds = Math.min(MOST_PART_SEC, 2 * seconds)
    await turn()
  }
}
