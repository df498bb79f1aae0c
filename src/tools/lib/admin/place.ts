/** The directories that instances live in: making them, and working in one without another command doing so as well. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { archiveDirMode } from '../../../sys/archive-access.ts'
import type { Variables } from '../../../sys/config.ts'
import { type FileLock, takeLock } from '../../../sys/file-lock.ts'
import { makeDirOf } from '../../../sys/make-dir.ts'
import type { ToolIo } from '../tool.ts'
import type { Owner } from './owner.ts'
import { runProgram } from './programs.ts'
import type { Voice, Where } from './voice.ts'

/** Longest that a directory may be somebody else's. */
const LOCK_MS = 10_000

/** Makes a directory of archives or logs, and those missing above it; returns false, and reports it, when that fails. */
export function makePlace(
  path: string,
  { owner, voice, variables }: { owner: Owner | undefined; voice: Voice; variables: Variables },
): boolean {
  const missing: string[] = []
  for (let dir = path; statSync(dir, { throwIfNoEntry: false }) === undefined; dir = dirname(dir))
    missing.unshift(dir)
  for (const dir of missing) {
    try {
      makeDirOf(dir, archiveDirMode(variables), owner)
    } catch (error) {
      const { code, text } = PcpError.from(error)
      if (code === 'EEXIST') continue
      voice.line(`mkdir: cannot create directory '${dir}': ${text}`)
      voice.line(`mkdir_and_chown: ${dir}: mkdir -m 755 failed`) // the reference's words, for scripts
      return false
    }
  }
  return true
}

/** A lock, `none` where the directory takes none, or undefined, and told, when somebody has it. */
export async function lockPlace(
  lockPath: string,
  { voice, where, io, variables }: { voice: Voice; where: Where; io: ToolIo; variables: Variables },
): Promise<FileLock | undefined> {
  const dir = dirname(lockPath)
  const list = async (...args: string[]): Promise<void> => {
    await runProgram('/bin/ls', args, { cwd: dir, env: variables, write: voice.part })
  }
  const free: FileLock = { release: () => {} }
  if (!isWritable(dir)) {
    voice.warning(where, `no write access in ${dir}, skip lock file processing`)
    await list('-ld', dir)
    return free
  }
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const options = {
    limitMs: LOCK_MS,
    nowMs: io.now,
    signal: io.signal,
    onStale(why: string) {
      voice.note(where, why)
      voice.part(execFileSync('/bin/ls', ['-l', lockPath], { encoding: 'utf8' })) // before it is gone
    },
  }
  const lock = await takeLock(lockPath, options)
  if (lock !== undefined) {
    voice.tell(2, 'Acquired lock:')
    if (voice.verbosity >= 2) await list('-l', lockPath)
    return lock
  }
  voice.note(where, 'is another PCP cron job running concurrently?')
  await list('-l', lockPath)
  voice.warning(where, `failed to acquire exclusive lock (${lockPath}) ...`)
  voice.fail()
  return undefined
}

/** May we write there? */
export function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}
