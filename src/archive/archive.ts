/** One or several archives as one. docs/formats/archive.md §7, §8 */
import type { ArchiveFiles } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { type ErrorCode, isError, type Outcome, PcpError } from '../model/errors.ts'
import { compareTimes, laterOf } from '../time/arithmetic.ts'
import { Listings } from './file-names.ts'
import type { ArchiveLabel } from './label.ts'
import { closeVolumes, type Member, openMember } from './member.ts'
import { MemberData } from './member-data.ts'
import { type LeavesOut, Metadata } from './metadata.ts'

/** How to open an archive. */
export interface ArchiveOptions {
  /** Accept feature bits that are not known. */
  readonly anyFeatures?: boolean
  /** Chooses metrics and domains that are treated as if they had not been recorded; default none. */
  readonly isLeftOut?: LeavesOut
  /**
   * Every damaged record is an error, as in PCP: also one that a power cut tore, and in a list. By default a tear ends its volume, and damage
   * its member of a list.
   */
  readonly stopsAtDamage?: boolean
  /** Hears about members of a list that are left out, and about records lost to damage; default nobody. */
  readonly onWarning?: (warning: PcpError) => void
}

/** What keeps several archives from being one context; everything else only keeps a member out of it. */
const FATAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PM_ERR_LOGHOST',
  'PM_ERR_LOGOVERLAP',
  'PM_ERR_LOGCHANGETYPE',
  'PM_ERR_LOGCHANGESEM',
  'PM_ERR_LOGCHANGEINDOM',
  'PM_ERR_LOGCHANGEUNITS',
])

/**
 * An open archive, or several that follow each other. Metadata is read once and never changes; data is read by `RecordReader`s, of
 * which there may be many.
 */
export class Archive {
  /** By start time. */
  readonly members: readonly Member[]
  /** Of all members together. */
  readonly metadata: Metadata
  /** What readers need of each member. */
  readonly data: readonly MemberData[]
  /** See `ArchiveOptions`. */
  readonly stopsAtDamage: boolean
  readonly #onWarning: (warning: PcpError) => void
  readonly #knownEnds: (Timestamp | undefined)[] = []

  private constructor(
    members: readonly Member[],
    metadata: Metadata,
    { onWarning = () => {}, stopsAtDamage = false }: ArchiveOptions,
  ) {
    this.members = members
    this.metadata = metadata
    this.data = members.map((member, i) => new MemberData(member, i))
    this.stopsAtDamage = stopsAtDamage
    this.#onWarning = onWarning
  }

  /**
   * Opens archives by name: base names, names of any of their files, or directories that hold some; with commas in between.
   * ENOENT, PM_ERR_LOGFILE, PM_ERR_NODATA, PM_ERR_LABEL, PM_ERR_LOGREC, PM_ERR_RECTYPE, PM_ERR_FEATURE for the only one; in a list such
   * members are left out. PM_ERR_LOGHOST, PM_ERR_LOGOVERLAP and PM_ERR_LOGCHANGE* when members do not belong together.
   * @see pmNewContext(3)
   */
  static open(names: string | readonly string[], files: ArchiveFiles, options: ArchiveOptions = {}): Archive {
    const elements = (typeof names === 'string' ? [names] : names).flatMap((name) => name.split(','))
    const { anyFeatures = false, onWarning = () => {}, isLeftOut } = options
    let warnings: PcpError[] = []
    const open = (from: ArchiveFiles): Opening => {
      warnings = []
      const opening = new Opening(from, anyFeatures, (warning) => warnings.push(warning), isLeftOut)
      try {
        opening.addAll(elements)
        return opening
      } catch (error) {
        for (const { volumes } of opening.members) closeVolumes(volumes)
        throw error
      }
    }
    try {
      const { members, metadata } = files.consistent?.(open) ?? open(files)
      return new Archive(members, metadata, options)
    } finally {
      for (const warning of warnings) onWarning(warning)
    }
  }

  /** Label of the first member. @see pmGetArchiveLabel(3) */
  get label(): ArchiveLabel {
    return this.members[0]!.label
  }

  /** Start of the first member. */
  get start(): Timestamp {
    return this.label.start
  }

  /**
   * Time of the last record of the last member, or of those before it that it overlaps with, found anew when files have grown.
   * PM_ERR_LOGREC when no record can be read. @see pmGetArchiveEnd(3)
   */
  end(): Outcome<Timestamp> {
    const last = this.data.length - 1
    const end = this.data[last]!.end()
    const floor = this.floorOf(last)
    return isError(end) || floor === undefined ? end : laterOf(end, floor)
  }

  /**
   * Up to when members before this one reach, where that is behind its start: records of that time are read from them. Undefined
   * for members that do not overlap.
   */
  floorOf(member: number): Timestamp | undefined {
    if (member === 0) return undefined
    const { start } = this.members[member]!.label
    const known = this.#knownEnd(member - 1)
    const live = this.data[member - 1]!.liveEnd()
    const end = known === undefined || live === undefined ? (live ?? known) : laterOf(known, live)
    return end !== undefined && compareTimes(end, start) > 0 ? end : undefined
  }

  /** The latest time that the indexes of the members up to this one know. */
  #knownEnd(member: number): Timestamp | undefined {
    for (let m = this.#knownEnds.length; m <= member; m++) {
      const own = this.data[m]!.indexedEnd()
      const before = this.#knownEnds[m - 1]
      this.#knownEnds.push(own === undefined || before === undefined ? (own ?? before) : laterOf(own, before))
    }
    return this.#knownEnds[member]
  }

  /** Tells whoever opened the archive about something that is left out. */
  warn(warning: PcpError): void {
    this.#onWarning(warning)
  }

  /** Releases all files; idempotent. */
  close(): void {
    for (const { volumes } of this.members) closeVolumes(volumes)
  }
}

/** Finds members, opens them, and puts what they have together. */
class Opening {
  /** By start time. */
  members: Member[] = []
  metadata: Metadata
  readonly #files: ArchiveFiles
  readonly #anyFeatures: boolean
  readonly #isLeftOut: LeavesOut | undefined
  readonly #onWarning: (warning: PcpError) => void
  readonly #listings: Listings
  /** In the order of the list, which is that of their metadata. */
  readonly #inOrder: Member[] = []

  constructor(
    files: ArchiveFiles,
    anyFeatures: boolean,
    onWarning: (warning: PcpError) => void,
    isLeftOut: LeavesOut | undefined,
  ) {
    this.#files = files
    this.#anyFeatures = anyFeatures
    this.#isLeftOut = isLeftOut
    this.metadata = new Metadata(isLeftOut)
    this.#onWarning = onWarning
    this.#listings = new Listings(files)
  }

  addAll(elements: readonly string[]): void {
    if (elements.length === 1) {
      const bases = this.#listings.bases(elements[0]!)
      if (bases.length === 1) this.#add(bases[0]!)
      else for (const base of bases) this.#tolerate(base, () => this.#add(base))
    } else {
      for (const element of elements)
        this.#tolerate(element, () => {
          for (const base of this.#listings.bases(element)) this.#tolerate(base, () => this.#add(base))
        })
    }
    if (this.members.length === 0)
      throw new PcpError(
        'PM_ERR_LOGFILE',
        `${elements.join(',')}: none of these is an archive that can be read`,
      )
  }

  /** Does something; what is wrong with one member of several becomes a warning. */
  #tolerate(name: string, action: () => void): void {
    try {
      action()
    } catch (error) {
      const problem = PcpError.from(error, name)
      if (FATAL.has(problem.code) || !(error instanceof PcpError)) throw error
      this.#onWarning(problem)
    }
  }

  #add(base: string): void {
    if (this.members.some((member) => member.base === base)) return
    const member = openMember(this.#files, this.#listings.member(base), this.#anyFeatures)
    try {
      this.#checkBeside(member)
      this.metadata.add(member.meta.bytes, member.meta.start, member.meta.path)
    } catch (error) {
      closeVolumes(member.volumes)
      this.#restoreMetadata()
      throw error
    }
    this.#inOrder.push(member)
    this.members = [...this.#inOrder].sort((a, b) => compareTimes(a.label.start, b.label.start))
  }

  #checkBeside({ base, label }: Member): void {
    const first = this.#inOrder[0]
    if (first !== undefined && first.label.hostname !== label.hostname) {
      const hosts = `"${first.label.hostname}" and "${label.hostname}"`
      throw new PcpError('PM_ERR_LOGHOST', `${first.base} and ${base} are from different hosts: ${hosts}`)
    }
    const other = this.#inOrder.find((member) => compareTimes(member.label.start, label.start) === 0)
    if (other !== undefined)
      throw new PcpError('PM_ERR_LOGOVERLAP', `${other.base} and ${base} start at the same time`)
  }

  /** Metadata of a member that turns out to be damaged must not stay. */
  #restoreMetadata(): void {
    this.metadata = new Metadata(this.#isLeftOut)
    for (const { meta } of this.#inOrder) this.metadata.add(meta.bytes, meta.start, meta.path)
  }
}
