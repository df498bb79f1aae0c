/**
 * The name of this process in lists of processes. prctl(2) PR_SET_NAME
 *
 * Linux accepts it in a file of /proc, so no call is needed. Fallback: only the title, whose first word most tools show.
 */
import { writeFileSync } from 'node:fs'

/** Sets the name of this process, as shown by ps and top, and its command line with arguments. */
export function setProcessName(name: string, args: readonly string[]): void {
  process.title = [name, ...args].join(' ')
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/comm', name)
  } catch {
    // Without /proc the title, set above, has to do, cut off after 15 characters.
  }
}
