/** The archives below directories. */
import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseFileName } from '../../archive/file-names.ts'
import { PcpError } from '../../model/errors.ts'

/** Limits of a search: directory levels below the given ones, and files. */
const MOST_LEVELS = 8
const MOST_FILES = 500_000

/** An archive on disk. */
export interface ArchivePlace {
  /** Path without suffix. */
  readonly base: string
  /** Changes with any of its files. */
  readonly stamp: string
}

/**
 * Returns the archives below directories, by path. Unreadable subdirectories are skipped. ENOENT and EACCES for a directory
 * itself, E2BIG for too many files.
 */
export function findArchives(directories: readonly string[], ignoresLinks = false): readonly ArchivePlace[] {
  const files = new Map<string, Set<string>>()
  let count = 0
  const enter = (directory: string, level: number): void => {
    for (const entry of entriesOf(directory, level === 0)) {
      if (++count > MOST_FILES)
        throw new PcpError('E2BIG', `${directory}: more than ${MOST_FILES} files; name fewer directories`)
      if (entry.name.startsWith('.') || (ignoresLinks && entry.isSymbolicLink())) continue
      const path = join(directory, entry.name)
      if (entry.isDirectory()) {
        if (level < MOST_LEVELS) enter(path, level + 1)
        continue
      }
      const name = parseFileName(path)
      if (name === undefined) continue
      const of = files.get(name.base)
      if (of === undefined) files.set(name.base, new Set([path]))
      else of.add(path)
    }
  }
  for (const directory of directories) enter(directory, 0)
  return [...files]
    .map(([base, paths]) => ({ base, stamp: stampOf(paths) }))
    .filter(({ stamp }) => stamp !== '')
    .sort((a, b) => (a.base < b.base ? -1 : 1))
}

function entriesOf(directory: string, isNamed: boolean): ReturnType<typeof list> {
  try {
    return list(directory)
  } catch (error) {
    if (isNamed) throw PcpError.from(error, directory)
    return []
  }
}

function list(directory: string): Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink'>[] {
  return readdirSync(directory, { withFileTypes: true })
}

/** Returns sizes and times of an archive's files; '' if it has no metadata, or no volume. */
function stampOf(paths: ReadonlySet<string>): string {
  const parts = new Set([...paths].map((path) => parseFileName(path)!.part))
  if (!parts.has('meta') || ![...parts].some((part) => /^\d+$/.test(part))) return ''
  return [...paths]
    .sort()
    .map((path) => {
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats === undefined ? '' : `${path.slice(-8)} ${stats.size} ${stats.mtimeMs} ${stats.ino}`
    })
    .join(' ')
}
