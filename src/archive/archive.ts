/** One or several archives as one. docs/formats/archive.md §8 */
import type { ArchiveFiles } from '../base/byte-source.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import type { ArchiveLabel } from './label.ts'
import type { Member } from './member.ts'
import type { Metadata } from './metadata.ts'

/** How to open an archive. */
export interface ArchiveOptions {
  /** Accept feature bits that are not known. */
  readonly anyFeatures?: boolean
  /** Hears about members of a list that are left out, and about records lost to damage; default nobody. */
  readonly onWarning?: (warning: PcpError) => void
}

/**
 * An open archive, or several that follow each other. Metadata is read once and never changes; data is read by `RecordReader`s, of
 * which there may be many.
 */
export class Archive {
  /**
   * Opens archives by name: base names, names of any of their files, or directories that hold some; with commas in between.
   * ENOENT, PM_ERR_LOGFILE, PM_ERR_NODATA, PM_ERR_LABEL, PM_ERR_LOGREC, PM_ERR_RECTYPE, PM_ERR_FEATURE for the only one; in a list such
   * members are left out. PM_ERR_LOGHOST, PM_ERR_LOGOVERLAP and PM_ERR_LOGCHANGE* when members do not belong together.
   * @see pmNewContext(3)
   */
  static open(
    _names: string | readonly string[],
    _files: ArchiveFiles,
    _options: ArchiveOptions = {},
  ): Archive {
    throw new PcpError('PM_ERR_NYI')
  }

  /** By start time. */
  readonly members: readonly Member[] = []
  /** Of all members together. */
  readonly metadata!: Metadata

  /** Label of the first member. @see pmGetArchiveLabel(3) */
  get label(): ArchiveLabel {
    return this.members[0]!.label
  }

  /** Start of the first member. */
  get start(): Timestamp {
    return this.label.start
  }

  /** Time of the last record of the last member, looked up again when its file has grown. PM_ERR_LOGREC when no record can be read. @see pmGetArchiveEnd(3) */
  end(): Outcome<Timestamp> {
    return this.start
  }

  /** Releases all files; idempotent. */
  close(): void {}
}
