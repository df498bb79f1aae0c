/** Timestamps in archives. docs/formats/archive.md §2 */
import type { Timestamp } from '../base/timestamp.ts'
import { addTimes, compareTimes } from '../time/arithmetic.ts'

/** Versions of the format that are read and written. */
export type ArchiveVersion = 2 | 3

/** Returns the bytes of a timestamp: seconds and microseconds, or 64-bit seconds, low word first, and nanoseconds. */
export function stampSize(version: ArchiveVersion): 8 | 12 {
  return version === 2 ? 8 : 12
}

/** Returns the bytes of a mark: no other record is as short. */
export function markSize(version: ArchiveVersion): number {
  return 12 + stampSize(version)
}

/** Returns a time as an archive stores it: in version 2 truncated to microseconds. */
export function storedTime(at: Timestamp, version: ArchiveVersion): Timestamp {
  return version === 2 ? { sec: at.sec, nsec: Math.floor(at.nsec / 1000) * 1000 } : at
}

/** Returns the first time after a stored one. */
export function nextStoredTime(at: Timestamp, version: ArchiveVersion): Timestamp {
  return addTimes(at, { sec: 0, nsec: version === 2 ? 1000 : 1 })
}

/** Returns a time as an archive stores it; if that is not later than `last`, the first time after that. */
export function storedAfter(last: Timestamp | undefined, at: Timestamp, version: ArchiveVersion): Timestamp {
  const stored = storedTime(at, version)
  const isLater = last === undefined || compareTimes(stored, last) > 0
  return isLater ? stored : nextStoredTime(last, version)
}

/** Reads the seconds of a timestamp. The caller checks bounds. */
export function stampSec(view: DataView, at: number, version: ArchiveVersion): number {
  return version === 2 ? view.getInt32(at) : view.getInt32(at + 4) * 0x1_0000_0000 + view.getUint32(at)
}

/** Reads the nanoseconds of a timestamp, unchecked: damaged files have numbers outside 0 to 999,999,999. */
export function stampNsec(view: DataView, at: number, version: ArchiveVersion): number {
  return version === 2 ? view.getInt32(at + 4) * 1000 : view.getInt32(at + 8)
}

/** Reads a timestamp. The caller checks bounds. */
export function readStamp(view: DataView, at: number, version: ArchiveVersion): Timestamp {
  return { sec: stampSec(view, at, version), nsec: stampNsec(view, at, version) }
}

/** Writes a timestamp, truncated to microseconds in version 2; returns the offset after it. */
export function writeStamp(
  view: DataView,
  at: number,
  { sec, nsec }: Timestamp,
  version: ArchiveVersion,
): number {
  if (version === 2) {
    view.setInt32(at, sec)
    view.setInt32(at + 4, Math.floor(nsec / 1000))
    return at + 8
  }
  view.setUint32(at, sec)
  view.setInt32(at + 4, Math.floor(sec / 0x1_0000_0000))
  view.setInt32(at + 8, nsec)
  return at + 12
}
