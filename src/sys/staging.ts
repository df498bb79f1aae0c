/**
 * Staging directories, in which files are made before they replace others, with the rules by which every process sees whether they have.
 * docs/formats/staging.md
 *
 *     archives/
 *       20260101.00.10.{0,index,meta}     inputs
 *       .pcp-ts.OWNER-TOKEN/              staging directory, made by process OWNER
 *         20260101.{0,index,meta}         outputs, complete
 *         commit                          manifest: from here on the outputs are valid and the inputs are not
 *       other/.pcp-ts.OWNER-TOKEN/        outputs in another directory
 *         coordinator                     path of the staging directory that has the manifest
 */
import { constants } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { decodeText, encodeText } from '../base/text.ts'
import type { Disk } from './disk.ts'
import { hasNameEnded, isOwnedName, isOwnName, ownedName } from './process-identity.ts'

/** Name of the manifest in a staging directory. */
export const COMMIT = 'commit'
/** Name of the file that points from a staging directory to the one with the manifest. */
export const COORDINATOR = 'coordinator'

/** Identity of a file, to detect changes. */
export interface FileIdentity {
  /** Absolute. */
  readonly path: string
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
}

/** A staged file and its final name. */
export interface StagedFile extends FileIdentity {
  /** Absolute. */
  readonly to: string
}

/** A transaction: first the outputs are renamed, in this order, then the inputs are removed, in this order. */
export interface Manifest {
  readonly outputs: readonly StagedFile[]
  readonly inputs: readonly FileIdentity[]
}

const PREFIX = '.pcp-ts.'
const VERSION = 1
const TEXT_MODE = 0o644
/** Largest manifest: it lists only a few files per volume. */
const MAX_TEXT = 1 << 26

/** Returns a new name for a staging directory of this process. */
export function stagingName(): string {
  return `${PREFIX}${ownedName()}`
}

/** Returns whether a name is that of a staging directory. */
export function isStaging(name: string): boolean {
  return name.startsWith(PREFIX) && isOwnedName(name.slice(PREFIX.length))
}

/** Returns whether a staging directory of that name was made by this process. */
export function isOwnStaging(name: string): boolean {
  return isOwnName(name.slice(PREFIX.length))
}

/** Returns whether the process that made a staging directory has certainly ended; undefined for other hosts and containers. */
export function hasOwnerEnded(name: string): boolean | undefined {
  return hasNameEnded(name.slice(PREFIX.length))
}

/** Returns the staging directory whose manifest applies: itself, or the directory named in its `coordinator` file. */
export function coordinatorOf(disk: Disk, staging: string): string {
  const path = readText(disk, join(staging, COORDINATOR))?.trim()
  return path === undefined || path === '' ? staging : resolve(dirname(staging), path)
}

/**
 * Reads the manifest of a staging directory. Returns undefined before the commit and after completion, and `newer` for a
 * later version of this package, which only that version can complete.
 */
export function readManifest(disk: Disk, coordinator: string): Manifest | 'newer' | undefined {
  const text = readText(disk, join(coordinator, COMMIT))
  return text === undefined ? undefined : parseManifest(text, dirname(coordinator))
}

/** Formats a manifest. Paths are relative to the directory that contains the staging directory, which may be moved. */
export function formatManifest({ outputs, inputs }: Manifest, directory: string): string {
  const mark = ({ path, ...rest }: FileIdentity): FileIdentity => ({
    path: relative(directory, path),
    ...rest,
  })
  const text = {
    version: VERSION,
    outputs: outputs.map(({ to, ...file }) => ({ to: relative(directory, to), ...mark(file) })),
    inputs: inputs.map(mark),
  }
  return `${JSON.stringify(text)}\n`
}

/** Returns undefined for any other text. */
function parseManifest(text: string, directory: string): Manifest | 'newer' | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined // not a manifest: those are renamed to this name only when complete
  }
  const { version, outputs, inputs } = (parsed ?? {}) as {
    version?: unknown
    outputs?: unknown
    inputs?: unknown
  }
  if (typeof version === 'number' && version > VERSION) return 'newer'
  if (version !== VERSION || !isMarks(outputs) || !isMarks(inputs)) return undefined
  const absolute = <T extends FileIdentity>(mark: T): T => ({ ...mark, path: resolve(directory, mark.path) })
  const staged: StagedFile[] = []
  for (const output of outputs) {
    const { to } = output as Partial<StagedFile>
    if (typeof to !== 'string') return undefined
    staged.push({ ...absolute(output), to: resolve(directory, to) })
  }
  return { outputs: staged, inputs: inputs.map(absolute) }
}

function isMarks(value: unknown): value is FileIdentity[] {
  const isMark = (mark: Partial<FileIdentity> | null): boolean =>
    typeof mark?.path === 'string' &&
    [mark.ino, mark.size, mark.mtimeMs].every((number) => typeof number === 'number')
  return Array.isArray(value) && value.every(isMark)
}

/** Records the identity of a file; undefined for a missing one. */
export function identifyFile(disk: Disk, path: string): FileIdentity | undefined {
  const stat = disk.stat(path)
  return stat && { path, ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs }
}

/** Returns whether a file is unchanged since `identifyFile`. */
export function isUnchanged(disk: Disk, mark: FileIdentity): boolean {
  return isPresent(disk, mark) && disk.stat(mark.path)?.mtimeMs === mark.mtimeMs
}

/** Returns whether an input still exists. Times are ignored: a power cut may have reverted them. */
export function isPresent(disk: Disk, input: FileIdentity): boolean {
  return isSameFile(disk, input, input.path)
}

/** Returns whether an output still has its staged name. */
export function isStaged(disk: Disk, output: StagedFile): boolean {
  return isSameFile(disk, output, output.path)
}

/** Times may change, but renaming affects neither inode nor size. */
function isSameFile(disk: Disk, { ino, size }: FileIdentity, path: string): boolean {
  const stat = disk.stat(path)
  return stat?.ino === ino && stat.size === size
}

/**
 * Returns whether a transaction with this manifest is committed. If outputs are missing and none has its final name yet, the
 * commit failed and its outputs were being removed, so the inputs must stay.
 */
export function isCommitted(disk: Disk, { outputs }: Manifest): boolean {
  const staged = outputs.filter((output) => isStaged(disk, output)).length
  return staged === outputs.length || outputs.some((output) => isSameFile(disk, output, output.to))
}

/** Reads a small file; undefined for a missing one. */
export function readText(disk: Disk, path: string): string | undefined {
  const size = disk.stat(path)?.size
  if (size === undefined || size > MAX_TEXT) return undefined
  let fd: number
  try {
    fd = disk.open(path, constants.O_RDONLY)
  } catch {
    return undefined // removed meanwhile, or not readable
  }
  try {
    const bytes = new Uint8Array(size)
    let used = 0
    for (let got = 1; used < size && got > 0; used += got) got = disk.read(fd, bytes.subarray(used), used)
    return decodeText(bytes.subarray(0, used))
  } finally {
    disk.close(fd)
  }
}

/** Creates a text file on stable storage. Throws EEXIST if the file exists. */
export function writeText(disk: Disk, path: string, text: string): void {
  const fd = disk.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, TEXT_MODE)
  try {
    disk.setMode(fd, TEXT_MODE) // regardless of the umask: every reader of the directory needs it
    const bytes = encodeText(text)
    for (let used = 0; used < bytes.length; ) used += disk.write(fd, bytes.subarray(used))
    disk.sync(fd)
  } finally {
    disk.close(fd)
  }
}
