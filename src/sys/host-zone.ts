/** Time zone of this host, as archives and collectors report it. tzset(3) */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Variables } from './config.ts'

/** Returns `TZ` if it is in POSIX form, else a rule from the UTC offset at a time in milliseconds: `<+01>-1`. */
export function hostTimezone(env: Variables, ms: number): string {
  const tz = env['TZ']
  if (tz !== undefined && tz !== '' && !tz.startsWith(':') && !tz.includes('/')) return tz
  const minutes = new Date(ms).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const sign = minutes < 0 ? '-' : '+'
  const hours = Math.floor(Math.abs(minutes) / 60)
  const rest = Math.abs(minutes) % 60
  const offset = `${sign === '-' ? '-' : ''}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
  // A POSIX zone needs a name; a numeric one in angle brackets is always correct.
  const east = sign === '-' ? '+' : '-'
  return `<${east}${String(hours).padStart(2, '0')}${rest === 0 ? '' : String(rest).padStart(2, '0')}>${offset}`
}

/** Returns a colon and the name of a zoneinfo file, from `TZ`, /etc/timezone below `root`, or the runtime. */
export function hostZoneName(env: Variables, root = '/'): string {
  const tz = env['TZ']
  if (tz?.startsWith(':')) return tz
  if (tz?.includes('/')) return `:${tz}`
  try {
    return `:${readFileSync(join(root, 'etc/timezone'), 'utf8').trim()}`
  } catch {
    return `:${new Intl.DateTimeFormat().resolvedOptions().timeZone}` // slow, but called once per session
  }
}
