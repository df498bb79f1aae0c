/**
 * Directories as readers should see them: with the outputs, and without the inputs, of transactions that are committed but
 * incomplete, for example after a crash.
 */
import { dirname, join, resolve } from 'node:path'
import { type Disk, nodeDisk } from './disk.ts'
import {
  coordinatorOf,
  isCommitted,
  isPresent,
  isStaged,
  isStaging,
  type Manifest,
  readManifest,
} from './staging.ts'

/** Names in a directory, and the files that do not have their final names yet. */
export interface DirectoryView {
  readonly names: readonly string[]
  /** Absolute path as seen by readers → absolute path of the staged file. */
  readonly staged: ReadonlyMap<string, string>
  /** A transaction is under way, and may be committed without a change of the directory. */
  readonly hasTransaction: boolean
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Lists a directory. Throws Node's error. */
export function viewDirectory(directory: string, disk: Disk = nodeDisk): DirectoryView {
  const listed = disk.list(directory)
  if (!listed.some(isStaging)) return { names: listed, staged: NONE, hasTransaction: false }
  const names = new Set(listed)
  const staged = new Map<string, string>()
  const here = disk.realpath(resolve(directory))
  const isHere = (path: string): boolean => dirname(path) === here
  const nameOf = (path: string): string => path.slice(here === '/' ? 1 : here.length + 1)
  for (const name of listed) {
    if (!isStaging(name)) continue
    names.delete(name)
    const manifest = committedIn(join(here, name), disk)
    for (const input of manifest?.inputs ?? [])
      if (isHere(input.path) && isPresent(disk, input)) names.delete(nameOf(input.path))
    for (const output of manifest?.outputs ?? []) {
      if (!isHere(output.to)) continue
      if (!isStaged(disk, output)) continue
      names.add(nameOf(output.to))
      staged.set(output.to, output.path)
    }
  }
  return { names: [...names], staged, hasTransaction: true }
}

/** Returns the manifest of a committed transaction; undefined for others, and for unreadable ones. */
function committedIn(staging: string, disk: Disk): Manifest | undefined {
  try {
    const manifest = readManifest(disk, coordinatorOf(disk, staging))
    if (manifest === undefined || manifest === 'newer') return undefined
    return isCommitted(disk, manifest) ? manifest : undefined
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'EACCES' || code === 'EPERM' || code === 'ELOOP' || code === 'ENOTDIR') return undefined
    throw error
  }
}
