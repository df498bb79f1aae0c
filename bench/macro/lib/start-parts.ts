/** The processes of a running `npm start`. */
import { readFileSync } from 'node:fs'

/** Returns the process id of a part of the `npm start` with this process id; undefined if it does not run. */
export function partOf(
  pid: number,
  name: 'collector' | 'recorder' | 'charts' | 'alerts',
): number | undefined {
  return childrenOf(pid).find((child) => commandOf(child).includes(`start-${name}.cjs`))
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
  return text.trim().split(' ').filter(Boolean).map(Number)
}

/** Returns the command line of a process; empty if it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return '' // it has ended
  }
}
