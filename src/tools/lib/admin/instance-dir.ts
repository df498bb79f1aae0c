/** The directories of instances: creating and locking them. */
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
import type { ControlPosition, Reporter } from './reporter.ts'

/** Longest wait for another command's lock. */
const LOCK_MS = 10_000

/** Makes a directory of archives or logs and its missing parents; reports a failure and returns false. */
export function makeInstanceDir(
  path: string,
  { owner, reporter, variables }: { owner: Owner | undefined; reporter: Reporter; variables: Variables },
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
      reporter.line(`mkdir: cannot create directory '${dir}': ${text}`)
      reporter.line(`mkdir_and_chown: ${dir}: mkdir -m 755 failed`) // PCP's text, for scripts
      return false
    }
  }
  return true
}

/** Takes the lock of a directory; a lock without effect if it is not writable. Reports a lock held by another command and resolves to undefined. */
export async function lockInstanceDir(
  lockPath: string,
  {
    reporter,
    where,
    io,
    variables,
  }: { reporter: Reporter; where: ControlPosition; io: ToolIo; variables: Variables },
): Promise<FileLock | undefined> {
  const dir = dirname(lockPath)
  const list = async (...args: string[]): Promise<void> => {
    await runProgram('/bin/ls', args, { cwd: dir, env: variables, write: reporter.text })
  }
  const free: FileLock = { release: () => {} }
  if (!isWritable(dir)) {
    reporter.warning(where, `no write access in ${dir}, skip lock file processing`)
    await list('-ld', dir)
    return free
  }
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const options = {
    limitMs: LOCK_MS,
    nowMs: io.now,
    signal: io.signal,
    onStale(why: string) {
      reporter.lockWarning(where, why)
      reporter.text(execFileSync('/bin/ls', ['-l', lockPath], { encoding: 'utf8' })) // before it is removed
    },
  }
  const lock = await takeLock(lockPath, options)
  if (lock !== undefined) {
    reporter.verbose(2, 'Acquired lock:')
    if (reporter.verbosity >= 2) await list('-l', lockPath)
    return lock
  }
  reporter.lockWarning(where, 'is another PCP cron job running concurrently?')
  await list('-l', lockPath)
  reporter.warning(where, `failed to acquire exclusive lock (${lockPath}) ...`)
  reporter.fail()
  return undefined
}

/** Can this process write there? */
export function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}
