/** Times as a dump shows them: the time of day, or with -x more. */
import type { ByteText } from '../../base/byte-text.ts'
import { secondsBetween, type Timestamp } from '../../base/timestamp.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'

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
