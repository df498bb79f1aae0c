/** Times that a person types, read as PCP's tools read those of their options. */
import { fromMillis, toSeconds } from '../../base/timestamp.ts'
import { parseTimeWindow } from '../../time/window.ts'
import type { Zone } from '../../time/zone.ts'
import { type Bounds, type Frame, time } from './control.ts'
import { offsetOf } from './words.ts'

/** The browser's idea of a zone, '' for the reader's own, as the library's. */
function zoneOf(name: string): Zone {
  return {
    name,
    at: (sec) => ({
      offset: offsetOf(sec, name),
      isDst: false,
      abbreviation: name,
      from: sec,
      until: sec + 1,
    }),
  }
}

/**
 * The two ends of what is to be shown, written as PCP's tools take them with -S and -T: `-10min` (before the end), `@10:00`,
 * `2026-11-22 10:00`, `now`. Throws an Error with a message that points at what is wrong.
 */
export function readWindow(from: string, to: string, bounds: Bounds, zone: string): Frame {
  const now = time.now()
  const { start, finish } = parseTimeWindow(
    { start: asArgument(from), finish: asArgument(to) },
    {
      start: fromMillis(1000 * (bounds.start ?? now - 366 * 86_400)),
      end: fromMillis(1000 * (bounds.end ?? now)),
      now,
      zone: zoneOf(zone),
    },
  )
  const frame = { from: toSeconds(start), to: toSeconds(finish) }
  if (!(frame.to > frame.from)) throw new Error('The end is not after the start')
  return frame
}

/** `now` and nothing are the end; a date without `@` is one all the same. */
function asArgument(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === 'now') return undefined
  return /^\d{4}-\d\d-\d\d/.test(trimmed) || /^\d\d?:\d\d/.test(trimmed)
    ? `@${trimmed.replace('T', ' ')}`
    : trimmed
}
