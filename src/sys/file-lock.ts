/** Locks made of files, for those who change a file that others change as well. */
import { closeSync, openSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** A lock that is held. */
export interface FileLock {
  /** Gives the lock back; a second call does nothing. */
  release(): void
}

/** How to wait for a lock. */
export interface LockOptions {
  /** How long to wait, in milliseconds; 0 not at all. */
  readonly limitMs: number
  /** Gives up at once when aborted. */
  readonly signal?: AbortSignal
}

/** Time between two attempts, in milliseconds. */
const PAUSE = 20
/** PCP's scripts look once a second; there is no need to be quicker than 1/10 of that. */
const PLAIN_PAUSE = 100

/**
 * Takes the lock that PCP's scripts know: an empty file, made by whoever holds it (pmlock). Nobody can tell whose it is.
 * Undefined when it cannot be had in time; throws Node's error when it never could.
 */
export async function lockPlainly(path: string, options: LockOptions): Promise<FileLock | undefined> {
  const take = (): void => closeSync(openSync(path, 'wx', 0))
  return await wait(path, take, PLAIN_PAUSE, options)
}

/**
 * Takes a lock that knows its holder: a symbolic link to `host:pid`, which exists completely or not at all. A lock whose
 * holder died is taken over. Undefined when it cannot be had in time; throws Node's error when it never could.
 */
export async function lockByName(path: string, options: LockOptions): Promise<FileLock | undefined> {
  const take = (): void => symlinkSync(`${hostname()}:${process.pid}`, path)
  return await wait(path, take, PAUSE, { ...options, onTaken: () => removeStale(path) })
}

/** Who holds a lock taken by `lockByName`; undefined when nobody does. */
export function holderOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // gone, or no such lock: nobody to name either way
  }
}

interface WaitOptions extends LockOptions {
  /** Looks at a lock somebody has; true when it has gone and can be had at once. */
  readonly onTaken?: () => boolean
}

async function wait(
  path: string,
  take: () => void,
  pauseMs: number,
  { limitMs, signal, onTaken }: WaitOptions,
): Promise<FileLock | undefined> {
  const end = performance.now() + limitMs
  for (;;) {
    try {
      take()
      return held(path)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error
    }
    if (onTaken?.() === true) continue
    if (performance.now() >= end || signal?.aborted === true) return undefined
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function held(path: string): FileLock {
  let isHeld = true
  return {
    release: () => {
      if (isHeld) rmSync(path, { force: true })
      isHeld = false
    },
  }
}

/** Removes the lock of a process of this host that is no more. Returns whether it did. */
function removeStale(path: string): boolean {
  const holder = holderOf(path)
  if (holder === undefined || isAlive(holder)) return false
  // Of several that see the same dead holder one succeeds in moving the lock away; if that was a new one, it goes back.
  const moved = `${path}.${process.pid}`
  try {
    renameSync(path, moved)
    if (holderOf(moved) === holder) {
      rmSync(moved, { force: true })
      return true
    }
    renameSync(moved, path)
  } catch {
    // Somebody else was first.
  }
  return false
}

function isAlive(holder: string): boolean {
  const colon = holder.lastIndexOf(':')
  const pid = Number(holder.slice(colon + 1))
  if (holder.slice(0, colon) !== hostname() || !Number.isInteger(pid) || pid <= 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code !== 'ESRCH'
  }
}
