/** What the sections of a dump share. */
import type { Archive } from '../../archive/archive.ts'
import type { Member } from '../../archive/member.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import type { ByteText } from '../../base/byte-text.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import type { Outcome } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { Pmns } from '../../pmns/tree.ts'
import type { Zone } from '../../time/zone.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { DumpOptions } from './options.ts'
import type { StampText } from './stamp-text.ts'

/** A dump under way. */
export interface Dump {
  readonly io: ToolIo
  readonly wanted: DumpOptions
  readonly archive: Archive
  readonly files: ArchiveFiles
  /** Those of the archive, or of -n. */
  readonly names: Pmns
  readonly zone: Zone
  readonly stamps: StampText
  readonly start: Timestamp
  readonly finish: Timestamp
  /** Time of the archive's last record, or why it is not known. */
  readonly end: Outcome<Timestamp>
  /** The form of names within a line. */
  readonly form: (text: string) => string
  /** What is not written to standard output yet. */
  readonly out: ByteText
}

/** Bytes collected before they are written. */
const BLOCK = 256 * 1024

/** Writes what was collected once it is worth a call; `all` writes it in any case. */
export async function drain({ out, io }: Dump, all = false): Promise<void> {
  if (!all && out.length < BLOCK) return
  io.stdout.writeBytes(out.written())
  out.clear()
  await io.stdout.flush()
}

/** `name or other`: all names of a metric, `none` without one. */
export function namesOf({ names, form }: Pick<Dump, 'names' | 'form'>, id: Pmid, none: string): string {
  return form(names.namesOf(id).join(' or ')) || none
}

/** Calls `section` with each archive of the context; of several, each is announced. */
export function eachMember({ archive, out }: Dump, section: (member: Member) => void): void {
  const { members } = archive
  for (const member of members) {
    if (members.length > 1) out.text(`--- archive ${member.base} ---\n`)
    section(member)
  }
}
