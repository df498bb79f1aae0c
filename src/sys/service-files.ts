/** What a daemon leaves where administrators look: its log and its PID file. What goes wrong with either is told, and does not end it. */
import { rmSync } from 'node:fs'
import { type Log, logOnFd, openLog } from './log.ts'
import { writeNewFile } from './new-file.ts'

/** A sentence about an error and what it kept from being done. */
export type Describe = (error: unknown, what: string) => string

/** Opens the log of a daemon, '-' for standard error, which also takes the place of a file that cannot be written. */
export function openServiceLog(
  path: string,
  options: { readonly progname: string; readonly host: string },
  describe: Describe,
): Log {
  if (path === '-') return logOnFd(2, options)
  try {
    return openLog(path, options)
  } catch (error) {
    const log = logOnFd(2, options)
    log.notice('warning', `${describe(error, `Cannot write log file ${path}`)}: logging to standard error`)
    return log
  }
}

/** Writes the PID file; its path, or undefined with a warning in the log. */
export function writePidFile(path: string, log: Log, describe: Describe): string | undefined {
  try {
    writeNewFile(path, `${process.pid}\n`, 0o444)
    return path
  } catch (error) {
    log.notice('warning', describe(error, `Cannot write ${path}`))
    return undefined
  }
}

/** Removes it. The account may own less than whoever wrote the file: that is a warning. */
export function removePidFile(path: string, log: Log, describe: Describe): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    log.notice('warning', describe(error, `Cannot remove ${path}`))
  }
}
