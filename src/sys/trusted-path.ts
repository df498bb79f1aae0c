/**
 * Which files another user of this machine cannot have prepared: settings are obeyed, and programs run, only from those.
 * docs/security.md
 *
 * Each directory on the way, links included, belongs to this user or root and is writable by no one else; a directory in which
 * all may create files but not replace those of others (sticky, as /tmp) may lead there, but not be it.
 * In a user namespace without an entry for root, the owner of / is root, except directly in such a directory: all other users
 * have that number there too.
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

/** Files below a directory of settings: a larger one is something else. */
const MAX_ENTRIES = 10_000
/** Links on one way, as in Linux. */
const MAX_LINKS = 40
const STICKY = 0o1000
const GROUP_MAY_WRITE = 0o020
const OTHERS_MAY_WRITE = 0o002
const ROOT = 0

/** A path that another user controls. `code` makes it EACCES for callers that have error codes. */
export class UntrustedPathError extends Error {
  readonly code = 'EACCES'
}

/** What exists of a path. */
interface Resolved {
  /** Without links. */
  readonly path: string
  /** Undefined when it does not exist. */
  readonly stats: Stats | undefined
}

/** A directory or file on a way, and the directory that it is in. */
interface Step {
  readonly stats: Stats
  readonly holder: Stats | undefined
}

/**
 * Returns the path without links when only this user and root can change what it leads to, and make it where it does not exist.
 * Throws UntrustedPathError, which names the owner or the mode, and ends with `remedy` if there is one.
 */
export function trustedPath(path: string, remedy = ''): string {
  return resolveTrusted(path, remedy).path
}

/**
 * Throws UntrustedPathError when another user controls what exists of a path. For directories that the caller makes,
 * also in a directory such as /tmp, and passes to `trustedPath` then.
 */
export function insistOnTrustedStart(path: string, remedy: string): void {
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
 * Reads a file that only this user and root can change; a file that does not exist is distrusted by no one.
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
 * Returns whether a path exists, and throws UntrustedPathError unless only this user and root can change it and all that is below
 * it, or when that is more than a directory of settings has.
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

/** Returns the path without links; undefined when there is nothing, whoever controls the way. */
function resolvePresent(path: string, remedy: string): string | undefined {
  try {
    const { path: real, stats } = resolveTrusted(path, remedy)
    return stats === undefined ? undefined : real
  } catch (error) {
    if (error instanceof UntrustedPathError && !existsSync(path)) return undefined
    throw error
  }
}

/** @param mayMake names that are missing from a directory in which others may make them are no problem */
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
        throw refusal(path, dirname(at), 'lets other users make what is missing', remedy)
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

/** Returns why others could change what is there, or replace it. */
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

/** What this user may not look at it cannot obey either. */
function lstatIfPresent(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'ENOTDIR') return undefined
    throw error
  }
}
