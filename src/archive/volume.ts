/** One data volume. docs/formats/archive.md §5 */
import { type ArchiveFiles, type ByteSource, readBytes } from '../base/byte-source.ts'
import { PcpError } from '../model/errors.ts'
import { type ArchiveLabel, decodeLabel, labelSize } from './label.ts'

/** Longest label. */
const MAX_LABEL = 808

/** A file of an archive and its label. */
export interface LabelledFile {
  readonly source: ByteSource
  readonly label: ArchiveLabel
}

/**
 * Opens a file and checks that its label is that of `volume`. The errno, PM_ERR_NODATA for a file with at most a label,
 * PM_ERR_LABEL, PM_ERR_FEATURE, PM_ERR_LOGREC if it cannot be decompressed, EFBIG if its content exceeds the limits.
 */
export function openLabelled(
  files: ArchiveFiles,
  path: string,
  volume: number,
  anyFeatures: boolean,
): LabelledFile {
  const source = attempt(path, () => files.open(path))
  try {
    const label = decodeLabel(readBytes(source, 0, MAX_LABEL), path, anyFeatures)
    if (label.volume !== volume)
      throw new PcpError('PM_ERR_LABEL', `${path}: its label has volume ${label.volume} instead of ${volume}`)
    if (source.size === labelSize(label.version))
      throw new PcpError('PM_ERR_NODATA', `${path}: it has no data after its label`)
    return { source, label }
  } catch (error) {
    source.close()
    throw fileError(error, path)
  }
}

/** Returns any error of a file as a PcpError: the errno, or PM_ERR_LOGREC if it has none. */
export function fileError(error: unknown, path: string): PcpError {
  const known = PcpError.from(error, path)
  return known.code === 'PM_ERR_GENERIC'
    ? new PcpError('PM_ERR_LOGREC', known.message, { cause: error })
    : known
}

/** Runs an action on a file; any error is thrown as a PcpError. */
export function attempt<T>(path: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw fileError(error, path)
  }
}

/** A data volume, opened by the first read. */
export class Volume {
  readonly number: number
  /** With compression suffix, if any. */
  readonly path: string
  readonly #files: ArchiveFiles
  readonly #anyFeatures: boolean
  #opened: LabelledFile | undefined
  #problem: PcpError | undefined

  /** Does not open the file. */
  constructor(files: ArchiveFiles, number: number, path: string, anyFeatures: boolean) {
    this.number = number
    this.path = path
    this.#files = files
    this.#anyFeatures = anyFeatures
  }

  /** Returns the volume's bytes and label. Throws as `openLabelled`, the same error each time unless the volume only had no record yet. */
  open(): LabelledFile {
    if (this.#opened !== undefined) return this.#opened
    if (this.#problem !== undefined) throw this.#problem
    try {
      this.#opened = openLabelled(this.#files, this.path, this.number, this.#anyFeatures)
      return this.#opened
    } catch (error) {
      const problem = fileError(error, this.path)
      if (isLasting(problem)) this.#problem = problem
      throw problem
    }
  }

  /** The damage for which readers skip this volume; undefined before it is opened. */
  get problem(): PcpError | undefined {
    return this.#problem
  }

  /**
   * As `open`, but undefined for a volume that readers skip because it is damaged or has only a label. Throws errors of the system, such as
   * ESTALE for a replaced file: skipping that would create a gap that was not recorded.
   */
  tryOpen(): LabelledFile | undefined {
    try {
      return this.open()
    } catch (error) {
      if (error instanceof PcpError && error.code.startsWith('PM_ERR_')) return undefined
      throw error
    }
  }

  /** Releases the file; idempotent. */
  close(): void {
    this.#opened?.source.close()
    this.#opened = undefined
  }
}

/** Returns whether an error concerns the content, which will not change, rather than the system or a volume without records. */
function isLasting({ code }: PcpError): boolean {
  return (code.startsWith('PM_ERR_') && code !== 'PM_ERR_NODATA') || code === 'EFBIG'
}
