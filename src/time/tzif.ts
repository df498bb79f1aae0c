/** Zone files, as in /usr/share/zoneinfo. RFC 8536, tzfile(5) */
import { decodeText } from '../base/text.ts'
import type { ClockSetting, OffsetPeriod } from './offset.ts'
import { posixOffsets } from './posix-zone.ts'

const HEADER = 44
/** Number of items of each kind in one block. */
interface Counts {
  readonly isUtc: number
  readonly isStd: number
  readonly leaps: number
  readonly times: number
  readonly types: number
  readonly chars: number
}

/**
 * Parses a zone file; undefined for anything else. Version 1 files end in 2037; later versions have a rule for the time after
 * their last change.
 */
export function tzifOffsets(bytes: Uint8Array): ((sec: number) => OffsetPeriod) | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const first = readCounts(view, 0)
  if (first === undefined) return undefined
  const version = view.getUint8(4)
  if (version === 0) return readBlock(view, HEADER, first, 4, undefined)
  const second = HEADER + blockSize(first, 4)
  const counts = readCounts(view, second)
  if (counts === undefined) return undefined
  const footer = second + HEADER + blockSize(counts, 8)
  return readBlock(view, second + HEADER, counts, 8, footerRule(bytes, footer))
}

function readCounts(view: DataView, at: number): Counts | undefined {
  if (at + HEADER > view.byteLength || view.getUint32(at) !== 0x545a6966) return undefined
  const count = (index: number): number => view.getUint32(at + 20 + 4 * index)
  return {
    isUtc: count(0),
    isStd: count(1),
    leaps: count(2),
    times: count(3),
    types: count(4),
    chars: count(5),
  }
}

function blockSize(counts: Counts, timeSize: number): number {
  const { times, types, chars, leaps, isStd, isUtc } = counts
  return times * (timeSize + 1) + types * 6 + chars + leaps * (timeSize + 4) + isStd + isUtc
}

/** Parses the rule between newlines at the end of the file. */
function footerRule(bytes: Uint8Array, at: number): ((sec: number) => OffsetPeriod) | undefined {
  if (bytes[at] !== 10) return undefined
  const end = bytes.indexOf(10, at + 1)
  if (end === -1) return undefined
  return posixOffsets(decodeText(bytes, at + 1, end))
}

function readBlock(
  view: DataView,
  at: number,
  counts: Counts,
  timeSize: 4 | 8,
  after: ((sec: number) => OffsetPeriod) | undefined,
): ((sec: number) => OffsetPeriod) | undefined {
  if (counts.types === 0 || at + blockSize(counts, timeSize) > view.byteLength) return undefined
  const times = new Float64Array(counts.times)
  for (let i = 0; i < times.length; i++)
    times[i] = timeSize === 4 ? view.getInt32(at + 4 * i) : int64(view, at + 8 * i)
  const indexAt = at + timeSize * counts.times
  const typesAt = indexAt + counts.times
  const charsAt = typesAt + 6 * counts.types
  const typeOf = (index: number): ClockSetting => {
    const place = typesAt + 6 * Math.min(index, counts.types - 1)
    let abbreviation = ''
    for (let i = view.getUint8(place + 5); i < counts.chars; i++) {
      const code = view.getUint8(charsAt + i)
      if (code === 0) break
      abbreviation += String.fromCharCode(code)
    }
    return { offset: view.getInt32(place), isDst: view.getUint8(place + 4) !== 0, abbreviation }
  }
  return (sec) => {
    const now = lastNotAfter(times, sec)
    if (times.length === 0 && after !== undefined) return after(sec)
    if (now === -1) return { ...typeOf(0), from: -Infinity, until: times[0] ?? Infinity }
    if (now === times.length - 1 && after !== undefined) {
      const rule = after(sec)
      return { ...rule, from: Math.max(rule.from, times[now]!) }
    }
    return { ...typeOf(view.getUint8(indexAt + now)), from: times[now]!, until: times[now + 1] ?? Infinity }
  }
}

/** Reads a 64-bit integer as a double: seconds are far below 2^53. */
function int64(view: DataView, at: number): number {
  return view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4)
}

/** Returns the index of the last time not after `sec`, or -1. */
function lastNotAfter(times: Float64Array, sec: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! <= sec) low = middle + 1
    else high = middle
  }
  return low - 1
}
