/** Completes committed transactions and rolls back others after their process has ended. docs/formats/staging.md */
import { dirname, join, resolve } from 'node:path'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import {
  COMMIT,
  coordinatorOf,
  hasOwnerEnded,
  isCommitted,
  isOwnStaging,
  isPresent,
  isStaged,
  isStaging,
  type Manifest,
  readManifest,
} from '../sys/staging.ts'

/** Environment of a recovery; only the defaults are used outside tests. */
export interface RecoveryOptions {
  readonly disk?: Disk
  /** Owner of the staging directories to complete. Default: the effective user of this process. */
  readonly uid?: number | undefined
  /** Returns whether the process that made a staging directory of that name has ended; undefined if unknown. */
  readonly hasEnded?: (name: string) => boolean | undefined
  /** Wall clock in milliseconds. */
  readonly nowMs?: () => number
}

/** Staging directories of active transactions of this process. */
const active = new Set<string>()

/** Protects a staging directory of this process from recovery until `endStaging`. */
export function beginStaging(staging: string): void {
  active.add(staging)
}

/** Ends the protection of a staging directory. */
export function endStaging(staging: string): void {
  active.delete(staging)
}

/** Age at which a staging directory of an unknown process is considered abandoned. */
const ABANDONED_MS = 86_400_000

/**
 * Recovers a directory whose lock the caller holds. Tries everything, then throws the first of Node's errors; those of transactions
 * that do not affect the caller's files are left to later recoveries.
 */
export function recoverLocked(
  directory: string,
  options: RecoveryOptions = {},
  concerns: (path: string) => boolean = () => true,
): void {
  const { disk = nodeDisk } = options
  const errors: unknown[] = []
  for (const name of disk.list(directory)) {
    if (!isStaging(name)) continue
    const staging = join(resolve(directory), name)
    if (!isTrusted(staging, options) || !isAbandoned(staging, name, options)) continue
    try {
      recoverOne(staging, options)
    } catch (error) {
      if (filesOf(staging, disk).some(concerns)) errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

/** Returns the final paths of outputs, and the inputs, of a committed transaction. */
function filesOf(staging: string, disk: Disk): string[] {
  const manifest = readManifest(disk, coordinatorOf(disk, staging))
  if (manifest === undefined || manifest === 'newer') return []
  return [...manifest.outputs.map(({ to }) => to), ...manifest.inputs.map(({ path }) => path)]
}

function recoverOne(staging: string, options: RecoveryOptions): void {
  const { disk = nodeDisk } = options
  const coordinator = coordinatorOf(disk, staging)
  if (coordinator !== staging && !isTrusted(coordinator, options) && disk.stat(coordinator) !== undefined)
    return
  const manifest = readManifest(disk, coordinator)
  if (manifest === 'newer') return
  if (manifest !== undefined && isCommitted(disk, manifest))
    applyManifest(coordinator, manifest, [staging], disk)
  else removeStaging(staging, disk)
}

/** Returns whether a staging directory may be processed. Those of other users, and links, are ignored, so that no one can make this process rename or remove files. */
function isTrusted(
  staging: string,
  { disk = nodeDisk, uid = process.geteuid?.() }: RecoveryOptions,
): boolean {
  const own = disk.lstat(staging)
  return own?.isDirectory === true && (uid === undefined || own.uid === uid)
}

function isAbandoned(
  staging: string,
  name: string,
  { disk = nodeDisk, hasEnded = hasOwnerEnded, nowMs = Date.now }: RecoveryOptions,
): boolean {
  const known = hasEnded(name)
  if (known === false && isOwnStaging(name)) return !active.has(staging)
  if (known !== undefined) return known
  return nowMs() - (disk.stat(staging)?.mtimeMs ?? 0) > ABANDONED_MS
}

/**
 * Renames outputs, removes inputs, and then removes staging directories. Can be repeated from any point. `stagings` are those of the
 * transaction that are known besides the coordinator's.
 */
export function applyManifest(
  coordinator: string,
  manifest: Manifest,
  stagings: readonly string[],
  disk: Disk,
): void {
  const { outputs, inputs } = manifest
  const parents = new Set<string>()
  for (const output of outputs) {
    if (isStaged(disk, output)) ignoreMissing(() => disk.rename(output.path, output.to))
    parents.add(dirname(output.to))
  }
  for (const parent of parents) disk.syncDirectory(parent)
  for (const input of inputs) {
    if (isPresent(disk, input)) ignoreMissing(() => disk.unlink(input.path))
    parents.add(dirname(input.path))
  }
  for (const parent of parents) disk.syncDirectory(parent)
  for (const staging of new Set([...stagings, ...stagingsOf(manifest)]))
    if (staging !== coordinator) removeStaging(staging, disk)
  removeStaging(coordinator, disk)
}

/** Removes a staging directory, its manifest first and durably, because without the other files it would be misread. */
export function removeStaging(staging: string, disk: Disk): void {
  const manifest = join(staging, COMMIT)
  if (disk.stat(manifest) !== undefined) {
    disk.unlink(manifest)
    disk.syncDirectory(staging)
  }
  removeTree(staging, disk)
}

function stagingsOf({ outputs }: Manifest): string[] {
  return outputs
    .map(({ path }) => dirname(path))
    .filter((path) => isStaging(path.slice(path.lastIndexOf('/') + 1)))
}

/** Removes a directory with everything in it, if it exists. */
function removeTree(path: string, disk: Disk): void {
  const stat = disk.lstat(path)
  if (stat === undefined) return
  ignoreMissing(() => {
    if (!stat.isDirectory) {
      disk.unlink(path)
      return
    }
    for (const name of disk.list(path)) removeTree(join(path, name), disk)
    disk.rmdir(path)
  })
}

/** Ignores ENOENT: another process may be recovering the same transaction from another of its directories. */
function ignoreMissing(action: () => void): void {
  try {
    action()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
  }
}
