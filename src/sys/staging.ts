/**
 * Staging directories: where files are made before they replace others, and how every process sees whether they already have.
 * docs/formats/staging.md
 *
 *     archives/
 *       20260101.00.10.{0,index,meta}     inputs
 *       .pcp-ts.OWNER-TOKEN/              staging directory, OWNER its process
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
/** Name of the file that leads from a staging directory to the one with the manifest. */
export const COORDINATOR = 'coordinator'

/** A file as it was when it was listed: what proves that it is still the same. */
export interface FileMark {
  /** Absolute. */
  readonly path: string
  readonly ino: number
  readonly size: number
  readonly mtimeMs: number
}

/** A staged file and the name it gets. */
export interface StagedFile extends FileMark {
  /** Absolute. */
  readonly to: string
}

/** What a transaction does: its outputs get their names, in this order, then its inputs go, in this order. */
export interface Manifest {
  readonly outputs: readonly StagedFile[]
  readonly inputs: readonly FileMark[]
}

const PREFIX = '.pcp-ts.'
const VERSION = 1
const TEXT_MODE = 0o644
/** A manifest names a few files a volume; anything larger is not one. */
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
export function isOwn(name: string): boolean {
  return isOwnName(name.slice(PREFIX.length))
}

/** Returns whether the process that made a staging directory has certainly ended; undefined for one of another host or container. */
export function hasOwnerEnded(name: string): boolean | undefined {
  return hasNameEnded(name.slice(PREFIX.length))
}

/** The staging directory with the manifest that decides about this one: itself, or where its `coordinator` file leads. */
export function coordinatorOf(disk: Disk, staging: string): string {
  const path = readText(disk, join(staging, COORDINATOR))?.trim()
  return path === undefined || path === '' ? staging : resolve(dirname(staging), path)
}

/**
 * The manifest of a staging directory; undefined before the commit, and after the transaction is complete; `newer` for one of a later
 * version of this package, which only that can complete.
 */
export function readManifest(disk: Disk, coordinator: string): Manifest | 'newer' | undefined {
  const text = readText(disk, join(coordinator, COMMIT))
  return text === undefined ? undefined : parseManifest(text, dirname(coordinator))
}

/** Makes the text of a manifest. Paths are relative to the directory that contains the staging directory, which may be moved. */
export function formatManifest({ outputs, inputs }: Manifest, directory: string): string {
  const mark = ({ path, ...rest }: FileMark): FileMark => ({ path: relative(directory, path), ...rest })
  const text = {
    version: VERSION,
    outputs: outputs.map(({ to, ...file }) => ({ to: relative(directory, to), ...mark(file) })),
    inputs: inputs.map(mark),
  }
  return `${JSON.stringify(text)}\n`
}

/** Undefined for any other text. */
function parseManifest(text: string, directory: string): Manifest | 'newer' | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined // not written by us: the manifest gets its name when it is complete
  }
  const { version, outputs, inputs } = (parsed ?? {}) as {
    version?: unknown
    outputs?: unknown
    inputs?: unknown
  }
  if (typeof version === 'number' && version > VERSION) return 'newer'
  if (version !== VERSION || !isMarks(outputs) || !isMarks(inputs)) return undefined
  const absolute = <T extends FileMark>(mark: T): T => ({ ...mark, path: resolve(directory, mark.path) })
  const staged: StagedFile[] = []
  for (const output of outputs) {
    const { to } = output as Partial<StagedFile>
    if (typeof to !== 'string') return undefined
    staged.push({ ...absolute(output), to: resolve(directory, to) })
  }
  return { outputs: staged, inputs: inputs.map(absolute) }
}

function isMarks(value: unknown): value is FileMark[] {
  const isMark = (mark: Partial<FileMark> | null): boolean =>
    typeof mark?.path === 'string' &&
    [mark.ino, mark.size, mark.mtimeMs].every((number) => typeof number === 'number')
  return Array.isArray(value) && value.every(isMark)
}

/** Marks a file in its present state; undefined for a missing one. */
export function markFile(disk: Disk, path: string): FileMark | undefined {
  const stat = disk.stat(path)
  return stat && { path, ino: stat.ino, size: stat.size, mtimeMs: stat.mtimeMs }
}

/** Returns whether a file is unchanged since it was marked. */
export function isUnchanged(disk: Disk, mark: FileMark): boolean {
  return isPresent(disk, mark) && disk.stat(mark.path)?.mtimeMs === mark.mtimeMs
}

/** Returns whether an input is still there, after a power cut too, which may have taken its times back. */
export function isPresent(disk: Disk, input: FileMark): boolean {
  return isSameFile(disk, input, input.path)
}

/** Returns whether an output still has its staged name. */
export function isStaged(disk: Disk, output: StagedFile): boolean {
  return isSameFile(disk, output, output.path)
}

/** Its times may be set meanwhile, but renaming changes neither inode nor content. */
function isSameFile(disk: Disk, { ino, size }: FileMark, path: string): boolean {
  const stat = disk.stat(path)
  return stat?.ino === ino && stat.size === size
}

/**
 * Returns whether a transaction with this manifest is committed. It is not when outputs are missing and none has its final name yet: then
 * the commit failed, the outputs were being removed, and the inputs must stay.
 */
export function isCommitted(disk: Disk, { outputs }: Manifest): boolean {
  const staged = outputs.filter((output) => isStaged(disk, output)).length
  return staged === outputs.length || outputs.some((output) => isSameFile(disk, output, output.to))
}

/** Reads a small file; undefined for a missing one. */
function readText(disk: Disk, path: string): string | undefined {
  const size = disk.stat(path)?.size
  if (size === undefined || size > MAX_TEXT) return undefined
  let fd: number
  try {
    fd = disk.open(path, constants.O_RDONLY)
  } catch {
    return undefined // gone since, or not for us to read
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

/** Makes a file with a text, on stable storage. EEXIST when there is one. */
export function writeText(disk: Disk, path: string, text: string): void {
  const fd = disk.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, TEXT_MODE)
  try {
    disk.setMode(fd, TEXT_MODE) // whatever the umask: every reader of the directory needs it
    const bytes = encodeText(text)
    for (let used = 0; used < bytes.length; ) used += disk.write(fd, bytes.subarray(used))
    disk.sync(fd)
  } finally {
    disk.close(fd)
  }
}
