/** Watches the process given by -p. pmlogger(1) */
import { every } from '../base/every.ts'
import { PcpError } from '../model/errors.ts'
import type { Log } from '../sys/log.ts'
import { isAlive } from '../sys/process-identity.ts'

/** Milliseconds between two checks. */
const WATCH_MS = 1000

/** Calls `vanished` once, with the reason for the log, when the process has ended. Returns a function that stops watching. */
export function watchProcess(pid: number, log: Log, vanished: (reason: string) => void): () => void {
  const look = (): void => {
    if (isAlive(pid)) return
    clearInterval(timer)
    vanished('process from -p has vanished, exiting')
  }
  const timer = every(WATCH_MS, look, (error) => log.line(`Warning: ${PcpError.from(error).message}`))
  return () => clearInterval(timer)
}
