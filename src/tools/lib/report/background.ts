/** Reports that continue in the background after their headings. pmrep(1) --daemonize */
import { spawn } from 'node:child_process'

/** Set in the environment of the background process. */
const MARK = 'PCP_REPORT_IN_BACKGROUND'

/** Is this the process in the background? */
export function isInBackground(env: Readonly<Record<string, string | undefined>>): boolean {
  return env[MARK] !== undefined
}

/**
 * Starts the same command in a new process group with the same output. Resolves to 0 when its headings are written, or to its exit
 * status if it ends before.
 */
export function continueInBackground(): Promise<number> {
  const child = spawn(process.execPath, process.argv.slice(1), {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [MARK]: '1' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (status) => resolve(status ?? 1))
    child.once('message', () => {
      child.removeAllListeners('exit')
      child.disconnect()
      child.unref()
      resolve(0)
    })
  })
}

/** Notifies the parent process that the headings are written, so it can exit. */
export function notifyHeadingsWritten(): void {
  if (process.send === undefined) return
  process.send('begun')
}
