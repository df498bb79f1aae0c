/** The files of an archive that is followed: found by name, compressed or not, and checked to be the same archive. */
import { type ArchiveFiles, type ByteSource, readBytes } from '../../base/byte-source.ts'
import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { compareTimes } from '../../time/arithmetic.ts'
import { Listings, type MemberFiles } from '../file-names.ts'
import { type ArchiveLabel, decodeLabel, labelSize, VOLUME_META } from '../label.ts'
import type { WindowTarget } from '../record-window.ts'
import { attempt, fileError } from '../volume.ts'
import { MetaTail, stale } from './metadata.ts'

/** Distinguishes archives of the same name. */
export interface ArchiveIdentity {
  readonly start: Timestamp
  readonly pid: number
}

/** An open volume. */
export interface FollowedVolume {
  readonly path: string
  /** A copy makes a window read the file again. */
  target: WindowTarget
  close(): void
}

/** Most bytes of a label. */
const LABEL_BYTES = 808

/** See above. */
export class FollowedFiles {
  label: ArchiveLabel | undefined
  readonly #base: string
  readonly #files: ArchiveFiles
  readonly #anyFeatures: boolean
  readonly #open = new Set<ByteSource>()
  #identity: ArchiveIdentity | undefined

  constructor(base: string, files: ArchiveFiles, anyFeatures: boolean) {
    this.#base = base
    this.#files = files
    this.#anyFeatures = anyFeatures
  }

  /** Accepts only this archive. */
  expect({ start, pid }: ArchiveIdentity): void {
    this.#identity = { start, pid }
  }

  /** Opens the metadata at an offset, by default the first record; undefined before the label is written. ENOENT, ESTALE. */
  meta(offset: number | undefined): MetaTail | undefined {
    const path = this.#found()?.meta
    const opened = path === undefined ? undefined : this.#labelled(path, VOLUME_META)
    if (path === undefined || opened === undefined) return undefined
    this.label ??= opened.label
    return new MetaTail(opened.source, path, offset ?? labelSize(opened.label.version))
  }

  /** Returns the numbers of the volumes, ascending. ENOENT if no file of the archive is left. */
  volumes(): readonly number[] {
    return this.#found()?.volumes.map(({ number }) => number) ?? []
  }

  /** Opens a volume; undefined if it is missing or has no label yet. */
  open(number: number): FollowedVolume | undefined {
    const path = this.#found()?.volumes.find((each) => each.number === number)?.path
    const opened = path === undefined ? undefined : this.#labelled(path, number)
    if (path === undefined || opened === undefined) return undefined
    const { source, label } = opened
    const start = labelSize(label.version)
    return {
      path,
      target: { source, path, version: label.version, volume: number, member: 0, start },
      close: () => this.#close(source),
    }
  }

  /** Throws ENOENT if the archive was removed, ESTALE if another one has its name. */
  check(): void {
    const path = this.#found()?.meta
    // Compressed metadata does not change, and is expensive to open.
    if (path?.endsWith('.meta') !== true) return
    const opened = this.#labelled(path, VOLUME_META)
    if (opened !== undefined) this.#close(opened.source)
  }

  /** Closes all files; they can be opened again. */
  close(): void {
    for (const source of this.#open) source.close()
    this.#open.clear()
  }

  #close(source: ByteSource): void {
    source.close()
    this.#open.delete(source)
  }

  /** Returns the names of the files; undefined if some are missing, as when an archive is created. */
  #found(): MemberFiles | undefined {
    try {
      return new Listings(this.#files).member(this.#base)
    } catch (error) {
      if (error instanceof PcpError && error.code === 'PM_ERR_LOGFILE') return undefined
      throw error
    }
  }

  /** Opens a file and checks its label; undefined if the label is incomplete, or the file was just renamed. */
  #labelled(
    path: string,
    volume: number,
  ): { readonly source: ByteSource; readonly label: ArchiveLabel } | undefined {
    let source: ByteSource
    try {
      source = this.#files.open(path)
    } catch (error) {
      const known = fileError(error, path)
      if (known.code === 'ENOENT') return undefined
      throw known
    }
    this.#open.add(source)
    try {
      const head = attempt(path, () => readBytes(source, 0, LABEL_BYTES))
      const length = head.length < 4 ? 0 : new DataView(head.buffer, head.byteOffset).getInt32(0)
      if (head.length < 8 || (head.length < length && length <= LABEL_BYTES)) {
        this.#close(source)
        return undefined
      }
      const label = decodeLabel(head, path, this.#anyFeatures)
      if (label.volume !== volume)
        throw new PcpError(
          'PM_ERR_LABEL',
          `${path}: its label has volume ${label.volume} instead of ${volume}`,
        )
      this.#checkIdentity(path, label, volume === VOLUME_META)
      return { source, label }
    } catch (error) {
      this.#close(source)
      throw error
    }
  }

  #checkIdentity(path: string, label: ArchiveLabel, checksStart: boolean): void {
    const known = this.#identity
    if (known === undefined) this.#identity = { start: label.start, pid: label.pid }
    else if (known.pid !== label.pid || (checksStart && compareTimes(known.start, label.start) !== 0))
      throw stale(path, 'was replaced by another archive')
  }
}
