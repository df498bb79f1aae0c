/** Formats times and durations for the user. */

const WORDS: readonly (readonly [number, string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** Formats a duration in its two largest units: `6 h`, `1 h 30 min`, `45 s`. */
export function formatDuration(seconds: number): string {
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

/** Formats a time in a zone, '' for the user's own: `2026-11-22 10:04:36`. */
export function formatTime(seconds: number, zone: string): string {
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

/** Formats a span; its end has no date if that is the same. */
export function formatSpan(from: number, to: number, zone: string): string {
  const [start, end] = [formatTime(from, zone), formatTime(to, zone)]
  return `${start} to ${start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`
}

/** Returns the offset of a zone from UTC at a time, in seconds. */
export function offsetOf(seconds: number, zone: string): number {
  return Date.parse(`${formatTime(seconds, zone).replace(' ', 'T')}Z`) / 1000 - Math.floor(seconds)
}

/** Returns the name of a zone; '' means the user's own. */
export function zoneName(zone: string): string {
  return zone || Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Checks whether a time zone exists. */
export function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
