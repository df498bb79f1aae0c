/** One archive: its metadata file, temporal index and data volumes. docs/formats/archive.md §7 */
import { type ArchiveFiles, type ByteSource, readBytes } from '../base/byte-source.ts'
import { PcpError } from '../model/errors.ts'
import type { MemberFiles } from './file-names.ts'
import { type ArchiveLabel, labelSize, VOLUME_INDEX, VOLUME_META } from './label.ts'
import { decodeIndex, type TemporalIndex } from './temporal-index.ts'
import { truncateAtTear } from './torn.ts'
import { attempt, type LabelledFile, openLabelled, Volume } from './volume.ts'

/** Content of the metadata file, to be combined with those of other members. */
export interface MetaFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Offset of its first record. */
  readonly start: number
}

/** One archive of a context. */
export interface Member {
  /** Path without `.meta` and other suffixes. */
  readonly base: string
  /** Label of the lowest volume. */
  readonly label: ArchiveLabel
  /** Undefined without a temporal index. */
  readonly index: TemporalIndex | undefined
  /** Data volumes, lowest number first. */
  readonly volumes: readonly Volume[]
  readonly meta: MetaFile
}

/**
 * Opens the files of one archive and checks that they belong together. PM_ERR_NODATA, PM_ERR_LABEL, PM_ERR_FEATURE and PM_ERR_LOGREC
 * as `openLabelled`, for the lowest volume, the index and the metadata in this order; records are not checked.
 */
export function openMember(files: ArchiveFiles, found: MemberFiles, anyFeatures: boolean): Member {
  for (const { path } of found.volumes) files.pin?.(path)
  const volumes = found.volumes.map(({ number, path }) => new Volume(files, number, path, anyFeatures))
  try {
    const { label } = volumes[0]!.open()
    const index = readIndex(files, found.index, label, anyFeatures)
    const meta = readMeta(files, found.meta, label, index, anyFeatures)
    return { base: found.base, label, index, volumes, meta }
  } catch (error) {
    closeVolumes(volumes)
    throw error
  }
}

/** Releases the files of data volumes; idempotent. */
export function closeVolumes(volumes: readonly Volume[]): void {
  for (const volume of volumes) volume.close()
}

/** Returns undefined if the index is missing or has no entries, as after a full disk. */
function readIndex(
  files: ArchiveFiles,
  path: string | undefined,
  label: ArchiveLabel,
  anyFeatures: boolean,
): TemporalIndex | undefined {
  if (path === undefined) return undefined
  let opened: LabelledFile
  try {
    opened = openLabelled(files, path, VOLUME_INDEX, anyFeatures)
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_NODATA') return undefined
    throw error
  }
  try {
    checkFamily(path, opened.label, label)
    return decodeIndex(rest(opened.source, labelSize(label.version), path), label.version)
  } finally {
    opened.source.close()
  }
}

function readMeta(
  files: ArchiveFiles,
  path: string,
  label: ArchiveLabel,
  index: TemporalIndex | undefined,
  anyFeatures: boolean,
): MetaFile {
  const opened = openLabelled(files, path, VOLUME_META, anyFeatures)
  try {
    checkFamily(path, opened.label, label)
    const start = labelSize(label.version)
    const bytes = truncateAtTear(rest(opened.source, 0, path), start, index?.metaOffset ?? [])
    return { path, bytes, start }
  } finally {
    opened.source.close()
  }
}

function checkFamily(path: string, its: ArchiveLabel, label: ArchiveLabel): void {
  const { version, pid, hostname } = label
  const problem =
    its.version !== version
      ? `version ${its.version} beside data of version ${version}`
      : its.pid !== pid
        ? `written by process ${its.pid}, the data by ${pid}`
        : its.hostname !== hostname
          ? `from host "${its.hostname}", the data from "${hostname}"`
          : undefined
  if (problem !== undefined) throw new PcpError('PM_ERR_LABEL', `${path}: ${problem}`)
}

function rest(source: ByteSource, start: number, path: string): Uint8Array {
  return attempt(path, () => readBytes(source, start, source.size - start))
}
