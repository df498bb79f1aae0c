/**
 * Versions of the directories that outlive a start: `state.json` in each. Older ones are upgraded step by step, newer ones are refused
 * before anything is written. docs/reference/state.md
 */
import { join } from 'node:path'
import { VERSION } from '../base/version.ts'
import { PcpError } from '../model/errors.ts'
import { type Disk, nodeDisk } from '../sys/disk.ts'
import { holderOf, takeLock } from '../sys/file-lock.ts'
import { readText, writeText } from '../sys/staging.ts'

/** Directories with a version of their own. */
export type StateKind = 'settings' | 'data' | 'archives'

/** One step of an upgrade, from the version that is its position in the table to the next. */
export interface Migration {
  /** What changes, for the log. */
  readonly what: string
  /**
   * Changes the files. It is repeated if the process dies before the new version is recorded, so it must accept its own partial
   * result: outputs are durable before inputs are removed (`upgradeFile`), and a missing file is no error.
   */
  apply(root: string, disk: Disk): void
}

/** The steps of each kind. The length of a list is the version that this program writes. */
export type Migrations = Readonly<Record<StateKind, readonly Migration[]>>

/** The directories of one instance. */
export interface StateRoots {
  /** Undefined for a service, whose settings belong to root. */
  readonly settings: string | undefined
  readonly data: string
  /** Undefined without a recorder, or if its directory cannot be created. */
  readonly archives: string | undefined
}

/** Content of `state.json`. */
export interface StateVersion {
  readonly kind: StateKind
  readonly version: number
  /** Program that wrote this version first. */
  readonly writtenBy: string
  /** When it did, in ISO 8601. */
  readonly since: string
}

/** A step that was applied. */
export interface AppliedMigration {
  readonly kind: StateKind
  readonly from: number
  readonly what: string
}

/** Name of the version file in each directory. */
export const STATE_FILE = 'state.json'
/** Lock in the directory of settings, or of data, held during an upgrade. */
const LOCK = '.state.lock'
const LOCK_LIMIT_MS = 60_000
const NEW = '.new'
const MAX_VERSION = 1_000_000

/** Returns the version of a directory: 0 without a version file. EINVAL for a file that this format does not describe. */
export function readStateVersion(root: string, kind: StateKind, disk: Disk = nodeDisk): number {
  return parseState(root, kind, disk)?.version ?? 0
}

/** Throws ENOTSUP if a directory was written by a newer program. Reads only. */
export function refuseNewerState(roots: StateRoots, migrations: Migrations, disk: Disk = nodeDisk): void {
  for (const [kind, root] of entriesOf(roots)) {
    const state = parseState(root, kind, disk)
    const known = migrations[kind].length
    if (state === undefined || state.version <= known) continue
    throw new PcpError(
      'ENOTSUP',
      `${join(root, STATE_FILE)}: the ${kind} have format ${state.version} of ${state.writtenBy}, and pcp-ts ${VERSION} knows ` +
        `formats up to ${known}. Use that version or a newer one, or other directories: --dir DIR. Nothing was changed.`,
    )
  }
}

/**
 * Upgrades the directories, which must exist, and returns the applied steps. A process that dies at any point leaves directories
 * with which the next start continues. The caller holds the lock.
 */
export function upgradeState(
  roots: StateRoots,
  migrations: Migrations,
  nowMs: number,
  disk: Disk = nodeDisk,
): readonly AppliedMigration[] {
  refuseNewerState(roots, migrations, disk)
  const applied: AppliedMigration[] = []
  for (const [kind, root] of entriesOf(roots)) {
    const steps = migrations[kind]
    for (let from = readStateVersion(root, kind, disk); from < steps.length; from++) {
      const { what, apply } = steps[from]!
      apply(root, disk)
      const state: StateVersion = {
        kind,
        version: from + 1,
        writtenBy: `pcp-ts ${VERSION}`,
        since: new Date(nowMs).toISOString(),
      }
      replaceText(disk, root, STATE_FILE, `${JSON.stringify(state)}\n`)
      applied.push({ kind, from, what })
    }
  }
  return applied
}

/** Runs `work` while no other start upgrades these directories. EBUSY names the process that does for a minute. */
export async function withStateLock<T>(
  roots: StateRoots,
  work: () => T,
  limitMs: number = LOCK_LIMIT_MS,
): Promise<T> {
  const root = roots.settings ?? roots.data
  const path = join(root, LOCK)
  const lock = await takeLock(path, { limitMs })
  if (lock === undefined) {
    const holder = holderOf(path)
    throw new PcpError(
      'EBUSY',
      `${root} is being upgraded by ${holder === undefined ? 'another process' : `process ${holder}`}: ` +
        `wait for it, or remove ${path} if no pcp-ts starts there`,
    )
  }
  try {
    return work()
  } finally {
    lock.release()
  }
}

/**
 * Rewrites one file for a migration. `convert` gets the old text and returns the new one; the output is durable before a differently
 * named input is removed. Without an input nothing happens: there was none, or an earlier attempt got here.
 */
export function upgradeFile(
  disk: Disk,
  root: string,
  { from, to }: { readonly from: string; readonly to: string },
  convert: (text: string) => string,
): void {
  const text = readText(disk, join(root, from))
  if (text === undefined) return
  replaceText(disk, root, to, convert(text))
  if (from === to) return
  disk.unlink(join(root, from))
  disk.syncDirectory(root)
}

/** Replaces a file so that every moment has the old content or the new. Callers hold the lock, so the temporary name is fixed. */
function replaceText(disk: Disk, root: string, name: string, text: string): void {
  const temporary = join(root, `${name}${NEW}`)
  if (disk.lstat(temporary) !== undefined) disk.unlink(temporary)
  writeText(disk, temporary, text)
  disk.rename(temporary, join(root, name))
  disk.syncDirectory(root)
}

function parseState(root: string, kind: StateKind, disk: Disk): StateVersion | undefined {
  const path = join(root, STATE_FILE)
  if (!isPresent(disk, path)) return undefined
  const state = parsed(readText(disk, path))
  const { version, writtenBy } = state
  if (
    state.kind !== kind ||
    typeof version !== 'number' ||
    !Number.isInteger(version) ||
    version < 1 ||
    version > MAX_VERSION ||
    typeof writtenBy !== 'string'
  )
    throw new PcpError(
      'EINVAL',
      `${path} is not the version file of a directory of ${kind}: move it away if these are ${kind} of pcp-ts, or use other ` +
        'directories: --dir DIR',
    )
  return { kind, version, writtenBy, since: String(state.since) }
}

function isPresent(disk: Disk, path: string): boolean {
  try {
    return disk.stat(path) !== undefined
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOTDIR') return false // creating the directory reports it
    throw PcpError.from(error)
  }
}

function parsed(text: string | undefined): Partial<Record<keyof StateVersion, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {} // reported with its path
  }
}

function entriesOf({ settings, data, archives }: StateRoots): readonly (readonly [StateKind, string])[] {
  return [
    ...(settings === undefined ? [] : [['settings', settings] as const]),
    ['data', data],
    ...(archives === undefined ? [] : [['archives', archives] as const]),
  ]
}
