/** The status of a logger for control clients. pmlc(1) */
import type { ArchiveWriter } from '../archive/write/writer.ts'
import { now } from '../base/timestamp.ts'
import type { LogStatus } from '../wire/log-status.ts'
import type { CollectorFacts } from './collector-facts.ts'

/** Time zones of the logger itself. */
export interface OwnZones {
  readonly timezone: string
  readonly zoneinfo: string
}

/** Returns the status. `source` is the configured name of the collector. */
export function logStatus(
  { startTime, lastTime, volume, volumeBytes }: ArchiveWriter,
  { hostname, timezone, zoneinfo }: CollectorFacts,
  source: string,
  own: OwnZones,
): LogStatus {
  const zero = { sec: 0, nsec: 0 }
  return {
    start: startTime ?? zero,
    last: lastTime ?? zero,
    now: now(),
    state: lastTime === undefined ? 0 : 1,
    volume,
    size: volumeBytes,
    pmcdHost: hostname,
    pmcdFqdn: source,
    pmcdTimezone: timezone,
    ...(zoneinfo === '' ? {} : { pmcdZoneinfo: zoneinfo }),
    loggerTimezone: own.timezone,
    ...(own.zoneinfo === '' ? {} : { loggerZoneinfo: own.zoneinfo }),
  }
}
