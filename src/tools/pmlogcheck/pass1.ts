/** Pass 1: checks the temporal index against the other files. */
import type { Archive } from '../../archive/archive.ts'
import type { MemberFiles } from '../../archive/file-names.ts'
import { labelSize } from '../../archive/label.ts'
import { decodeIndex, type TemporalIndex } from '../../archive/temporal-index.ts'
import { readBytes } from '../../base/byte-source.ts'
import type { Check } from './check.ts'

const NANOS = 1e9

/** Reports problems in the temporal index. */
export function checkIndex(check: Check, archive: Archive, member: MemberFiles): void {
  check.sayVerbose(`${member.base}: start pass1 (check temporal index)`)
  if (member.index === undefined) {
    check.say(`${member.base}: warning temporal index is missing`)
    return
  }
  const { version } = archive.label
  const from = labelSize(version)
  const source = check.files.open(member.index)
  const index = decodeIndex(readBytes(source, from, source.size - from), version)
  source.close()
  const entries = new EntryCheck(check, archive, member, index)
  for (let i = 0; i < index.length; i++) entries.check(i)
}

/** Checks entries one by one. */
class EntryCheck {
  readonly #check: Check
  readonly #archive: Archive
  readonly #member: MemberFiles
  readonly #index: TemporalIndex
  readonly #sizes = new Map<string, number>()

  constructor(check: Check, archive: Archive, member: MemberFiles, index: TemporalIndex) {
    this.#check = check
    this.#archive = archive
    this.#member = member
    this.#index = index
  }

  check(i: number): void {
    const { sec, nsec, volume, metaOffset, offset } = this.#index
    const say = (text: string): void => this.#check.say(`${this.#member.base}.index[entry ${i + 1}]: ${text}`)
    if (volume[i]! < 0) say(`illegal negative volume number ${volume[i]}`)
    if (sec[i]! < 0 || nsec[i]! < 0) say(`illegal negative timestamp value (${sec[i]} sec, ${nsec[i]} nsec)`)
    if (nsec[i]! >= NANOS) say(`illegal timestamp nsec value (${sec[i]} sec, ${nsec[i]} nsec)`)
    const label = labelSize(this.#archive.label.version)
    if (metaOffset[i]! < label)
      say(`offset to metadata (${metaOffset[i]}) before end of label record (${label})`)
    if (offset[i]! < label) say(`offset to log (${offset[i]}) before end of label record (${label})`)
    const metaSize = this.#sizeOf(this.#member.meta)
    if (metaOffset[i]! > metaSize) say(`offset to metadata (${metaOffset[i]}) past end of file (${metaSize})`)
    this.#checkVolume(i, say)
    this.#checkOrder(i, say)
  }

  #checkVolume(i: number, say: (text: string) => void): void {
    const number = this.#index.volume[i]!
    if (number < 0) return
    const volume = this.#member.volumes.find((one) => one.number === number)
    if (volume === undefined) {
      this.#check.say(`${this.#member.base}.${number}: file missing for log volume ${number}`)
      return
    }
    const size = this.#sizeOf(volume.path)
    const offset = this.#index.offset[i]!
    if (offset > size) say(`offset to log (${offset}) past end of file (${size})`)
  }

  #checkOrder(i: number, say: (text: string) => void): void {
    const { sec, nsec, volume, metaOffset, offset } = this.#index
    const { start } = this.#archive.label
    const time = stamp(sec[i]!, nsec[i]!)
    if (isBefore(sec[i]!, nsec[i]!, start.sec, start.nsec))
      say(`timestamp (${time}) less than log label timestamp (${stamp(start.sec, start.nsec)})`)
    if (i === 0) return
    const before = `at [entry ${i}]`
    if (isBefore(sec[i]!, nsec[i]!, sec[i - 1]!, nsec[i - 1]!))
      say(`timestamp (${time}) went backwards in time (from ${stamp(sec[i - 1]!, nsec[i - 1]!)} ${before})`)
    if (volume[i]! < volume[i - 1]!)
      say(`volume number (${volume[i]}) decreased (from ${volume[i - 1]} ${before})`)
    if (volume[i] !== volume[i - 1]) return
    if (metaOffset[i]! < metaOffset[i - 1]!)
      say(`offset to metadata (${metaOffset[i]}) decreased (from ${metaOffset[i - 1]} ${before})`)
    if (offset[i]! < offset[i - 1]!)
      say(`offset to log (${offset[i]}) decreased (from ${offset[i - 1]} ${before})`)
  }

  #sizeOf(path: string): number {
    let size = this.#sizes.get(path)
    if (size === undefined) {
      const source = this.#check.files.open(path)
      size = source.size
      source.close()
      this.#sizes.set(path, size)
    }
    return size
  }
}

/** Formats like `%d.%09d`, also for negative fractions. */
function stamp(sec: number, nsec: number): string {
  const digits = nsec < 0 ? `-${String(-nsec).padStart(8, '0')}` : String(nsec).padStart(9, '0')
  return `${sec}.${digits}`
}

function isBefore(sec: number, nsec: number, otherSec: number, otherNsec: number): boolean {
  return sec < otherSec || (sec === otherSec && nsec < otherNsec)
}
