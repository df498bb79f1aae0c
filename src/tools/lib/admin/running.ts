/** Finds running loggers and rule engines by the file that each of them keeps in PCP_TMP_DIR. */

import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readEngine } from '../../../pmie/statistics.ts'
import { primaryPid } from '../../../pmlogger/run-files.ts'
import type { Variables } from '../../../sys/config.ts'
import { tmpDirOf } from '../../../sys/config.ts'
import { isAlive } from '../../../sys/process-identity.ts'

/** A pmlogger process. */
export interface RunningLogger {
  readonly pid: number
  /** Absolute base name of the archive it writes. */
  readonly archive: string
  /** Directory of the archive, with symbolic links resolved. */
  readonly dir: string
  readonly isPrimary: boolean
  /** The port for pmlc. */
  readonly port: number
}

/** A pmie process. */
export interface RunningEngine {
  readonly pid: number
  readonly rulesName: string
  readonly logPath: string
  readonly host: string
  readonly rules: number
  readonly evaluations: number
}

/** Lists the loggers of this host. */
export function runningLoggers(variables: Variables): RunningLogger[] {
  const dir = join(tmpDirOf(variables), 'pmlogger')
  const primary = namesIn(dir).includes('primary') ? primaryPid(dir) : undefined
  return pidsIn(dir).flatMap((pid) => {
    const [port, , archive] = readText(join(dir, String(pid))).split('\n')
    if (archive === undefined || archive === '') return []
    return [{ pid, archive, dir: realPath(dirname(archive)), isPrimary: pid === primary, port: Number(port) }]
  })
}

/** Lists the rule engines of this host. */
export function runningEngines(variables: Variables): RunningEngine[] {
  const dir = join(tmpDirOf(variables), 'pmie')
  return pidsIn(dir).flatMap((pid) => {
    const engine = readEngine(join(dir, String(pid)))
    return engine === undefined ? [] : [{ ...engine, pid, logPath: realPath(engine.logName) }]
  })
}

/** Resolves symbolic links in the existing part of a path. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : resolve(realPath(parent), path.slice(parent.length).replace(/^\/+/, ''))
  }
}

function pidsIn(dir: string): number[] {
  return namesIn(dir).flatMap((name) =>
    /^[1-9]\d*$/.test(name) && isAlive(Number(name)) ? [Number(name)] : [],
  )
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return [] // no daemon has run here yet
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has just ended
  }
}

/** Terminates a process and waits; resolves to false if it still runs. Throws Node's error if that is not permitted. */
export async function endProcess(pid: number, signal: AbortSignal): Promise<boolean> {
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ESRCH') return true
      throw error
    }
    if (await waitUntil(END_MS, signal, () => !isAlive(pid))) return true
  }
  return false
}

/** Time for a logger to finish its archive before it is killed. */
const END_MS = 30_000
const LOOK_MS = 50

/** Polls a condition; resolves to false if it is not true in time. */
export async function waitUntil(
  limitMs: number,
  signal: AbortSignal,
  isTrue: () => boolean,
): Promise<boolean> {
  const end = performance.now() + limitMs
  while (!isTrue()) {
    if (performance.now() >= end || signal.aborted) return false
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
  return true
}
