/** Checks labels of pushed archives, whose texts become names of files. docs/reference/pmproxy.md */
import { type ArchiveLabel, decodeLabel, labelSize, VOLUME_INDEX, VOLUME_META } from '../archive/label.ts'
import { PcpError } from '../model/errors.ts'
import { processZone } from '../sys/zones.ts'
import { strftime } from '../time/strftime.ts'
import { makeZone } from '../time/zone.ts'

/** Longest host name: one component of a path. */
const MAX_HOST = 255
const HOST = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/
const ZONE = /^[A-Za-z0-9/_+.,:-]*$/

/** The files of an archive: `meta`, `index`, or the number of a volume. */
export type Part = 'meta' | 'index' | number

/**
 * Decodes a pushed label record. EINVAL for a wrong length, PM_ERR_LABEL for other damage, EINVAL for a host name or time zone that could
 * leave its directory.
 */
export function checkLabel(bytes: Uint8Array): ArchiveLabel {
  if (bytes.length !== labelSize(2) && bytes.length !== labelSize(3))
    throw new PcpError('EINVAL', `A label has 132 or 808 bytes, not ${bytes.length}`)
  const label = decodeLabel(bytes, 'pushed label')
  if (bytes.length !== labelSize(label.version))
    throw new PcpError('EINVAL', `A label of version ${label.version} does not have ${bytes.length} bytes`)
  const { hostname, timezone, zoneinfo } = label
  if (!HOST.test(hostname) || hostname.length > MAX_HOST)
    throw new PcpError(
      'EINVAL',
      `The host name of the label, ${JSON.stringify(hostname.slice(0, MAX_HOST))}, contains other characters than A-Z a-z 0-9 . _ -: record with -H NAME`,
    )
  if (![timezone, zoneinfo].every(isSafeZone))
    throw new PcpError('EINVAL', 'The time zone of the label contains characters that zones do not have')
  return label
}

function isSafeZone(zone: string): boolean {
  return ZONE.test(zone) && !zone.startsWith('/') && !zone.startsWith(':/') && !zone.includes('..')
}

/** Returns the name of an archive in its host's directory: its start in this server's time zone. */
export function pushedName({ start }: ArchiveLabel): string {
  const zone = processZone()
  return strftime('%Y%m%d.%H.%M', start.sec, makeZone(zone.name, zone.bytes))
}

/** Returns the label of a file from the label of any other file of the archive. */
export function labelOfPart(label: Uint8Array, part: Part): Uint8Array {
  // Not `slice`: that of a Buffer shares its memory.
  const bytes = Uint8Array.from(label)
  const volume = part === 'meta' ? VOLUME_META : part === 'index' ? VOLUME_INDEX : part
  new DataView(bytes.buffer).setInt32(bytes.length === labelSize(2) ? 20 : 24, volume)
  return bytes
}

/** Parses the name of a file's part. */
export function parsePart(text: string): Part | undefined {
  if (text === 'meta' || text === 'index') return text
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
