/** One or several archives read as one. docs/formats/archive.md §7, §8 */
import type { ArchiveFiles, FilePart, PrefetchWatch } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { type ErrorCode, isError, type Outcome, PcpError } from '../model/errors.ts'
import { compareTimes, laterOf } from '../time/arithmetic.ts'
import { Listings } from './file-names.ts'
import type { ArchiveLabel } from './label.ts'
import { closeVolumes, type Member, openMember } from './member.ts'
import { MemberData } from './member-data.ts'
import { Metadata, type MetadataFilter } from './metadata.ts'

/** Options of `Archive.open`. */
export interface ArchiveOptions {
  /** Accepts unknown feature bits. */
  readonly anyFeatures?: boolean
  /** Selects metrics and instance domains to treat as not recorded; default none. */
  readonly ignores?: MetadataFilter
  /**
   * Makes every damaged record an error, as in PCP, even if a power cut tore it or its archive is one of a list. By default a torn record
   * ends its volume, and other damage ends its archive if that is one of a list.
   */
  readonly stopsAtDamage?: boolean
  /** Called for archives of a list that are skipped, and for records lost to damage. */
  readonly onWarning?: (warning: PcpError) => void
}

/** Most bytes to read in advance: a user waits for them before the first values are shown. */
const MOST_PREFETCHED = 8 << 20

/** Errors between several archives that cannot form one context. Any other error only excludes one of them. */
const FATAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'PM_ERR_LOGHOST',
  'PM_ERR_LOGOVERLAP',
  'PM_ERR_LOGCHANGETYPE',
  'PM_ERR_LOGCHANGESEM',
  'PM_ERR_LOGCHANGEINDOM',
  'PM_ERR_LOGCHANGEUNITS',
])

/**
 * An open archive, or several consecutive ones. Metadata is read once and never changes; any number of `RecordReader`s read the
 * data.
 */
export class Archive {
  /** In order of start time. */
  readonly members: readonly Member[]
  /** Metadata of all members. */
  readonly metadata: Metadata
  /** Data of each member, for readers. */
  readonly data: readonly MemberData[]
  /** See `ArchiveOptions`. */
  readonly stopsAtDamage: boolean
  readonly #onWarning: (warning: PcpError) => void
  readonly #files: ArchiveFiles
  readonly #knownEnds: (Timestamp | undefined)[] = []

  private constructor(
    members: readonly Member[],
    metadata: Metadata,
    files: ArchiveFiles,
    { onWarning = () => {}, stopsAtDamage = false }: ArchiveOptions,
  ) {
    this.members = members
    this.metadata = metadata
    this.data = members.map((member, i) => new MemberData(member, i))
    this.stopsAtDamage = stopsAtDamage
    this.#onWarning = onWarning
    this.#files = files
  }

  /**
   * Opens archives by name: base names, names of any of their files, or directories of archives, separated by commas.
   * ENOENT, PM_ERR_LOGFILE, PM_ERR_NODATA, PM_ERR_LABEL, PM_ERR_LOGREC, PM_ERR_RECTYPE and PM_ERR_FEATURE for a single archive; in a
   * list such archives are skipped. PM_ERR_LOGHOST, PM_ERR_LOGOVERLAP and PM_ERR_LOGCHANGE* if archives cannot be combined.
   * @see pmNewContext(3)
   */
  static open(names: string | readonly string[], files: ArchiveFiles, options: ArchiveOptions = {}): Archive {
    const elements = (typeof names === 'string' ? [names] : names).flatMap((name) => name.split(','))
    const { anyFeatures = false, onWarning = () => {}, ignores } = options
    let warnings: PcpError[] = []
    const open = (from: ArchiveFiles): Opening => {
      warnings = []
      const opening = new Opening(from, anyFeatures, (warning) => warnings.push(warning), ignores)
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
      return new Archive(members, metadata, files, options)
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
   * Returns the time of the last record of the last member, or of earlier members that overlap with it; recomputed after files have grown.
   * PM_ERR_LOGREC if no record is readable. @see pmGetArchiveEnd(3)
   */
  end(): Outcome<Timestamp> {
    const last = this.data.length - 1
    const end = this.data[last]!.end()
    const floor = this.floorOf(last)
    return isError(end) || floor === undefined ? end : laterOf(end, floor)
  }

  /**
   * Returns the end of the members before this one if it is after this one's start: records up to then are read from those. Undefined
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

  /** Returns the latest time in the indexes of the members up to this one. */
  #knownEnd(member: number): Timestamp | undefined {
    for (let m = this.#knownEnds.length; m <= member; m++) {
      const own = this.data[m]!.indexedEnd()
      const before = this.#knownEnds[m - 1]
      this.#knownEnds.push(own === undefined || before === undefined ? (own ?? before) : laterOf(own, before))
    }
    return this.#knownEnds[member]
  }

  /**
   * Reads the records of a window in advance, at most `MOST_PREFETCHED` bytes of them, so that reading them does not wait for a network. With
   * `watch` all of them are read, or none if they are too many. Does nothing for files that need no such thing. Rejects as reads throw.
   */
  async prefetch(from: Timestamp, to: Timestamp, watch?: PrefetchWatch): Promise<void> {
    if (this.#files.prefetch === undefined) return
    await this.prefetchParts(
      this.data.flatMap((data) => data.partsOf(from, to)),
      watch,
    )
  }

  /** As `prefetch`, for parts of volumes. */
  async prefetchParts(parts: readonly FilePart[], watch?: PrefetchWatch): Promise<void> {
    await this.#files.prefetch?.(parts, MOST_PREFETCHED, watch)
  }

  /** Reports data that is skipped. */
  warn(warning: PcpError): void {
    this.#onWarning(warning)
  }

  /** Releases all files; idempotent. */
  close(): void {
    for (const { volumes } of this.members) closeVolumes(volumes)
  }
}

/** Finds members, opens them, and combines their metadata. */
class Opening {
  /** In order of start time. */
  members: Member[] = []
  metadata: Metadata
  readonly #files: ArchiveFiles
  readonly #anyFeatures: boolean
  readonly #isLeftOut: MetadataFilter | undefined
  readonly #onWarning: (warning: PcpError) => void
  readonly #listings: Listings
  /** In the order of the list, in which their metadata is combined. */
  readonly #inOrder: Member[] = []

  constructor(
    files: ArchiveFiles,
    anyFeatures: boolean,
    onWarning: (warning: PcpError) => void,
    isLeftOut: MetadataFilter | undefined,
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
      throw new PcpError('PM_ERR_LOGFILE', `${elements.join(',')}: none of these archives can be read`)
  }

  /** Runs an action; if there are several members, an error becomes a warning. */
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

  /** Discards the metadata of a member that turned out to be damaged. */
  #restoreMetadata(): void {
    this.metadata = new Metadata(this.#isLeftOut)
    for (const { meta } of this.#inOrder) this.metadata.add(meta.bytes, meta.start, meta.path)
  }
}
