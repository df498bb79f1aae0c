/** Resident memory of a process and all that it started. */
import { readdirSync, readFileSync } from 'node:fs'

/** Megabytes resident, of a process and of its descendants together. Linux only: NaN elsewhere. */
export function residentMb(pid: number): number {
  try {
    const parents = new Map<number, number>()
    for (const entry of readdirSync('/proc')) {
      const each = Number(entry)
      if (Number.isInteger(each)) parents.set(each, parentOf(each))
    }
    let sum = 0
    for (const each of parents.keys()) if (isUnder(each, pid, parents)) sum += residentKb(each)
    return sum / 1024
  } catch {
    return Number.NaN // no /proc
  }
}

function isUnder(pid: number, ancestor: number, parents: ReadonlyMap<number, number>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 0; at = parents.get(at))
    if (at === ancestor) return true
  return false
}

/** 0 for a process that has ended meanwhile. */
function parentOf(pid: number): number {
  return field(pid, 'PPid')
}

function residentKb(pid: number): number {
  return field(pid, 'VmRSS')
}

function field(pid: number, name: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1')
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Milliseconds of CPU time that a process has used so far, by itself and by the kernel for it. Linux only. */
export function cpuMs(pid: number): number {
  const TICK_MS = 10
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
