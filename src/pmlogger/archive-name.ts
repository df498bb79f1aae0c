/** Names of archives that hold the time: `%Y%m%d.%H.%M`. strftime(3), pmlogger(1) */
import { PcpError } from '../model/errors.ts'
import { processZone } from '../sys/zones.ts'
import { strftime } from '../time/strftime.ts'
import { makeZone } from '../time/zone.ts'

/** Archives of one name that may be told apart by a number. */
const MAX_SUFFIX = 98

/** Does a name hold the time, so that there is a new one later? */
export function hasTime(name: string): boolean {
  return name.includes('%')
}

/**
 * The name of an archive begun at a time, in milliseconds, in words of the process's own zone. A name that holds the time gets a
 * number when `exists` knows it already: -00, -01... EEXIST after -98. Other names are as given, unless the archive continues another
 * one of that name (`continues`).
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
