/** What the sections of a dump share: what is dumped, times, and the output. */
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

const NANOS = 1e9
/** Where a ctime has its time of day, and where its year begins. */
const CLOCK = 11
const YEAR = 19

/** Writes times of one archive. What stays the same within a second is kept. */
export class StampText {
  readonly #zone: Zone
  readonly #start: Timestamp
  readonly #detail: number
  #sec = Number.NaN
  #before = ''
  #after = ''

  /** `detail` counts the options -x; `start` is what -xx counts from. */
  constructor(zone: Zone, start: Timestamp, detail: number) {
    this.#zone = zone
    this.#start = start
    this.#detail = detail
  }

  /** `digits` of the second: 6 or 9. */
  write(out: ByteText, sec: number, nsec: number, digits: number): void {
    this.#writeStamp(out, sec, nsec, digits, this.#detail > 0)
    if (this.#detail > 1) {
      out.text(' (')
      out.fixed(secondsBetween(this.#start, { sec, nsec }), digits)
      out.text(')')
    }
    if (this.#detail > 2) out.text(` ${sec}`)
  }

  /** With the date whatever the detail, and the seconds since 1970 with -xxx. */
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

/** Damaged archives hold numbers that no fraction has. */
function writeFraction(out: ByteText, nsec: number, digits: number): void {
  const fraction = digits === 6 ? Math.trunc(nsec / 1000) : nsec
  if (nsec >= 0 && nsec < NANOS) out.padded(fraction, digits)
  else out.text(fraction < 0 ? `-${String(-fraction).padStart(digits - 1, '0')}` : String(fraction))
}
