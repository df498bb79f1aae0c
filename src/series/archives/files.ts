/** The archives below directories. */
import { type Dirent, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
  /** Changes with the size or age of any of its files; the same for an exact copy elsewhere. */
  readonly content: string
  /** When a file was last changed, in milliseconds since 1970. */
  readonly changedMs: number
  /** The same of the metadata file alone. */
  readonly meta: { readonly stamp: string; readonly changedMs: number }
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
    .flatMap(([base, paths]) => placeOf(base, [...paths].sort()) ?? [])
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

/** Returns an archive by its path without suffix; undefined if it is not there. */
export function placeAt(base: string): ArchivePlace | undefined {
  const directory = dirname(base)
  const paths = readdirSync(directory)
    .map((name) => join(directory, name))
    .filter((path) => parseFileName(path)?.base === base)
  return placeOf(base, paths.sort())
}

/** Returns the archive with its files; undefined if it has no metadata, or no volume. */
function placeOf(base: string, paths: readonly string[]): ArchivePlace | undefined {
  const names = paths.map((path) => parseFileName(path)!)
  if (!names.some(({ part }) => part === 'meta') || !names.some(({ part }) => /^\d+$/.test(part)))
    return undefined
  let stamp = ''
  let content = ''
  let changedMs = 0
  let meta = { stamp: '', changedMs: 0 }
  for (const [i, path] of paths.entries()) {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) continue
    const about = `${names[i]!.part}${names[i]!.suffix} ${stats.size} ${stats.mtimeMs} `
    content += about
    stamp += `${about}${stats.ino} `
    if (names[i]!.part === 'meta') meta = { stamp: `${about}${stats.ino}`, changedMs: stats.mtimeMs }
    changedMs = Math.max(changedMs, stats.mtimeMs)
  }
  return { base, stamp, content, changedMs, meta }
}
