/** Opens archives for commands that read them record by record, and reports zone and damaged end. */
import { Archive } from '../../archive/archive.ts'
import { Listings, type MemberFiles, parseFileName } from '../../archive/file-names.ts'
import { type ArchiveFiles, readBytes } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { isError, type Outcome, type PcpError } from '../../model/errors.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { damagedEnd } from './damaged-end.ts'
import { openError } from './open-error.ts'
import { singleLine } from './print.ts'
import type { StandardOptions } from './standard.ts'
import type { Output, ToolIo } from './tool.ts'
import { type SamplingWindow, samplingWindow } from './window.ts'
import { archiveZone } from './zone.ts'

/** An opened archive. */
export interface ArchiveInput {
  readonly archive: Archive
  /** Time of its last record, or the error of looking it up. */
  readonly end: Outcome<Timestamp>
  readonly zone: Zone
  readonly window: SamplingWindow
}

/**
 * Opens an archive; prints the reporting zone, and a warning if the end is damaged. Throws PcpError with the message of PCP's
 * commands.
 */
export function openArchive(
  name: string,
  standard: Pick<StandardOptions, 'zone' | 'hostzone' | 'window' | 'interval' | 'samples'>,
  files: ArchiveFiles,
  io: ToolIo,
): ArchiveInput {
  const archive = openArchiveQuietly(name, files, io)
  try {
    const { zone, note } = archiveZone(standard, archive.label, io)
    io.stdout.write(note)
    const end = archive.end()
    if (isError(end)) io.stderr.write(damagedEnd(name, end, io))
    const bounds = { start: archive.start, end: isError(end) ? FOREVER : end }
    return { archive, end, zone, window: samplingWindow(standard, bounds, zone, io) }
  } catch (error) {
    archive.close()
    throw error
  }
}

/** Opens an archive and prints nothing. Throws PcpError with the message of PCP's commands. */
export function openArchiveQuietly(
  name: string,
  files: ArchiveFiles,
  io: Pick<ToolIo, 'progname' | 'stderr'>,
): Archive {
  const onWarning = (warning: PcpError): void =>
    io.stderr.write(`${io.progname}: Warning: ${warning.message}\n`)
  try {
    return Archive.open(name, files, { onWarning })
  } catch (error) {
    throw openError(name, error)
  }
}

/** Returns the files of the archive with this base name. */
export function memberFiles(base: string, files: ArchiveFiles): MemberFiles {
  return new Listings(files).member(base)
}

/** A metadata file in memory. */
export interface MetaFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly view: DataView
}

/** Reads the metadata file of the archive with this base name. */
export function readMeta(base: string, files: ArchiveFiles): MetaFile {
  const path = memberFiles(base, files).meta
  const source = files.open(path)
  try {
    const bytes = readBytes(source, 0, source.size)
    return { path, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) }
  } finally {
    source.close()
  }
}

/** Formats a time with its date, to the millisecond: `Mon Feb 16 14:41:23.608 2026`. */
export function dateStamp(time: Timestamp, zone: Zone): string {
  const text = ctime(time.sec, zone)
  const millis = String(Math.floor(time.nsec / 1e6)).padStart(3, '0')
  return `${text.slice(0, -5)}.${millis}${text.slice(-5)}`
}

/** Start and end to show for a label; the end may be unknown. */
export interface LabelTimes {
  readonly start: Timestamp
  readonly end: Outcome<Timestamp>
}

/** Writes host, start and end of a label; the archive's whole time by default. */
export function writeBriefLabel(
  out: Output,
  archive: Archive,
  zone: Zone,
  { start, end }: LabelTimes = { start: archive.start, end: archive.end() },
): void {
  const { version, hostname } = archive.label
  out.write(
    `Log Label (Log Format Version ${version})\n` +
      `Performance metrics from host ${singleLine(out)(hostname)}\n` +
      `  commencing ${dateStamp(start, zone)}\n` +
      `  ending     ${isError(end) ? 'UNKNOWN' : dateStamp(end, zone)}\n`,
  )
}

/** Returns the base name of the archive that an existing file belongs to, otherwise the name itself, without `./`. */
export function baseOf(name: string, files: ArchiveFiles): string {
  const plain = name.replace(/^(?:\.\/+)+/, '')
  const parsed = parseFileName(plain)
  if (parsed === undefined) return plain
  try {
    files.open(plain).close()
    return parsed.base
  } catch {
    return plain // no such file: the whole name is a base name
  }
}

/** One file of an archive. */
export interface PartFile {
  readonly path: string
  readonly part: 'meta' | 'index' | number
  readonly isCompressed: boolean
}

/** Lists the existing files of an archive, by name. Damaged archives can lack any of them. */
export function partsOf(base: string, files: ArchiveFiles): PartFile[] {
  const slash = base.lastIndexOf('/')
  const directory = base.slice(0, slash + 1)
  let names: readonly string[]
  try {
    names = files.list(directory === '' ? '.' : directory)
  } catch {
    return [] // no directory, no files
  }
  const parts: PartFile[] = []
  for (const file of [...names].sort()) {
    const parsed = parseFileName(file)
    if (parsed?.base !== base.slice(slash + 1)) continue
    const part = parsed.part === 'meta' || parsed.part === 'index' ? parsed.part : Number(parsed.part)
    parts.push({ path: directory + file, part, isCompressed: parsed.suffix !== '' })
  }
  return parts
}
