/** Processes and threads of an interval, read from samples. */
import { exitedTasks } from './exited-tasks.ts'
import type { Step } from './step.ts'
import {
  type GpuUse,
  NO_CONTAINER,
  type OwnerKind,
  type Task,
  type TaskGroup,
  type TaskOwner,
  type TaskTotals,
} from './task.ts'
import { countsOf } from './task-counts.ts'
import { TaskReader } from './task-reader.ts'

const OWNER_KINDS: readonly OwnerKind[] = ['uid', 'euid', 'suid', 'fsuid', 'gid', 'egid', 'sgid', 'fsgid']
/** Metrics of processor and scheduling. */
const PLACES = ['psinfo.processor', 'psinfo.priority', 'psinfo.nice', 'psinfo.policy']

/** Returns processes and threads of an interval, by PID. */
export function readTasks(step: Step, group: TaskGroup): readonly Task[] {
  const names = step.now.instances(`${group}.psinfo.pid`)
  const now = new TaskReader(step.now, group)
  const before = step.before === undefined ? undefined : new TaskReader(step.before, group)
  const alive = [...names].sort(([a], [b]) => a - b).map(([pid, name]) => taskOf(pid, name, now, before))
  return [...alive, ...exitedTasks(step)]
}

/** Sums up all processes; threads count with their process. */
export function totalsOf(tasks: readonly Task[], step: Step): TaskTotals {
  const totals = {
    sysMs: 0,
    userMs: 0,
    processes: 0,
    running: 0,
    sleeping: 0,
    waiting: 0,
    zombies: 0,
    exits: 0,
  }
  for (const task of tasks) {
    if (task.pid !== task.tgid) continue
    totals.sysMs += task.sysMs
    totals.userMs += task.userMs
    if (task.end !== undefined) {
      totals.exits++
      continue
    }
    totals.processes++
    if (task.state === 'R') totals.running++
    else if (task.state === 'S') totals.sleeping++
    else if (task.state === 'D' || task.state === 'I') totals.waiting++
    else if (task.state === 'Z') totals.zombies++
  }
  return { ...totals, hasExits: step.value('acct.control.enable_acct') > 0 || totals.exits > 0 }
}

/** Did anything change? */
export function isActive(task: Task): boolean {
  return (
    task.isNew ||
    task.isMoved ||
    task.end !== undefined ||
    task.userMs > 0 ||
    task.sysMs > 0 ||
    task.readBytes > 0 ||
    task.writtenBytes > 0 ||
    task.minorFaults > 0 ||
    task.majorFaults > 0 ||
    task.virtualGrowthKb !== 0 ||
    task.residentGrowthKb !== 0
  )
}

function taskOf(pid: number, instance: string, now: TaskReader, before: TaskReader | undefined): Task {
  const isNew = before?.has(pid) !== true
  const old = isNew ? undefined : before
  const of = (item: string): number => now.number(item, pid)
  const virtualKb = of('psinfo.vsize')
  const residentKb = of('psinfo.rss')
  const growth = (item: string, end: number): number => end - (old?.number(item, pid) ?? 0)
  const tgid = of('psinfo.tgid')
  return {
    pid,
    tgid: tgid === 0 ? pid : tgid,
    ppid: of('psinfo.ppid'),
    name: (now.text('psinfo.cmd', pid) ?? '').slice(0, 15),
    command: now.text('psinfo.psargs', pid) ?? instance.replace(/^\d+ ?/, ''),
    state: now.text('psinfo.sname', pid) ?? ' ',
    threads: of('psinfo.threads'),
    // Old agents export these as unsigned numbers.
    nice: of('psinfo.nice') | 0,
    priority: (of('psinfo.priority') | 0) + 100,
    realtimePriority: of('psinfo.rt_priority'),
    policy: of('psinfo.policy'),
    processor: of('psinfo.processor'),
    startMs: of('psinfo.start_time'),
    wchan: wchanOf(now.text('psinfo.wchan_s', pid)),
    container: containerOf(now.text('id.container', pid) ?? ''),
    environment: now.text('namespaces.envid', pid) ?? '0',
    cgroup: cgroupOf(now.text('psinfo.cgroups', pid) ?? ''),
    owners: ownersOf(pid, now),
    textKb: of('memory.vmexe'),
    dataKb: of('memory.vmdata'),
    stackKb: of('memory.vmstack'),
    libraryKb: of('memory.vmlib'),
    lockedKb: of('memory.vmlock'),
    swappedKb: of('memory.vmswap'),
    virtualKb,
    residentKb,
    proportionalKb: now.optional('smaps.pss', pid),
    virtualGrowthKb: growth('psinfo.vsize', virtualKb),
    residentGrowthKb: growth('psinfo.rss', residentKb),
    gpu: gpuOf(pid, now),
    isNew,
    isMoved: PLACES.some((item) => old !== undefined && old.number(item, pid) !== of(item)),
    end: undefined,
    ...countsOf(pid, now, old),
  }
}

function ownersOf(pid: number, now: TaskReader): Task['owners'] {
  const owners = {} as Record<OwnerKind, TaskOwner>
  for (const kind of OWNER_KINDS) {
    const id = now.number(`id.${kind}`, pid)
    owners[kind] = { id, name: now.text(`id.${kind}_nm`, pid) ?? String(id) }
  }
  return owners
}

/** Kernels report 0 for a thread that does not wait. */
function wchanOf(text: string | undefined): string {
  return text === undefined || text === '0' ? '' : text
}

/** Returns the first twelve digits of a container's name. */
function containerOf(text: string): string {
  const id = text.slice(text.lastIndexOf('/') + 1)
  return id === '' ? NO_CONTAINER : id.slice(0, NO_CONTAINER.length)
}

/** Returns the path in the unified hierarchy of version 2. */
function cgroupOf(text: string): string {
  const path = text.split(';').find((each) => each.startsWith(':') || each.startsWith('0:'))
  return path === undefined ? '' : path.slice(path.lastIndexOf(':') + 1)
}

function gpuOf(pid: number, now: TaskReader): GpuUse | undefined {
  const of = (item: string): number => now.other(`nvidia.proc.all.${item}`, pid) ?? 0
  if (now.other('nvidia.proc.all.memused', pid) === undefined) return undefined
  return {
    busy: of('gpuactive'),
    memoryBusy: of('memactive'),
    memory: of('memused'),
    memorySum: of('memaccum'),
    samples: of('samples'),
    list: of('gpulist'),
    count: of('ngpus'),
    isRunning: of('running') > 0,
  }
}
