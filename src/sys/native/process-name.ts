/**
 * The name of this process in lists of processes. prctl(2) PR_SET_NAME
 *
 * Linux takes it in a file of /proc, so no call is needed. Fallback: the title alone, whose first word most lists show.
 */
import { writeFileSync } from 'node:fs'

/** Shows this process as `name` where a list has names, and with its arguments where it has command lines. */
export function setProcessName(name: string, args: readonly string[]): void {
  process.title = [name, ...args].join(' ')
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/comm', name)
  } catch {
    // No /proc: the title has named the process already, if cut off after 15 characters.
  }
}
