/** Processes that exited, from process accounting. */
import type { Step } from './step.ts'
import type { Task, TaskCounts, TaskOwner } from './task.ts'
import { noCounts } from './task-counts.ts'

/** Returns the processes that exited in the interval. Accounting records remain for some time, so only new ones count. */
export function exitedTasks({ now, before }: Step): readonly Task[] {
  if (before === undefined) return []
  const seen = before.numbers('acct.psinfo.pid')
  const uidNames = now.texts('acct.id.uid_nm')
  const tasks: Task[] = []
  for (const [inst, name] of now.instances('acct.psinfo.pid')) {
    if (seen.has(inst)) continue
    const of = (item: string): number => now.number(`acct.${item}`, inst) ?? 0
    const status = of('psinfo.exitcode')
    const pid = of('psinfo.pid')
    const uid = of('id.uid')
    const user = { id: uid, name: uidNames.get(inst) ?? String(uid) }
    const group = { id: of('id.gid'), name: String(of('id.gid')) }
    const beginSec = of('psinfo.btime')
    tasks.push({
      ...exitedTask(user, group),
      ...noCounts(),
      pid,
      tgid: pid,
      ppid: of('psinfo.ppid'),
      name: name.replace(/^\d+ ?/, '').slice(0, 15),
      command: name.replace(/^\d+ ?/, ''),
      userMs: of('psinfo.utime') * 1000,
      sysMs: of('psinfo.stime') * 1000,
      minorFaults: of('psinfo.minflt'),
      majorFaults: of('psinfo.majflt'),
      end: {
        code: (status >> 8) & 0xff,
        signal: (status & 0x7f) === 0 ? undefined : status & 0x7f,
        hasCore: (status & 0x80) !== 0,
        time: beginSec + of('psinfo.etime'),
      },
    })
  }
  return tasks
}

/** A process that exited, with its identity only. */
function exitedTask(
  user: TaskOwner,
  group: TaskOwner,
): Omit<Task, keyof TaskCounts | 'pid' | 'tgid' | 'ppid' | 'name' | 'command' | 'end'> {
  return {
    state: 'E',
    threads: 0,
    nice: 0,
    priority: 0,
    realtimePriority: 0,
    policy: 0,
    processor: 0,
    startMs: 0,
    wchan: '',
    container: '?',
    environment: '0',
    cgroup: '',
    owners: {
      uid: user,
      euid: user,
      suid: user,
      fsuid: user,
      gid: group,
      egid: group,
      sgid: group,
      fsgid: group,
    },
    textKb: 0,
    dataKb: 0,
    stackKb: 0,
    libraryKb: 0,
    lockedKb: 0,
    swappedKb: 0,
    virtualKb: 0,
    residentKb: 0,
    proportionalKb: undefined,
    virtualGrowthKb: 0,
    residentGrowthKb: 0,
    gpu: undefined,
    isNew: true,
    isMoved: false,
  }
}
