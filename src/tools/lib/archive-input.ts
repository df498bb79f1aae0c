/** What commands that read archives record by record share: opening one, its end, its zone, its time window. */
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
import { lineForm } from './print.ts'
import type { StandardOptions } from './standard.ts'
import type { Output, ToolIo } from './tool.ts'
import { type SamplingWindow, samplingWindow } from './window.ts'
import { archiveZone } from './zone.ts'

/** An archive as a command line asks for it. */
export interface ArchiveInput {
  readonly archive: Archive
  /** Time of its last record, or why that is not known. */
  readonly end: Outcome<Timestamp>
  readonly zone: Zone
  readonly window: SamplingWindow
}

/**
 * Opens an archive; says which zone is reported in, and that the end is damaged where it is. Throws PcpError with the message
 * that PCP's commands print.
 */
export function openArchive(
  name: string,
  standard: Pick<StandardOptions, 'zone' | 'hostzone' | 'window' | 'interval' | 'samples'>,
  files: ArchiveFiles,
  io: ToolIo,
): ArchiveInput {
  const archive = openNamed(name, files, io)
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

/** Opens an archive and nothing more. Throws PcpError with the message that PCP's commands print. */
export function openNamed(
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

/** The files of the archive with this base name. */
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

/** `Mon Feb 16 14:41:23.608 2026`: a moment with its date, to the millisecond. */
export function dateStamp(time: Timestamp, zone: Zone): string {
  const text = ctime(time.sec, zone)
  const millis = String(Math.floor(time.nsec / 1e6)).padStart(3, '0')
  return `${text.slice(0, -5)}.${millis}${text.slice(-5)}`
}

/** From when to when a label is shown; the end may be unknown. */
export interface LabelledTimes {
  readonly start: Timestamp
  readonly end: Outcome<Timestamp>
}

/** Writes what a label says first: the host, and from when to when; by default the archive's whole time. */
export function writeBriefLabel(
  out: Output,
  archive: Archive,
  zone: Zone,
  { start, end }: LabelledTimes = { start: archive.start, end: archive.end() },
): void {
  const { version, hostname } = archive.label
  out.write(
    `Log Label (Log Format Version ${version})\n` +
      `Performance metrics from host ${lineForm(out)(hostname)}\n` +
      `  commencing ${dateStamp(start, zone)}\n` +
      `  ending     ${isError(end) ? 'UNKNOWN' : dateStamp(end, zone)}\n`,
  )
}

/** The base name that a name means: that of an existing file's archive, otherwise the name itself, without `./`. */
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

/** The files there are of an archive, by name; damaged archives may lack any. */
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
