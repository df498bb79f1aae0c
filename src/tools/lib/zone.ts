/** The zone a command shows times in. pmNewContextZone(3) */
import type { ArchiveLabel } from '../../archive/label.ts'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { contextZoneName } from '../../pmapi/context-zone.ts'
import { processZone, readZoneFile } from '../../sys/zones.ts'
import { makeZone, newZone, UTC, type Zone } from '../../time/zone.ts'
import type { StandardOptions } from './standard.ts'
import type { ToolIo } from './tool.ts'

/** The zone that -z or -Z asks for, else that of this process; and the note that says so, '' without one. */
export interface ReportingZone {
  readonly zone: Zone
  readonly note: string
}

/** Finds the zone. PM_ERR_VALUE when the source's own is wanted and it has none; EINVAL for a zone that cannot be. */
export async function reportingZone(
  { zone: name, hostzone }: Pick<StandardOptions, 'zone' | 'hostzone'>,
  context: Context,
  io: ToolIo,
): Promise<ReportingZone> {
  if (context.archive !== undefined) return archiveZone({ zone: name, hostzone }, context.archive.label, io)
  if (hostzone) {
    const host = await context.hostname(io)
    const zone = named(await contextZoneName(context, io), io)
    return { zone, note: `Note: timezone set to local timezone of host "${host}"\n\n` }
  }
  if (name !== undefined) return { zone: named(name, io), note: `Note: timezone set to "TZ=${name}"\n\n` }
  return { zone: ownZone(io), note: '' }
}

/** As `reportingZone`, for an archive's label. */
export function archiveZone(
  { zone: name, hostzone }: Pick<StandardOptions, 'zone' | 'hostzone'>,
  { hostname, timezone, zoneinfo }: Pick<ArchiveLabel, 'hostname' | 'timezone' | 'zoneinfo'>,
  io: ToolIo,
): ReportingZone {
  if (hostzone) {
    const zone = named(zoneinfo === '' ? timezone : zoneinfo, io)
    return { zone, note: `Note: timezone set to local timezone of host "${hostname}" from archive\n\n` }
  }
  if (name !== undefined) return { zone: named(name, io), note: `Note: timezone set to "TZ=${name}"\n\n` }
  return { zone: ownZone(io), note: '' }
}

/** The zone of this process. Its file is read when a time is shown; most reports show none. */
export function ownZone({ env }: ToolIo): Zone {
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

function named(name: string, io: ToolIo): Zone {
  if (name === '') return UTC // what the C library takes an empty TZ for
  const zone = newZone(name, (file) => readZoneFile(file, io.env))
  if (zone === undefined) throw new PcpError('EINVAL', `Cannot set timezone to "${name}": not a zone`)
  return zone
}
