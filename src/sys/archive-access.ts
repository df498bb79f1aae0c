/** Access to archives: modes and groups of the files that writers create. docs/reference/pmlogger.md */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Variables } from './config.ts'
import type { Disk } from './disk.ts'
import { giveDir } from './make-dir.ts'
import { openAccounts } from './native/accounts.ts'

/** User and group of a file. */
export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/** How new files are created. */
export interface ArchiveAccess {
  /** Mode of new files, less the umask unless `keepsMode`. */
  readonly mode: number
  /** Ignores the umask: the mode is that of the replaced files. */
  readonly keepsMode?: boolean
  /** Owner of new files. If this process may not change their owner, their group gets no access. */
  readonly owner?: FileOwner
}

/** Mode of archives. They contain data that a collector shows only to some users, such as environments of processes. */
export const ARCHIVE_MODE = 0o640
const OWN_RIGHTS = 0o600
const READ_AND_WRITE = 0o666

/**
 * Returns how to create archives in a directory: with the octal mode of PCP_ARCHIVE_MODE and, for root, the group of the directory if
 * it is PCP's or another account's.
 */
export function archiveAccess(directory: string, variables: Variables): ArchiveAccess {
  const gid = inheritedGroup(directory, variables)
  return { mode: archiveMode(variables), ...(gid === undefined ? {} : { owner: { uid: 0, gid } }) }
}

/** Creates a directory for archives with missing parents, with the mode of `archiveDirMode`. Throws as mkdirSync does. */
export function makeArchiveDir(path: string, variables: Variables): void {
  makeMissing(path, archiveDirMode(variables), variables)
}

/** Returns the mode of directories for archives: all who may read an archive may enter. */
export function archiveDirMode(variables: Variables): number {
  const mode = archiveMode(variables)
  return mode | ((mode & 0o444) >> 2)
}

/** Returns how to create a file that replaces others: readable only for those who could read all of them. */
export function accessOfReplaced(paths: readonly string[], disk: Disk): ArchiveAccess | undefined {
  const replaced = paths.flatMap((path) => disk.stat(path) ?? [])
  const [first] = replaced
  if (first === undefined) return undefined
  const { uid, gid } = first
  const hasOneOwner = replaced.every((other) => other.uid === uid && other.gid === gid)
  const mode = replaced.reduce((bits, other) => bits & other.mode, READ_AND_WRITE) | OWN_RIGHTS
  if (!hasOneOwner) return { mode: mode & ~0o070, keepsMode: true }
  const isOurs = uid === process.geteuid?.() && gid === process.getegid?.()
  return { mode, keepsMode: true, ...(isOurs ? {} : { owner: { uid, gid } }) }
}

function archiveMode({ PCP_ARCHIVE_MODE: text }: Variables): number {
  // An invalid setting must not open archives to more accounts than intended.
  if (text === undefined || !/^0?[0-7]{3}$/.test(text)) return ARCHIVE_MODE
  return (Number.parseInt(text, 8) & READ_AND_WRITE) | OWN_RIGHTS
}

/** Returns the group for archives that root creates in a directory of another account, or of PCP's group. */
function inheritedGroup(directory: string, variables: Variables): number | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const { uid, gid } = statSync(directory, { throwIfNoEntry: false }) ?? { uid: 0, gid: 0 }
  if (gid === 0) return undefined
  return uid !== 0 || gid === openAccounts().groupId(variables['PCP_GROUP'] ?? 'pcp') ? gid : undefined
}

function makeMissing(path: string, mode: number, variables: Variables): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  const parent = dirname(path)
  if (parent !== path) makeMissing(parent, mode, variables)
  try {
    mkdirSync(path, mode)
  } catch (error) {
    // Another process may have created it just now.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
    return
  }
  const gid = inheritedGroup(parent, variables)
  if (gid !== undefined) giveDir(path, { uid: 0, gid })
}
