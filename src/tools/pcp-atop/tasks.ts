/** Processes and threads, and what they did in an interval. pcp-atop(1) OUTPUT DESCRIPTION - PROCESS LEVEL */
import type { Sample } from '../lib/sampled/metrics.ts'
import type { Step } from './step.ts'

/** What grows while a process runs. Times in milliseconds, sizes in bytes. */
export interface TaskCounts {
  readonly userMs: number
  readonly sysMs: number
  readonly runDelayMs: number
  readonly blockDelayMs: number
  readonly minorFaults: number
  readonly majorFaults: number
  readonly readBytes: number
  readonly writtenBytes: number
  readonly cancelledBytes: number
  readonly tcpSends: number
  readonly tcpSentBytes: number
  readonly tcpReceives: number
  readonly tcpReceivedBytes: number
  readonly udpSends: number
  readonly udpSentBytes: number
  readonly udpReceives: number
  readonly udpReceivedBytes: number
}

/** How a process ended. */
export interface TaskEnd {
  readonly code: number
  readonly signal: number | undefined
  readonly hasCore: boolean
  /** Seconds since the epoch. */
  readonly time: number
}

/** Who it is: as whom it runs, each as a number and a name. */
export interface TaskOwner {
  readonly id: number
  readonly name: string
}

/** A process or a thread at the end of an interval; counts are those of the interval. */
export interface Task extends TaskCounts {
  readonly pid: number
  /** The process that a thread is of; its own number for a process. */
  readonly tgid: number
  readonly ppid: number
  readonly name: string
  readonly command: string
  /** R, S, D, I, T, Z and so on; E for one that ended. */
  readonly state: string
  readonly threads: number
  readonly nice: number
  readonly priority: number
  readonly realtimePriority: number
  readonly policy: number
  readonly processor: number
  /** Milliseconds since the host started. */
  readonly startMs: number
  readonly wchan: string
  readonly container: string
  readonly environment: string
  readonly cgroup: string
  readonly owners: Readonly<Record<OwnerKind, TaskOwner>>
  /** Kibibytes. */
  readonly textKb: number
  readonly dataKb: number
  readonly stackKb: number
  readonly libraryKb: number
  readonly lockedKb: number
  readonly swappedKb: number
  readonly virtualKb: number
  readonly residentKb: number
  /** Undefined where it was not gathered. */
  readonly proportionalKb: number | undefined
  readonly virtualGrowthKb: number
  readonly residentGrowthKb: number
  readonly gpu: GpuUse | undefined
  readonly isNew: boolean
  /** Another processor or another priority than at the beginning of the interval. */
  readonly isMoved: boolean
  readonly end: TaskEnd | undefined
}

/** Use of graphics processors. */
export interface GpuUse {
  readonly busy: number
  readonly memoryBusy: number
  /** Bytes. */
  readonly memory: number
  readonly memorySum: number
  readonly samples: number
  readonly list: number
  readonly count: number
  readonly isRunning: boolean
}

/** As whom a process runs. */
export type OwnerKind = 'uid' | 'euid' | 'suid' | 'fsuid' | 'gid' | 'egid' | 'sgid' | 'fsgid'
const OWNER_KINDS: readonly OwnerKind[] = ['uid', 'euid', 'suid', 'fsuid', 'gid', 'egid', 'sgid', 'fsgid']

/** Processes together. */
export interface TaskTotals {
  readonly sysMs: number
  readonly userMs: number
  readonly processes: number
  readonly running: number
  readonly sleeping: number
  readonly waiting: number
  readonly zombies: number
  readonly exits: number
  /** Are processes that end accounted for? */
  readonly hasExits: boolean
}

/** Which metrics processes come from. */
export type TaskGroup = 'proc' | 'hotproc'

/** Container of processes that are in none. */
export const NO_CONTAINER = 'host--------'

/** Processes and threads of an interval, by number. */
export function readTasks(step: Step, group: TaskGroup): readonly Task[] {
  const names = step.now.instances(`${group}.psinfo.pid`)
  const now = new TaskReader(step.now, group)
  const before = step.before === undefined ? undefined : new TaskReader(step.before, group)
  const alive = [...names].sort(([a], [b]) => a - b).map(([pid, name]) => taskOf(pid, name, now, before))
  return [...alive, ...exitedTasks(step)]
}

/** All processes added up; threads count with their process. */
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

/** Did anything about it change? */
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

/** Metrics of one sample, by short name. */
class TaskReader {
  readonly #sample: Sample
  readonly #group: TaskGroup
  readonly #texts = new Map<string, ReadonlyMap<number, string>>()

  constructor(sample: Sample, group: TaskGroup) {
    this.#sample = sample
    this.#group = group
  }

  has(pid: number): boolean {
    return this.#sample.numbers(`${this.#group}.psinfo.pid`).has(pid)
  }

  number(item: string, pid: number): number {
    return this.#sample.number(`${this.#group}.${item}`, pid) ?? 0
  }

  optional(item: string, pid: number): number | undefined {
    return this.#sample.number(`${this.#group}.${item}`, pid)
  }

  /** Of a metric of another group. */
  other(name: string, pid: number): number | undefined {
    return this.#sample.number(name, pid)
  }

  text(item: string, pid: number): string | undefined {
    const metric = `${this.#group}.${item}`
    let texts = this.#texts.get(metric)
    if (texts === undefined) {
      texts = this.#sample.texts(metric)
      this.#texts.set(metric, texts)
    }
    return texts.get(pid)
  }
}

/** What says where and when a process may run. */
const PLACES = ['psinfo.processor', 'psinfo.priority', 'psinfo.nice', 'psinfo.policy']
const COUNTERS: readonly (readonly [keyof TaskCounts, string, number])[] = [
  ['userMs', 'psinfo.utime', 1],
  ['sysMs', 'psinfo.stime', 1],
  ['runDelayMs', 'schedstat.run_delay', 1e-6],
  ['blockDelayMs', 'psinfo.delayacct_blkio_time', 1],
  ['minorFaults', 'psinfo.minflt', 1],
  ['majorFaults', 'psinfo.maj_flt', 1],
  ['readBytes', 'io.read_bytes', 1],
  ['writtenBytes', 'io.write_bytes', 1],
  ['cancelledBytes', 'io.cancelled_write_bytes', 1],
]
const NET_COUNTERS: readonly (readonly [keyof TaskCounts, string])[] = [
  ['tcpSends', 'tcp.send.calls'],
  ['tcpSentBytes', 'tcp.send.bytes'],
  ['tcpReceives', 'tcp.recv.calls'],
  ['tcpReceivedBytes', 'tcp.recv.bytes'],
  ['udpSends', 'udp.send.calls'],
  ['udpSentBytes', 'udp.send.bytes'],
  ['udpReceives', 'udp.recv.calls'],
  ['udpReceivedBytes', 'udp.recv.bytes'],
]

type MutableCounts = { -readonly [K in keyof TaskCounts]: number }

function noCounts(): MutableCounts {
  const counts = {} as MutableCounts
  for (const [key] of [...COUNTERS, ...NET_COUNTERS]) counts[key] = 0
  return counts
}

/** Transfers count in sectors, as disks do; what an archive has between two samples may be a part of one. */
const SECTOR = 512
const full = (value: number, unit: number): number => Math.floor(value / unit) * unit

function countsOf(pid: number, now: TaskReader, before: TaskReader | undefined): TaskCounts {
  const counts = noCounts()
  const grown = (end: number, begin: number): number => (end >= begin ? end - begin : end)
  for (const [key, item, factor] of COUNTERS) {
    const unit = item.startsWith('io.') ? SECTOR : 1
    counts[key] =
      grown(full(now.number(item, pid), unit), full(before?.number(item, pid) ?? 0, unit)) * factor
  }
  for (const [key, item] of NET_COUNTERS) {
    const name = `bcc.proc.net.${item}`
    counts[key] = grown(now.other(name, pid) ?? 0, before?.other(name, pid) ?? 0)
  }
  return counts
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
    // Old agents gave these numbers no sign.
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

/** Kernels say 0 of a thread that does not wait. */
function wchanOf(text: string | undefined): string {
  return text === undefined || text === '0' ? '' : text
}

/** The first twelve digits of a container's name. */
function containerOf(text: string): string {
  const id = text.slice(text.lastIndexOf('/') + 1)
  return id === '' ? NO_CONTAINER : id.slice(0, NO_CONTAINER.length)
}

/** The path in the one tree of version 2. */
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

/** Those that ended in the interval, from process accounting. Records stay for a while: only those not seen before count. */
function exitedTasks({ now, before }: Step): readonly Task[] {
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
      ...nobody(user, group),
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

/** What is known of a process that is no more: nothing but who it was. */
function nobody(
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
