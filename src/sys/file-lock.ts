/**
 * Locks made of files, for programs that change the same files, PCP's scripts included: a program that finds the lock file waits.
 *
 * A lock file names its holder, and no waiter removes a stale one: by then it may be another's fresh lock. It adds a
 * successor instead, whose name contains the token of the stale lock, so that only one waiter can:
 *
 *     lock ("p1 … a1")            p1 ended
 *     lock.next.a1 ("p2 … b7")    p2 succeeded it, and was killed before it could rename its file to `lock`
 *     lock.next.b7 ("p3 … c4")    p3 holds the lock, and now renames this file to `lock`
 *
 * A successor of a lock that was replaced meanwhile is not reached from `lock` any more; its process sees that and withdraws.
 */

import {
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { every } from '../base/every.ts'
import {
  formatIdentity,
  hasEnded,
  hasNameEnded,
  ownedName,
  ownIdentity,
  type ProcessIdentity,
  parseIdentity,
} from './process-identity.ts'

/** A lock that is held. */
export interface FileLock {
  /** Gives the lock back; a second call does nothing. */
  release(): void
}

/** How to wait for a lock. */
export interface LockOptions {
  /** How long to wait, in milliseconds; 0 not at all. */
  readonly limitMs: number
  /** Stops waiting when aborted. */
  readonly signal?: AbortSignal
  /** Called before a stale lock is taken over, with the reason. */
  readonly onStale?: (why: string) => void
  /** Wall clock in milliseconds, compared with the age of lock files. */
  readonly nowMs?: () => number
}

/** PCP's own scripts remove a lock of that age; so locks that name no process of this host are stale then. */
const STALE_MS = 30 * 60_000
/** A holder renews its lock so much more often. */
const RENEW_MS = 5 * 60_000
const PAUSE_MS = 50
const TOKEN_CHARS = 12
/** Successors of one lock file; more mean that its holders end faster than a waiter can follow. */
const MAX_CHAIN = 1000

/** One file of the chain. */
interface Link {
  readonly path: string
  /** What the name of its successor ends in. */
  readonly token: string
  /** Undefined for a lock that does not name its holder, as those of PCP's scripts. */
  readonly holder: ProcessIdentity | undefined
  readonly mtimeMs: number
}

/**
 * Takes a lock. A lock whose holder ended is taken over; so is one of another host, container or program that was not renewed for
 * 30 minutes. Resolves to undefined when it is not free in time; throws Node's error when it cannot be made.
 */
export async function takeLock(path: string, options: LockOptions): Promise<FileLock | undefined> {
  const end = performance.now() + options.limitMs
  for (;;) {
    const lock = tryTake(path, options)
    if (lock !== undefined) return lock
    if (performance.now() >= end || options.signal?.aborted === true) return undefined
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** Returns who holds a lock, `host:pid`; undefined when it is free or names no holder. */
export function holderOf(path: string): string | undefined {
  const holder = lastOf(path)?.holder
  return holder === undefined ? undefined : `${holder.host}:${holder.pid}`
}

function tryTake(path: string, { onStale, nowMs = Date.now }: LockOptions): FileLock | undefined {
  const name = ownedName()
  const token = name.slice(-TOKEN_CHARS)
  const mine = `${path}.${name}`
  writeFileSync(mine, `${formatIdentity(ownIdentity())} ${token}\n`, { flag: 'wx', mode: 0o444 })
  try {
    const last = lastOf(path)
    let place = path
    if (last !== undefined) {
      const why = whyStale(last, nowMs())
      if (why === undefined) return undefined
      onStale?.(why)
      place = `${path}.next.${last.token}`
    }
    if (!linked(mine, place)) return undefined
    // The holder before may have given the lock back meanwhile: then this place is not reached any more.
    if (lastOf(path)?.token !== token) {
      rmSync(place, { force: true })
      return undefined
    }
    if (place !== path) takePlace(place, path)
    removeStrays(path)
    return held(path, token)
  } finally {
    rmSync(mine, { force: true })
  }
}

/** A second name for a file, which appears with all its content; false when the name is taken. */
function linked(mine: string, place: string): boolean {
  try {
    linkSync(mine, place)
    return true
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'EEXIST') return false
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error
  }
  // A file system without hard links.
  try {
    writeFileSync(place, readFileSync(mine), { flag: 'wx', mode: 0o444 })
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

/** The file of the present holder; undefined when the lock is free. */
function lastOf(path: string): Link | undefined {
  let last = readLink(path)
  for (let i = 0; last !== undefined && i < MAX_CHAIN; i++) {
    const next = readLink(`${path}.next.${last.token}`)
    if (next === undefined) return last
    last = next
  }
  return last
}

function readLink(path: string): Link | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const [, line, token] = /^(.*) ([0-9a-f]{12})\n$/.exec(readOr(path)) ?? []
  const { ino, mtimeMs } = stats
  const holder = line === undefined ? undefined : parseIdentity(line)
  if (token === undefined || holder === undefined)
    return { path, token: `${ino}-${Math.floor(mtimeMs)}`, holder: undefined, mtimeMs }
  return { path, token, holder, mtimeMs }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // gone, or of a program whose locks are unreadable
  }
}

function whyStale({ holder, mtimeMs }: Link, nowMs: number): string | undefined {
  if (holder !== undefined && hasEnded(holder))
    return `removing lock file of process ${holder.pid}, which is no more`
  // A process of this host that lives keeps its lock, however long it was stopped.
  const isKnown = holder !== undefined && holder.host === ownIdentity().host && holder.boot !== ''
  const isSeen = isKnown && holder.namespace === ownIdentity().namespace
  return !isSeen && nowMs - mtimeMs > STALE_MS ? 'removing lock file older than 30 minutes' : undefined
}

function held(path: string, token: string): FileLock {
  const renew = (): void => {
    const now = Date.now() / 1000
    utimesSync(path, now, now)
  }
  const timer = every(RENEW_MS, renew, () => clearInterval(timer)).unref() // removed by hand
  let isHeld = true
  return {
    release() {
      if (!isHeld) return
      isHeld = false
      clearInterval(timer)
      if (readLink(path)?.token === token) rmSync(path, { force: true })
    },
  }
}

/** Replaces a stale lock by its successor. */
function takePlace(place: string, path: string): void {
  try {
    renameSync(place, path)
  } catch (error) {
    rmSync(place, { force: true })
    throw error
  }
}

/** Removes what waiters and holders that were killed left beside a lock that was free. */
function removeStrays(path: string): void {
  const prefix = `${basename(path)}.`
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix)) continue
    const rest = name.slice(prefix.length)
    if (!rest.startsWith('next.') && hasNameEnded(rest) !== true) continue
    try {
      rmSync(join(dirname(path), name), { force: true })
    } catch {
      // of another user, in a directory where only owners remove files
    }
  }
}
