/**
 * The label record at the start of every archive file. docs/formats/archive.md §3
 *
 *     version 2, 132 bytes: 0 length   4 magic   8 pid   12 start (8)    20 volume   24 host (64)   88 zone (40)   128 length
 *     version 3, 808 bytes: 0 length   4 magic   8 pid   12 start (12)   24 volume   28 features   32 0
 *                           36 host (256)   292 zone (256)   548 zoneinfo (256)   804 length
 */
import { decodeText, encodeText } from '../base/text.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { type ArchiveVersion, readStamp, writeStamp } from './stamp.ts'

/** Volume number in the label of the temporal index. */
export const VOLUME_INDEX = -2
/** Volume number in the label of the metadata. */
export const VOLUME_META = -1

/** Content of a label. @see pmGetArchiveLabel(3) */
export interface ArchiveLabel {
  readonly version: ArchiveVersion
  /** Process that wrote the archive. */
  readonly pid: number
  /** Start of the archive, the same in all its files. */
  readonly start: Timestamp
  /** VOLUME_INDEX, VOLUME_META, or the number of a data volume. */
  readonly volume: number
  /** Feature bits, 0 in version 2. */
  readonly features: number
  readonly hostname: string
  /** As in $TZ. */
  readonly timezone: string
  /** As `:Australia/Melbourne`; '' in version 2. */
  readonly zoneinfo: string
}

const MAGIC = 0x50052600
/** Reserved for tests; has no effect. */
const KNOWN_FEATURES = 0x80000000

/** Returns the size of a label record, after which the first record or index entry starts. */
export function labelSize(version: ArchiveVersion): 132 | 808 {
  return version === 2 ? 132 : 808
}

/** Encodes a label record; texts are truncated to their fields. */
export function encodeLabel(label: ArchiveLabel): Uint8Array {
  const size = labelSize(label.version)
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  view.setInt32(0, size)
  view.setInt32(4, MAGIC | label.version)
  view.setInt32(8, label.pid)
  const at = writeStamp(view, 12, label.start, label.version)
  view.setInt32(at, label.volume)
  if (label.version === 2) {
    putText(bytes, 24, 64, label.hostname)
    putText(bytes, 88, 40, label.timezone)
  } else {
    view.setUint32(28, label.features)
    putText(bytes, 36, 256, label.hostname)
    putText(bytes, 292, 256, label.timezone)
    putText(bytes, 548, 256, label.zoneinfo)
  }
  view.setInt32(size - 4, size)
  return bytes
}

/**
 * Decodes the label at the start of a file, of which `bytes` may be the first 808 bytes; `file` is for messages. PM_ERR_NODATA
 * for fewer than 8 bytes, PM_ERR_LABEL for anything but a valid label of version 2 or 3, PM_ERR_FEATURE for
 * unknown feature bits unless `anyFeatures`.
 */
export function decodeLabel(bytes: Uint8Array, file: string, anyFeatures = false): ArchiveLabel {
  if (bytes.length < 8)
    throw new PcpError('PM_ERR_NODATA', `${file}: it has no label, only ${bytes.length} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = versionOf(view, file)
  const size = labelSize(version)
  if (view.getInt32(0) !== size) throw bad(file, `length ${view.getInt32(0)} instead of ${size}`)
  if (bytes.length < size) throw bad(file, `truncated after ${bytes.length} bytes`)
  if (view.getInt32(size - 4) !== size)
    throw bad(file, `trailing length ${view.getInt32(size - 4)} instead of ${size}`)
  const features = version === 2 ? 0 : view.getUint32(28)
  const unknown = (features & ~KNOWN_FEATURES) >>> 0
  if (unknown !== 0 && !anyFeatures)
    throw new PcpError('PM_ERR_FEATURE', `${file}: feature bits 0x${unknown.toString(16)} are not supported`)
  return {
    version,
    pid: view.getInt32(8),
    start: readStamp(view, 12, version),
    volume: view.getInt32(version === 2 ? 20 : 24),
    features,
    hostname: version === 2 ? text(bytes, 24, 64) : text(bytes, 36, 256),
    timezone: version === 2 ? text(bytes, 88, 40) : text(bytes, 292, 256),
    zoneinfo: version === 2 ? '' : text(bytes, 548, 256),
  }
}

function versionOf(view: DataView, file: string): ArchiveVersion {
  const magic = view.getInt32(4)
  if ((magic & ~0xff) !== MAGIC)
    throw bad(file, `magic number 0x${(magic >>> 0).toString(16)}: not an archive file`)
  const version = magic & 0xff
  if (version === 1) throw bad(file, 'version 1 of the format, of PCP before 2.0, is not supported')
  if (version !== 2 && version !== 3) throw bad(file, `version ${version} of the format is not supported`)
  return version
}

function bad(file: string, why: string): PcpError {
  return new PcpError('PM_ERR_LABEL', `${file}: bad label: ${why}`)
}

function text(bytes: Uint8Array, at: number, width: number): string {
  const end = bytes.subarray(at, at + width).indexOf(0)
  return decodeText(bytes, at, at + (end === -1 ? width : end))
}

function putText(bytes: Uint8Array, at: number, width: number, value: string): void {
  bytes.set(encodeText(value).subarray(0, width - 1), at)
}
