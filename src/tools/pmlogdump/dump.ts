/** State shared by the sections of a dump. */
import type { Archive } from '../../archive/archive.ts'
import type { Member } from '../../archive/member.ts'
import type { ArchiveFiles } from '../../base/byte-source.ts'
import type { ByteText } from '../../base/byte-text.ts'
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import type { Outcome } from '../../model/errors.ts'
import type { Pmid } from '../../model/ids.ts'
import type { Pmns } from '../../pmns/tree.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { DumpOptions } from './options.ts'

/** A dump in progress. */
export interface Dump {
  readonly io: ToolIo
  readonly wanted: DumpOptions
  readonly archive: Archive
  readonly files: ArchiveFiles
  /** Names of the archive, or of -n. */
  readonly names: Pmns
  readonly zone: Zone
  readonly stamps: TimestampFormatter
  readonly start: Timestamp
  readonly finish: Timestamp
  /** Time of the archive's last record, or why it is unknown. */
  readonly end: Outcome<Timestamp>
  /** Escapes names for a line of output. */
  readonly form: (text: string) => string
  /** Output not yet written to standard output. */
  readonly out: ByteText
}

/** Bytes to collect before a write. */
const BLOCK = 256 * 1024

/** Writes the collected output if it is large enough, or with `all` in any case. */
export async function drain({ out, io }: Dump, all = false): Promise<void> {
  if (!all && out.length < BLOCK) return
  io.stdout.writeBytes(out.written())
  out.clear()
  await io.stdout.flush()
}

/** Returns all names of a metric as `name or other`; `none` without one. */
export function namesOf({ names, form }: Pick<Dump, 'names' | 'form'>, id: Pmid, none: string): string {
  return form(names.namesOf(id).join(' or ')) || none
}

/** Calls `section` with each archive of the context; with several, prints a heading for each. */
export function eachMember({ archive, out }: Dump, section: (member: Member) => void): void {
  const { members } = archive
  for (const member of members) {
    if (members.length > 1) out.text(`--- archive ${member.base} ---\n`)
    section(member)
  }
}

const NANOS = 1e9
/** Offsets of the time of day and the year in ctime(3)'s format. */
const CLOCK = 11
const YEAR = 19

/** Formats times of one archive; text that stays the same within a second is cached. */
export class TimestampFormatter {
  readonly #zone: Zone
  readonly #start: Timestamp
  readonly #detail: number
  #sec = Number.NaN
  #before = ''
  #after = ''

  /** `detail` is the number of -x options; -xx shows times relative to `start`. */
  constructor(zone: Zone, start: Timestamp, detail: number) {
    this.#zone = zone
    this.#start = start
    this.#detail = detail
  }

  /** Writes a time with 6 or 9 fractional digits. */
  write(out: ByteText, sec: number, nsec: number, digits: number): void {
    this.#writeStamp(out, sec, nsec, digits, this.#detail > 0)
    if (this.#detail > 1) {
      out.text(' (')
      out.fixed(secondsBetween(this.#start, { sec, nsec }), digits)
      out.text(')')
    }
    if (this.#detail > 2) out.text(` ${sec}`)
  }

  /** Writes a time with its date at any detail, and with -xxx the seconds since 1970. */
  writeDate(out: ByteText, { sec, nsec }: Timestamp, digits: number): void {
    this.#writeStamp(out, sec, nsec, digits, true)
    if (this.#detail > 2) out.text(` ${sec}`)
  }

  #writeStamp(out: ByteText, sec: number, nsec: number, digits: number, withDate: boolean): void {
    if (sec !== this.#sec) {
      const text = ctime(sec, this.#zone)
      this.#sec = sec
      this.#before = text.slice(0, YEAR)
      this.#after = text.slice(YEAR)
    }
    out.text(withDate ? this.#before : this.#before.slice(CLOCK))
    out.byte(0x2e)
    writeFraction(out, nsec, digits)
    if (withDate) out.text(this.#after)
  }
}

/** Writes a fraction, also an invalid one of a damaged archive. */
function writeFraction(out: ByteText, nsec: number, digits: number): void {
  const fraction = digits === 6 ? Math.trunc(nsec / 1000) : nsec
  if (nsec >= 0 && nsec < NANOS) out.padded(fraction, digits)
  else out.text(fraction < 0 ? `-${String(-fraction).padStart(digits - 1, '0')}` : String(fraction))
}
