/**
 * Checks that no other user of this machine can have prepared a file: only then are settings obeyed and programs run.
 * docs/explanation/security.md
 *
 * Each directory and link on the way must belong to this user or root and be writable by no one else. A sticky directory such as /tmp
 * may be on the way, but not at the end of it.
 * In a user namespace without an entry for root, the owner of / counts as root, except directly in a sticky directory: all unmapped
 * users have that number there.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isPrivateGroup, userNameOf } from './private-group.ts'

/** Most files below a directory of settings. */
const MAX_ENTRIES = 10_000
/** Most links on one path, as in Linux. */
const MAX_LINKS = 40
const STICKY = 0o1000
const GROUP_MAY_WRITE = 0o020
const OTHERS_MAY_WRITE = 0o002
const ROOT = 0

/** Thrown for a path that another user controls. `code` is EACCES for callers that report error codes. */
export class UntrustedPathError extends Error {
  readonly code = 'EACCES'
}

/** The existing part of a path. */
interface Resolved {
  /** Without links. */
  readonly path: string
  /** Undefined when it does not exist. */
  readonly stats: Stats | undefined
}

/** A directory or file on the path, and the directory that contains it. */
interface Step {
  readonly stats: Stats
  readonly holder: Stats | undefined
}

/**
 * Returns the path with links resolved, if only this user and root can change its target or, if it is missing, create it.
 * Throws UntrustedPathError with the owner or the mode, followed by `remedy`.
 */
export function trustedPath(path: string, remedy = ''): string {
  return resolveTrusted(path, remedy).path
}

/**
 * Throws UntrustedPathError if another user controls the existing part of a path. For directories that the caller creates,
 * also in a directory such as /tmp, and then passes to `trustedPath`.
 */
export function assertTrustedPrefix(path: string, remedy: string): void {
  resolveTrusted(path, remedy, true)
}

/** Returns whether only this user and root can change what a path leads to. */
export function isTrustedPath(path: string): boolean {
  try {
    trustedPath(path)
    return true
  } catch (error) {
    if (error instanceof UntrustedPathError) return false
    throw error
  }
}

/**
 * Reads a file that only this user and root can change. A missing file is ENOENT even in an untrusted directory.
 * Throws UntrustedPathError, and as readFileSync does.
 */
export function readTrustedFile(path: string, remedy: string): string {
  const real = resolvePresent(path, remedy)
  if (real === undefined)
    throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' })
  const fd = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const problem = problemOf({ stats: fstatSync(fd), holder: undefined }, false)
    if (problem !== undefined) throw refusal(path, path, problem, remedy)
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/**
 * Returns whether a path exists. Throws UntrustedPathError unless only this user and root can change it and everything below it,
 * or if it has more files than a directory of settings would.
 */
export function hasTrustedTree(directory: string, remedy: string): boolean {
  let left = MAX_ENTRIES
  const walk = (path: string): boolean => {
    const real = resolvePresent(path, remedy)
    if (real === undefined) return false
    if (lstatIfPresent(real)?.isDirectory() !== true) return true
    for (const name of readdirSync(real)) {
      if (left-- === 0)
        throw new UntrustedPathError(`${directory} has more than ${MAX_ENTRIES} files: ${remedy}`)
      walk(join(real, name))
    }
    return true
  }
  return walk(directory)
}

/** Resolves links; returns undefined for a missing path, regardless of who controls it. */
function resolvePresent(path: string, remedy: string): string | undefined {
  try {
    const { path: real, stats } = resolveTrusted(path, remedy)
    return stats === undefined ? undefined : real
  } catch (error) {
    if (error instanceof UntrustedPathError && !existsSync(path)) return undefined
    throw error
  }
}

/** @param mayMake accepts missing names in a directory in which others may create files */
function resolveTrusted(path: string, remedy: string, mayMake = false): Resolved {
  if (process.geteuid === undefined) return { path, stats: lstatIfPresent(path) }
  let left = partsOf(resolve(path))
  let at = '/'
  let stats = lstatIfPresent(at)
  let holder: Stats | undefined
  let links = 0
  for (;;) {
    if (stats === undefined) {
      if (!mayMake && holder !== undefined && othersMayWrite(holder) !== undefined)
        throw refusal(path, dirname(at), 'lets other users create the missing part', remedy)
      return { path: join(at, ...left), stats }
    }
    const isLast = left.length === 0
    const problem = problemOf({ stats, holder }, !isLast)
    if (problem !== undefined) throw refusal(path, at, problem, remedy)
    if (isLast) return { path: at, stats }
    const [name, ...rest] = left
    const next = join(at, name!)
    const found = lstatIfPresent(next)
    if (found?.isSymbolicLink() === true) {
      if (!isOwn({ stats: found, holder: stats }))
        throw refusal(path, next, `is a link of ${userText(found)}`, remedy)
      if (++links > MAX_LINKS) throw refusal(path, next, 'leads through too many links', remedy)
      left = [...partsOf(resolve(dirname(next), readlinkSync(next))), ...rest]
      at = '/'
      holder = undefined
      stats = lstatIfPresent(at)
    } else {
      left = rest
      at = next
      holder = stats
      stats = found
    }
  }
}

/** Returns why other users could change or replace the file. */
function problemOf(step: Step, isOnTheWay: boolean): string | undefined {
  const { stats } = step
  if (!isOwn(step)) return `belongs to ${userText(stats)}`
  return isOnTheWay && (stats.mode & STICKY) !== 0 ? undefined : othersMayWrite(stats)
}

function othersMayWrite(stats: Stats): string | undefined {
  if ((stats.mode & OTHERS_MAY_WRITE) !== 0) return 'is writable by everybody (chmod o-w)'
  if ((stats.mode & GROUP_MAY_WRITE) !== 0 && !isPrivateGroup(stats))
    return `is writable by group ${stats.gid} (chmod g-w)`
  return undefined
}

function isOwn({ stats, holder }: Step): boolean {
  const { uid } = stats
  if (uid === ROOT || uid === process.geteuid!()) return true
  return uid === lstatIfPresent('/')?.uid && (holder === undefined || othersMayWrite(holder) === undefined)
}

function refusal(path: string, at: string, problem: string, remedy: string): UntrustedPathError {
  const what = at === resolve(path) ? `${path} ${problem}` : `${at} on the way to ${path}: it ${problem}`
  return new UntrustedPathError(remedy === '' ? what : `${what}: ${remedy}`)
}

function userText({ uid }: Stats): string {
  const name = userNameOf(uid)
  return name === undefined ? `user ${uid}` : `user ${name} (${uid})`
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}

/** Treats an inaccessible file as missing, as its content could not be used either. */
function lstatIfPresent(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'ENOTDIR') return undefined
    throw error
  }
}
