/** Moments as people write and read them. */

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

/** Seconds that the clocks of a zone are ahead of UTC at a moment. */
export function offsetOf(seconds: number, zone: string): number {
  return Date.parse(`${momentText(seconds, zone).replace(' ', 'T')}Z`) / 1000 - Math.floor(seconds)
}

/** The name of a zone, of the reader's own for ''. */
export function zoneName(zone: string): string {
  return zone || Intl.DateTimeFormat().resolvedOptions().timeZone
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
