/** Log, PID file and readiness notification of a daemon. Failures of these do not stop it. sd_notify(3) */
import { rmSync } from 'node:fs'
import { type Log, logOnFd, openLog } from './log.ts'
import { writeNewFile } from './new-file.ts'

/** Formats an error and the action that failed as a sentence. */
export type Describe = (error: unknown, what: string) => string

/** Opens the log of a daemon: '-' is standard error, also used if the file cannot be written. */
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

/** Writes the PID file. Returns its path, or undefined after logging a warning. */
export function writePidFile(path: string, log: Log, describe: Describe): string | undefined {
  try {
    writeNewFile(path, `${process.pid}\n`, 0o444)
    return path
  } catch (error) {
    log.notice('warning', describe(error, `Cannot write ${path}`))
    return undefined
  }
}

/** Removes the PID file. A failure is logged as a warning: the account may have fewer rights than when the file was written. */
export function removePidFile(path: string, log: Log, describe: Describe): void {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    log.notice('warning', describe(error, `Cannot remove ${path}`))
  }
}

/** Longest wait for the service manager. */
const NOTIFY_MS = 5000

/** Notifies systemd of readiness. */
export async function notifyReady(log: Pick<Log, 'notice'>): Promise<void> {
  await notify(['--ready', `--pid=${process.pid}`], process.env, (problem) => log.notice('warning', problem))
}

/** A service manager that awaits notifications. */
export interface ServiceManager {
  /** Reports that the service is ready, with a line about it for `systemctl status`. */
  ready(status: string): Promise<void>
  /** Reports that the service is stopping on purpose. */
  stopping(): Promise<void>
}

/**
 * Returns the service manager that has started this process, undefined without one. Removes its socket from the environment,
 * so that agents cannot notify it. `warn` is called with failures.
 */
export function takeServiceManager(
  env: NodeJS.ProcessEnv,
  warn: (problem: string) => void,
): ServiceManager | undefined {
  const socket = env['NOTIFY_SOCKET']
  if (socket === undefined) return undefined
  delete env['NOTIFY_SOCKET']
  const send = (...args: readonly string[]): Promise<void> =>
    notify(args, { ...env, NOTIFY_SOCKET: socket }, warn)
  return {
    ready: (status) => send('--ready', `--pid=${process.pid}`, `--status=${status}`),
    stopping: () => send('STOPPING=1', '--status=stopping'),
  }
}

/** Runs systemd-notify, because Node has no datagrams on unix sockets. */
async function notify(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  warn: (problem: string) => void,
): Promise<void> {
  const { execFile } = process.getBuiltinModule('node:child_process')
  await new Promise<void>((done) => {
    execFile('systemd-notify', [...args], { env, timeout: NOTIFY_MS }, (error) => {
      if (error !== null) warn(`Cannot notify the service manager: ${error.message}`)
      done()
    })
  })
}
