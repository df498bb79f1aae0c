/** Which loggers and rule engines run: by the files that every one of them leaves in PCP_TMP_DIR. */

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
  /** Of the archive that it writes, absolute. */
  readonly archive: string
  /** Where that is, links resolved. */
  readonly dir: string
  readonly isPrimary: boolean
  /** The port that pmlc asks. */
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

/** The loggers of this host. */
export function runningLoggers(variables: Variables): RunningLogger[] {
  const dir = join(tmpDirOf(variables), 'pmlogger')
  const primary = namesIn(dir).includes('primary') ? primaryPid(dir) : undefined
  return pidsIn(dir).flatMap((pid) => {
    const [port, , archive] = readText(join(dir, String(pid))).split('\n')
    if (archive === undefined || archive === '') return []
    return [{ pid, archive, dir: realPath(dirname(archive)), isPrimary: pid === primary, port: Number(port) }]
  })
}

/** The rule engines of this host. */
export function runningEngines(variables: Variables): RunningEngine[] {
  const dir = join(tmpDirOf(variables), 'pmie')
  return pidsIn(dir).flatMap((pid) => {
    const engine = readEngine(join(dir, String(pid)))
    return engine === undefined ? [] : [{ ...engine, pid, logPath: realPath(engine.logName) }]
  })
}

/** A path with the links of what is there of it resolved. */
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
    return [] // nothing has run here yet
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has ended just now
  }
}

/** Ends a process and waits for that; false when it is still there. Throws Node's error where that is not allowed. */
export async function endProcess(pid: number, signal: AbortSignal): Promise<boolean> {
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ESRCH') return true
      throw error
    }
    if (await until(END_MS, signal, () => !isAlive(pid))) return true
  }
  return false
}

/** Time that a logger has to finish its archive before it is killed. */
const END_MS = 30_000
const LOOK_MS = 50

/** Waits for a condition; false when it does not come true in time. */
export async function until(limitMs: number, signal: AbortSignal, isTrue: () => boolean): Promise<boolean> {
  const end = performance.now() + limitMs
  while (!isTrue()) {
    if (performance.now() >= end || signal.aborted) return false
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
  return true
}
