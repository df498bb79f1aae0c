/** Archive names with time conversions such as `%Y%m%d.%H.%M`. strftime(3), pmlogger(1) */
import { PcpError } from '../model/errors.ts'
import { processZone } from '../sys/zones.ts'
import { strftime } from '../time/strftime.ts'
import { makeZone } from '../time/zone.ts'

/** Highest numeric suffix of archives that share a name. */
const MAX_SUFFIX = 98

/** Returns whether an archive name has time conversions, so that a later archive gets a new name. */
export function hasTime(name: string): boolean {
  return name.includes('%')
}

/**
 * Expands an archive name for a time in milliseconds, in the time zone of the process. A name with time conversions gets a suffix
 * (-00, -01...) if `exists` reports the name as taken; throws EEXIST after -98. Other names are returned unchanged, unless the
 * archive continues another one of that name (`continues`).
 */
export function archiveName(
  name: string,
  ms: number,
  exists: (base: string) => boolean,
  continues = false,
): string {
  if (!hasTime(name) && !continues) return name
  const zone = processZone()
  const base = hasTime(name) ? strftime(name, Math.floor(ms / 1000), makeZone(zone.name, zone.bytes)) : name
  if (!exists(base)) return base
  for (let i = 0; i <= MAX_SUFFIX; i++) {
    const numbered = `${base}-${String(i).padStart(2, '0')}`
    if (!exists(numbered)) return numbered
  }
  throw new PcpError('EEXIST', `${base}: there are ${MAX_SUFFIX + 2} archives of this name already`)
}
