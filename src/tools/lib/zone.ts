/** The zone in which a command shows times. pmNewContextZone(3) */
import type { ArchiveLabel } from '../../archive/label.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { contextZoneName } from '../../pmapi/context-zone.ts'
import { processZone, readZoneFile } from '../../sys/zones.ts'
import { makeZone, newZone, UTC, type Zone } from '../../time/zone.ts'
import type { StandardOptions } from './standard.ts'
import type { ToolIo } from './tool.ts'

/** The zone of -z or -Z, or of this process, and the note to print; '' for none. */
export interface ReportingZone {
  readonly zone: Zone
  readonly note: string
}

/** Returns the zone. Rejects with PM_ERR_VALUE if the source has no zone for -z, EINVAL for an unknown one. */
export async function reportingZone(
  { zone: name, hostzone }: Pick<StandardOptions, 'zone' | 'hostzone'>,
  context: Context,
  io: ToolIo,
): Promise<ReportingZone> {
  if (context.archive !== undefined) return archiveZone({ zone: name, hostzone }, context.archive.label, io)
  if (hostzone) {
    const host = await context.hostname(io)
    const zone = namedZone(await contextZoneName(context, io), io)
    return { zone, note: `Note: timezone set to local timezone of host "${host}"\n\n` }
  }
  if (name !== undefined) return { zone: namedZone(name, io), note: `Note: timezone set to "TZ=${name}"\n\n` }
  return { zone: processTimeZone(io), note: '' }
}

/** Returns the zone for an archive's label, as `reportingZone` does. */
export function archiveZone(
  { zone: name, hostzone }: Pick<StandardOptions, 'zone' | 'hostzone'>,
  { hostname, timezone, zoneinfo }: Pick<ArchiveLabel, 'hostname' | 'timezone' | 'zoneinfo'>,
  io: ToolIo,
): ReportingZone {
  if (hostzone) {
    const zone = namedZone(zoneinfo === '' ? timezone : zoneinfo, io)
    return { zone, note: `Note: timezone set to local timezone of host "${hostname}" from archive\n\n` }
  }
  if (name !== undefined) return { zone: namedZone(name, io), note: `Note: timezone set to "TZ=${name}"\n\n` }
  return { zone: processTimeZone(io), note: '' }
}

/** Returns the zone of this process, whose file is only read when a time is shown. */
export function processTimeZone({ env }: ToolIo): Zone {
  let zone: Zone | undefined
  const read = (): Zone => {
    const { name, bytes } = processZone(env)
    return makeZone(name, bytes)
  }
  return {
    get name(): string {
      zone ??= read()
      return zone.name
    },
    at: (sec) => {
      zone ??= read()
      return zone.at(sec)
    },
  }
}

/** Returns a zone by name. EINVAL for an unknown one. */
export function namedZone(name: string, io: ToolIo): Zone {
  if (name === '') return UTC // the C library reads an empty TZ as UTC
  const zone = newZone(name, (file) => readZoneFile(file, io.env))
  if (zone === undefined) throw new PcpError('EINVAL', `Cannot set timezone to "${name}": not a zone`)
  return zone
}
