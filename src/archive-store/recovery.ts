/** Completing transactions that were committed, and undoing those that were not, after their process ended. docs/formats/staging.md */
import { dirname, join, resolve } from 'node:path'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import {
  COMMIT,
  coordinatorOf,
  hasOwnerEnded,
  isCommitted,
  isOwn,
  isPresent,
  isStaged,
  isStaging,
  type Manifest,
  readManifest,
} from '../sys/staging.ts'

/** What recovery knows of this process. All but the defaults are for tests. */
export interface RecoveryOptions {
  readonly disk?: Disk
  /** Whose staging directories are completed. Default the effective user of this process. */
  readonly uid?: number | undefined
  /** Returns whether the process that made a staging directory of that name has ended; undefined when that is not known. */
  readonly hasEnded?: (name: string) => boolean | undefined
  /** Wall clock in milliseconds. */
  readonly nowMs?: () => number
}

/** Staging directories of transactions of this process that have not ended. */
const active = new Set<string>()

/** Keeps a staging directory of this process from being recovered until `endStaging`. */
export function beginStaging(staging: string): void {
  active.add(staging)
}

/** Leaves a staging directory, if it still exists, to recovery. */
export function endStaging(staging: string): void {
  active.delete(staging)
}

/** A staging directory of an unknown process that nobody has touched for so long is abandoned. */
const ABANDONED_MS = 86_400_000

/**
 * Recovers a directory whose lock the caller holds. Throws the first of Node's errors after trying everything; those of transactions none
 * of whose files concern the caller are left to the next one.
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

/** Final paths of outputs, and inputs, of a committed transaction. */
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

/** No other user can make this process remove or rename files: their staging directories, and links, are left alone. */
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
  if (known === false && isOwn(name)) return !active.has(staging)
  if (known !== undefined) return known
  return nowMs() - (disk.stat(staging)?.mtimeMs ?? 0) > ABANDONED_MS
}

/**
 * Gives outputs their names, removes inputs, and then what was staged. Can be done again from any point. `stagings` are those of the
 * transaction that are known beside the coordinator's.
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

/** Removes a staging directory: its manifest durably first, as without the other files it would be misread. */
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

/** Removes a directory with everything in it, or nothing when there is none. */
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

/** Another process may be recovering the same transaction from another of its directories. */
function ignoreMissing(action: () => void): void {
  try {
    action()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
  }
}
