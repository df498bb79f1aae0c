/** Telling the service manager that waits for a daemon. sd_notify(3) */
import type { Log } from './log.ts'

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
