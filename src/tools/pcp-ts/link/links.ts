/**
 * Links from a user's directory to the commands of this package. docs/how-to/install.md
 *
 * They are symbolic links to the program in the package's `bin`, not wrapper scripts:
 * - An upgrade by npm replaces the package below the same path, so links stay valid and run the new version.
 * - A version manager such as nvm has one global folder per Node version. A link keeps running the installation it was made by, with
 *   the Node that is first on the PATH, until that version is uninstalled; it is then dangling, and another installation may replace it.
 *   A wrapper that calls `pcp-ts` would follow the switch, but fails in every program without npm's folder on its PATH, such as cron.
 * - The target in the link identifies its owner exactly, even after the installation was removed. A script can be edited or copied.
 * - A process keeps its own name, which `ps`, error messages and PID files show.
 */
import {
  accessSync,
  constants,
  linkSync,
  lstatSync,
  mkdtempSync,
  opendirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'

const PACKAGE = 'pcp-ts'
/** Far more than a package.json has. */
const MOST_MANIFEST_BYTES = 1024 * 1024
/** Far more than a directory of programs has. */
const MOST_ENTRIES = 100_000
/** Chains longer than this are loops. */
const MOST_LINKS = 40

/** What a path in a user's directory is. */
export type LinkOwner =
  | { readonly kind: 'missing' }
  /** A link to this installation. */
  | { readonly kind: 'ours' }
  /** A link to another installation of this package. */
  | { readonly kind: 'other'; readonly binDir: string; readonly version: string }
  /** A link to an installation that was removed. */
  | { readonly kind: 'removed'; readonly binDir: string }
  /** Anything else. */
  | { readonly kind: 'foreign' }

/**
 * Returns the `bin` folder of the installation that a program belongs to. Follows links of the program but not of its directories:
 * package managers keep those at one path when versions change.
 */
export function installedBinDir(program: string): string {
  let path = resolve(program)
  for (let count = 0; count < MOST_LINKS; count++) {
    const target = targetOf(path)
    if (target === undefined) return dirname(path)
    path = target
  }
  throw new PcpError('ELOOP', `${program} is a loop of symbolic links`)
}

/** Returns the absolute target of a symbolic link; undefined for anything else. */
function targetOf(path: string): string | undefined {
  const target = readTarget(path)
  if (target === undefined || target === null) return undefined
  return isAbsolute(target) ? normalize(target) : resolve(realpathSync(dirname(path)), target)
}

/** Returns the text of a symbolic link, null without an entry of that name, and undefined for anything else. */
export function readTarget(path: string): string | null | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    return (error as { code?: unknown }).code === 'ENOENT' ? null : undefined
  }
}

/** Returns whose link a path is. */
export function ownerOf(path: string, binDir: string): LinkOwner {
  const target = readTarget(path)
  if (target === null) return { kind: 'missing' }
  // A link by another name was made by hand, and a relative one by npm.
  if (target === undefined || !isAbsolute(target) || basename(target) !== basename(path))
    return { kind: 'foreign' }
  const folder = dirname(target)
  if (basename(folder) !== 'bin') return { kind: 'foreign' }
  const real = realOf(folder)
  if (real !== undefined && real === realOf(binDir)) return { kind: 'ours' }
  const version = versionIn(dirname(folder))
  if (version !== undefined) return { kind: 'other', binDir: folder, version }
  const isOfPackage = basename(dirname(folder)) === PACKAGE
  return isOfPackage && !isPresent(target) ? { kind: 'removed', binDir: folder } : { kind: 'foreign' }
}

function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Returns the version of this package in a directory; undefined if it is not there. */
export function versionIn(dir: string): string | undefined {
  const path = join(dir, 'package.json')
  try {
    if (statSync(path).size > MOST_MANIFEST_BYTES) return undefined
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { name?: unknown; version?: unknown }
    return manifest.name === PACKAGE ? String(manifest.version) : undefined
  } catch {
    return undefined
  }
}

/** Creates a link to a command; false if the name exists. Throws Node's error. */
export function createLink(dir: string, name: string, binDir: string): boolean {
  try {
    symlinkSync(join(binDir, name), join(dir, name))
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a link if its owner is still one of `kinds`; returns whether it did. The entry is first moved to a private directory beside
 * it, so that what another process puts in its place meanwhile is never removed; an entry that is not ours is moved back.
 * Throws Node's error.
 */
export function removeLink(path: string, binDir: string, kinds: readonly LinkOwner['kind'][]): boolean {
  const name = basename(path)
  if (!kinds.includes(ownerOf(path, binDir).kind)) return false
  const aside = mkdtempSync(join(dirname(path), `.${PACKAGE}-`))
  const moved = join(aside, name)
  try {
    renameSync(path, moved)
  } catch (error) {
    rmdirSync(aside)
    if ((error as { code?: unknown }).code === 'ENOENT') return false
    throw error
  }
  const { kind } = ownerOf(moved, binDir)
  const isRemoved = kinds.includes(kind)
  if (isRemoved) unlinkSync(moved)
  else putBack(moved, path, kind)
  rmdirSync(aside)
  return isRemoved
}

/** Moves an entry back without replacing a newer one. Throws PcpError naming where it is kept. */
function putBack(moved: string, path: string, kind: LinkOwner['kind']): void {
  try {
    if (lstatSync(moved).isDirectory()) {
      renameSync(moved, path) // replaces nothing but an empty directory
      return
    }
    linkSync(moved, path)
  } catch (error) {
    // Processes linking the same names at the same time: any of their links will do.
    if (kind === 'foreign' || (error as { code?: unknown }).code !== 'EEXIST')
      throw new PcpError('EEXIST', `${path} changed while it was checked; its earlier content is ${moved}`, {
        cause: error,
      })
  }
  unlinkSync(moved)
}

/** Returns the names in a directory that are symbolic links, sorted; none without the directory. Throws PcpError. */
export function linksIn(dir: string): readonly string[] {
  const names: string[] = []
  try {
    const entries = opendirSync(dir)
    try {
      let count = 0
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
        if (++count > MOST_ENTRIES)
          throw new PcpError('E2BIG', `${dir} has more than ${MOST_ENTRIES} entries; name the links instead`)
        if (entry.isSymbolicLink()) names.push(entry.name)
      }
    } finally {
      entries.closeSync()
    }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return []
    throw error instanceof PcpError ? error : PcpError.from(error, dir)
  }
  return names.sort()
}

/** Returns the directories of a PATH in order, each once. */
export function searchPath(path: string | undefined): readonly string[] {
  return [...new Set((path ?? '').split(':').filter((dir) => isAbsolute(dir)))]
}

/** Returns the executable files of a name in directories, in order; a directory reached by several paths is searched once. */
export function programsNamed(name: string, dirs: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return dirs.flatMap((dir) => {
    const path = join(dir, name)
    const real = realOf(dir)
    if (real === undefined || seen.has(real) || !isProgram(path)) return []
    seen.add(real)
    return [path]
  })
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
