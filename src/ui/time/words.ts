/** Moments as people write and read them. */
import { fromMillis, toSeconds } from '../../base/timestamp.ts'
import { parseTimeWindow } from '../../time/window.ts'
import type { Zone } from '../../time/zone.ts'
import type { Bounds, Frame } from './control.ts'

const WORDS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** A span of time in its largest units: `6 h`, `1 h 30 min`, `45 s`. */
export function spanText(seconds: number): string {
  const parts: string[] = []
  let rest = Math.round(seconds)
  for (const [size, word] of WORDS) {
    const count = Math.floor(rest / size)
    if (count === 0 || parts.length === 2) continue
    parts.push(`${count} ${word}`)
    rest -= count * size
  }
  return parts.join(' ') || `${seconds.toPrecision(2)} s`
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** A moment in a zone, '' for the reader's own: `2026-11-22 10:04:36`. */
export function momentText(seconds: number, zone: string): string {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', {
      dateStyle: 'short',
      timeStyle: 'medium',
      ...(zone === '' ? {} : { timeZone: zone }),
    })
    formats.set(zone, format)
  }
  return format.format(seconds * 1000)
}

/** Is there a zone of this name? */
export function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The browser's idea of a zone, '' for the reader's own, as the library's. */
function zoneOf(name: string): Zone {
  return {
    name,
    at: (sec) => {
      const shown = Date.parse(`${momentText(sec, name).replace(' ', 'T')}Z`) / 1000
      return { offset: shown - Math.floor(sec), isDst: false, abbreviation: name, from: sec, until: sec + 1 }
    },
  }
}

/**
 * The two ends of what is to be shown, written as PCP's tools take them with -S and -T: `-10min` (before the end), `@10:00`,
 * `2026-11-22 10:00`, `now`. Throws an Error with a message that points at what is wrong.
 */
export function readWindow(from: string, to: string, bounds: Bounds, zone: string): Frame {
  const now = Date.now() / 1000
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
