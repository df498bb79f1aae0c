/** A daemon as a service: its log, its PID file, and the service manager that waits for it. No failure of these ends it. sd_notify(3) */
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

/** Longest a service manager may take to hear that the daemon is ready. */
const NOTIFY_MS = 5000

/** Tells systemd that this daemon is ready, through its own program: plain Node has no datagrams on unix sockets. */
export async function notifyReady(log: Pick<Log, 'notice'>): Promise<void> {
  const { execFile } = process.getBuiltinModule('node:child_process')
  await new Promise<void>((done) => {
    const args = ['--ready', `--pid=${process.pid}`]
    execFile('systemd-notify', args, { timeout: NOTIFY_MS }, (error) => {
      if (error !== null)
        log.notice('warning', `The service manager was not told that the daemon is ready: ${error.message}`)
      done()
    })
  })
}
