/** proc.nprocs and proc.runq: number of processes, in total and by state. */

import { PcpError } from '../../model/errors.ts'
import type { Ask } from '../../model/source.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { PerProcess } from './process-files.ts'
import type { ProcessList } from './process-list.ts'
import type { ProcessStat } from './stat.ts'

/** Number, name and meaning of each count. */
const STATES = [
  ['runnable', 0, 'Running or runnable processes (state R)'],
  ['blocked', 1, 'Processes in uninterruptible sleep, for example waiting for a disk (states D and P)'],
  ['sleeping', 2, 'Processes in interruptible sleep (state S)'],
  ['stopped', 3, 'Processes stopped by a signal or a debugger (states T and t)'],
  [
    'swapped',
    4,
    'Processes without address space',
    'Once processes swapped out as a whole, which kernels no longer do: today these are kernel threads.',
  ],
  ['defunct', 5, 'Zombies: processes that ended and were not waited for (state Z)'],
  ['unknown', 6, 'Processes in any other state, such as idle threads of the kernel that have memory'],
  ['kernel', 7, 'Kernel threads that are recognizable as such; none since Linux 2.6'],
] as const

type StateName = (typeof STATES)[number][0]

/** State counted for a process. Zombies are tested first, because they have no address space either. */
export function runqStateOf({ state, columns }: ProcessStat): StateName {
  const VSIZE = 23
  if (state === 'Z') return 'defunct'
  if (columns[VSIZE] === 0) return 'swapped'
  switch (state) {
    case 'R':
      return 'runnable'
    case 'S':
      return 'sleeping'
    case 'T':
    case 't':
      return 'stopped'
    case 'D':
    case 'P':
      return 'blocked'
    default:
      return 'unknown'
  }
}

/** The metrics of cluster 13, and the number of processes. They need no permission, as they identify no process. */
export function runqMetrics(
  list: ProcessList,
  stat: PerProcess<ProcessStat>,
): { [name: string]: OrderedRow } {
  const counts = new Map<StateName, number>()
  let countedFor: Ask | undefined
  const count = (ask: Ask): void => {
    if (ask === countedFor) return
    countedFor = ask
    counts.clear()
    for (const pid of list.ids(ask)) {
      const read = stat.of(pid, ask)
      if (read === undefined || read instanceof PcpError) continue // ended in the meantime
      const state = runqStateOf(read)
      counts.set(state, (counts.get(state) ?? 0) + 1)
    }
  }
  const metrics: { [name: string]: OrderedRow } = {
    'proc.nprocs': {
      cluster: 8,
      item: 99,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Processes, and threads if they are listed too',
      text: 'Entries of /proc that are processes, within the control group a client has chosen.',
      value: (_inst, ask) => list.ids(ask).length,
    },
  }
  for (const [name, item, help, more] of STATES)
    metrics[`proc.runq.${name}`] = {
      cluster: 13,
      item,
      type: '32',
      sem: 'instant',
      units: 'count',
      help,
      text: `${more ?? `${help}.`} From /proc/PID/stat.`,
      begin: count,
      value: () => counts.get(name) ?? 0,
    }
  return metrics
}
