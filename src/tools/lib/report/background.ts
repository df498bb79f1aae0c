/** Reports that go on in the background once their headings are out. pmrep(1) --daemonize */
import { spawn } from 'node:child_process'

/** Set for the process that does the work: it must not go into the background again. */
const MARK = 'PCP_REPORT_IN_BACKGROUND'

/** Is this the process in the background? */
export function isInBackground(env: Readonly<Record<string, string | undefined>>): boolean {
  return env[MARK] !== undefined
}

/**
 * Starts the same command in a process group of its own, with this one's output; returns 0 when its headings are out, or the exit
 * status that it ended with before that.
 */
export function goOnInBackground(): Promise<number> {
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

/** Tells who started this process that it may go. */
export function tellHeadingsAreOut(): void {
  if (process.send === undefined) return
  process.send('begun')
}
