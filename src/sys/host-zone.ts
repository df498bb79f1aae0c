/** The zone of this host, as archives and collectors tell it. tzset(3) */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Variables } from './config.ts'

/** `TZ` when it is in POSIX form, else one made from the offset at a moment (in milliseconds): `<+01>-1`. */
export function hostZoneRule(env: Variables, ms: number): string {
  const tz = env['TZ']
  if (tz !== undefined && tz !== '' && !tz.startsWith(':') && !tz.includes('/')) return tz
  const minutes = new Date(ms).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const sign = minutes < 0 ? '-' : '+'
  const hours = Math.floor(Math.abs(minutes) / 60)
  const rest = Math.abs(minutes) % 60
  const offset = `${sign === '-' ? '-' : ''}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
  // A POSIX zone needs a name; the numeric one in angle brackets is right everywhere.
  const east = sign === '-' ? '+' : '-'
  return `<${east}${String(hours).padStart(2, '0')}${rest === 0 ? '' : String(rest).padStart(2, '0')}>${offset}`
}

/** The name of a zoneinfo file after a colon: from `TZ`, else from /etc/timezone below `root`, else what the runtime says. */
export function hostZoneName(env: Variables, root = '/'): string {
  const tz = env['TZ']
  if (tz?.startsWith(':')) return tz
  if (tz?.includes('/')) return `:${tz}`
  try {
    return `:${readFileSync(join(root, 'etc/timezone'), 'utf8').trim()}`
  } catch {
    return `:${new Intl.DateTimeFormat().resolvedOptions().timeZone}` // asked once in a session: its cost is no matter
  }
}
