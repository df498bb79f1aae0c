/**
 * The lock of a directory that is looked after: an empty file in PCP's own commands, whoever finds it waits. Ours holds host and
 * process id, so one that its holder cannot give back is known for what it is.
 */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { PcpError } from '../../../model/errors.ts'

/** A lock that is held. */
export interface Mutex {
  release(): void
}

/** What may be said meanwhile, and how long to wait. */
export interface MutexOptions {
  readonly limitMs: number
  readonly nowMs: () => number
  readonly signal: AbortSignal
  /** Hears that a lock was removed that is as old as that, or whose holder is no more. */
  readonly onStale: (why: string) => void
}

/** PCP's own commands take a lock of that age for one that was left behind. */
const STALE_MS = 30 * 60_000
const PAUSE_MS = 100
const REFRESH_MS = 5 * 60_000

/** Takes the lock; undefined when somebody has it for as long as we wait. Throws Node's error where it can never be made. */
export async function takeMutex(path: string, options: MutexOptions): Promise<Mutex | undefined> {
  const end = performance.now() + options.limitMs
  for (;;) {
    try {
      writeFileSync(path, `${hostname()}:${process.pid}\n`, { flag: 'wx', mode: 0o444 })
      return held(path)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error
    }
    const stale = whyStale(path, options.nowMs())
    if (stale !== undefined) {
      options.onStale(stale)
      rmSync(path, { force: true })
    } else if (performance.now() >= end || options.signal.aborted) return undefined
    else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** A lock that is ours: it is kept young, since large archives may take longer than others wait. */
function held(path: string): Mutex {
  const timer = setInterval(() => {
    const now = Date.now() / 1000
    try {
      utimesSync(path, now, now)
    } catch {
      clearInterval(timer) // somebody has removed it, or the directory
    }
  }, REFRESH_MS).unref()
  return {
    release() {
      clearInterval(timer)
      rmSync(path, { force: true })
    },
  }
}

function whyStale(path: string, nowMs: number): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (nowMs - stats.mtimeMs > STALE_MS) return 'removing lock file older than 30 minutes'
  const [host, pid] = readHolder(path).trim().split(':')
  if (host !== hostname() || pid === undefined || !/^[1-9]\d*$/.test(pid)) return undefined
  try {
    process.kill(Number(pid), 0)
    return undefined
  } catch (error) {
    return PcpError.from(error).code === 'ESRCH'
      ? `removing lock file of process ${pid}, which is no more`
      : undefined
  }
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // gone, or of PCP's own commands, which nobody may read
  }
}
