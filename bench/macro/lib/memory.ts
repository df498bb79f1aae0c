/** Memory and CPU time of processes. */
import { readdirSync, readFileSync } from 'node:fs'

/** Returns the resident megabytes of a process and its descendants. Linux only; NaN elsewhere. */
export function residentMb(pid: number): number {
  return treeMb(pid, (each) => fieldOf(`/proc/${each}/status`, 'VmRSS'))
}

/** Returns the same with pages that processes share divided among them (PSS). Linux only; NaN elsewhere. */
export function pssMb(pid: number): number {
  return treeMb(pid, (each) => fieldOf(`/proc/${each}/smaps_rollup`, 'Pss'))
}

function treeMb(pid: number, kbOf: (pid: number) => number): number {
  try {
    const parents = new Map<number, number>()
    for (const entry of readdirSync('/proc')) {
      const each = Number(entry)
      if (Number.isInteger(each)) parents.set(each, parentOf(each))
    }
    let sum = 0
    for (const each of parents.keys()) if (isUnder(each, pid, parents)) sum += kbOf(each)
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

/** Returns the parent; 0 for a process that has ended. */
function parentOf(pid: number): number {
  return fieldOf(`/proc/${pid}/status`, 'PPid')
}

/** Returns a number of a file of `NAME: NUMBER` lines; 0 for a process that has ended. */
function fieldOf(path: string, name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(path, 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Returns the CPU time of a process, user and system, in milliseconds. Linux only. */
export function cpuMs(pid: number): number {
  const TICK_MS = 10
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Returns the CPU time of all current threads of a process and its descendants, in milliseconds. Linux only. */
export function treeCpuMs(pid: number): number {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    const each = Number(entry)
    if (Number.isInteger(each)) parents.set(each, parentOf(each))
  }
  let sum = 0
  for (const each of parents.keys()) if (isUnder(each, pid, parents)) sum += threadsCpuMs(each)
  return sum
}

/** Reads schedstat, which counts nanoseconds, while stat counts ticks. */
function threadsCpuMs(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`))
    sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0])
  return sum / 1e6
}

/** Returns the slope of the least-squares line through the points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [middleX, middleY] = [mean(0), mean(1)]
  let [up, across] = [0, 0]
  for (const [x, y] of points) {
    up += (x - middleX) * (y - middleY)
    across += (x - middleX) ** 2
  }
  return up / across
}
