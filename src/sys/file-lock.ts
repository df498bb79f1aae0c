/**
 * Locks made of files, for programs that change the same files, including PCP's scripts: a program that finds the lock file waits.
 *
 * A lock file names its holder, and no waiter removes a stale one: it may be another's fresh lock by then. A waiter adds a
 * successor instead, whose name contains the token of the stale lock, so that only one waiter succeeds:
 *
 *     lock ("p1 … a1")            p1 ended
 *     lock.next.a1 ("p2 … b7")    p2 succeeded it, and was killed before it could rename its file to `lock`
 *     lock.next.b7 ("p3 … c4")    p3 holds the lock, and now renames this file to `lock`
 *
 * A successor of a lock that was replaced meanwhile cannot be reached from `lock` any more; its process notices that and withdraws.
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

/** A held lock. */
export interface FileLock {
  /** Releases the lock; idempotent. */
  release(): void
}

/** How to wait for a lock. */
export interface LockOptions {
  /** Longest wait in milliseconds; 0 to try once. */
  readonly limitMs: number
  /** Stops waiting when aborted. */
  readonly signal?: AbortSignal
  /** Called with the reason before a stale lock is taken over. */
  readonly onStale?: (why: string) => void
  /** Wall clock in milliseconds, compared with the age of lock files. */
  readonly nowMs?: () => number
}

/** PCP's own scripts remove locks of this age, so locks without a process of this host are stale then. */
const STALE_MS = 30 * 60_000
/** Interval at which a holder renews its lock. */
const RENEW_MS = 5 * 60_000
const PAUSE_MS = 50
const TOKEN_CHARS = 12
/** Most successors of one lock file; more mean that holders end faster than a waiter can follow. */
const MAX_CHAIN = 1000

/** One file of the chain. */
interface Link {
  readonly path: string
  /** Suffix of the name of its successor. */
  readonly token: string
  /** Undefined for a lock that does not name its holder, such as those of PCP's scripts. */
  readonly holder: ProcessIdentity | undefined
  readonly mtimeMs: number
}

/**
 * Takes a lock. The lock of an ended process is taken over, and one of another host, container or program if it was not renewed for
 * 30 minutes. Resolves to undefined on timeout; throws Node's error if the lock file cannot be created.
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

/** Returns the holder of a lock, `host:pid`; undefined if it is free or names no holder. */
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
    // The previous holder may have released the lock meanwhile; then the chain does not lead here any more.
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

/** Creates a second name for a file, atomically with its content. Returns false if the name is taken. */
function linked(mine: string, place: string): boolean {
  try {
    linkSync(mine, place)
    return true
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === 'EEXIST') return false
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error
  }
  // The file system has no hard links.
  try {
    writeFileSync(place, readFileSync(mine), { flag: 'wx', mode: 0o444 })
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false
    throw error
  }
}

/** Returns the lock file of the present holder; undefined if the lock is free. */
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
    return '' // missing, or the lock of a program that makes its locks unreadable
  }
}

function whyStale({ holder, mtimeMs }: Link, nowMs: number): string | undefined {
  if (holder !== undefined && hasEnded(holder))
    return `removing lock file of process ${holder.pid}, which has ended`
  // A live process of this host keeps its lock, however long it was suspended.
  const isKnown = holder !== undefined && holder.host === ownIdentity().host && holder.boot !== ''
  const isSeen = isKnown && holder.namespace === ownIdentity().namespace
  return !isSeen && nowMs - mtimeMs > STALE_MS ? 'removing lock file older than 30 minutes' : undefined
}

function held(path: string, token: string): FileLock {
  const renew = (): void => {
    const now = Date.now() / 1000
    utimesSync(path, now, now)
  }
  const timer = every(RENEW_MS, renew, () => clearInterval(timer)).unref() // someone removed the file
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

/** Removes files that killed waiters and holders left beside a free lock. */
function removeStrays(path: string): void {
  const prefix = `${basename(path)}.`
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix)) continue
    const rest = name.slice(prefix.length)
    if (!rest.startsWith('next.') && hasNameEnded(rest) !== true) continue
    try {
      rmSync(join(dirname(path), name), { force: true })
    } catch {
      // another user's file in a sticky directory
    }
  }
}
