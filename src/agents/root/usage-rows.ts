/** Data: what each container uses, by name. Each row has the value of either version of control groups. */
import type { Sample, SemName, TypeName } from '../../pmda/define.ts'
import { type Count, NETWORK_COLUMNS, NETWORK_OUT, type Usage } from './usage.ts'

/** One metric. */
export interface UsageRow {
  readonly item: number
  readonly kind: 'us' | 'count' | 'bytes' | 'bytecount' | 'number' | 'float' | 'text'
  readonly help: string
  readonly text: string
  readonly of: (usage: Usage) => Sample
}

/** Type, semantics and units by kind. */
export const USAGE_KINDS: {
  readonly [kind in UsageRow['kind']]: readonly [TypeName, SemName, string]
} = {
  us: ['u64', 'counter', 'microsec'],
  count: ['u64', 'counter', 'count'],
  bytes: ['u64', 'instant', 'byte'],
  bytecount: ['u64', 'counter', 'byte'],
  number: ['u64', 'instant', 'count'],
  float: ['double', 'instant', 'none'],
  text: ['string', 'discrete', 'none'],
}

/** Metrics of a group of names. */
export interface UsageGroup {
  readonly name: string
  readonly cluster: number
  /** `hertz` is the number of clock ticks per second. */
  readonly rows: (hertz: number) => { readonly [name: string]: UsageRow }
}

/** Limits of version 1 that are none: the largest number of pages. */
const UNLIMITED = 2 ** 60

function scaled(value: Count, factor: number): Count {
  if (value === undefined) return undefined
  return Math.floor(Number(value) * factor)
}

function limit(value: Count): Count {
  return value !== undefined && value < UNLIMITED ? value : undefined
}

function difference(value: Count, less: Count): Count {
  return value === undefined || less === undefined ? undefined : Math.max(0, Number(value) - Number(less))
}

const cpuTime =
  (field: string, file: string, row: string, factor: number) =>
  (usage: Usage): Count => {
    if (!usage.isLegacy('cpuacct')) return usage.field('cpu.stat', field)
    const value = row === '' ? usage.number(file, 'cpuacct') : usage.field(file, row, 'cpuacct')
    return scaled(value, factor)
  }

const cpuStat =
  (field: string, legacy: string, factor = 1) =>
  (usage: Usage): Count =>
    usage.isLegacy('cpu')
      ? scaled(usage.field('cpu.stat', legacy, 'cpu'), factor)
      : usage.field('cpu.stat', field)

function cpuLimit(usage: Usage): Sample {
  if (usage.isLegacy('cpu')) {
    const quota = usage.number('cpu.cfs_quota_us', 'cpu')
    const period = usage.number('cpu.cfs_period_us', 'cpu')
    return quota === undefined || !(Number(period) > 0) ? undefined : Number(quota) / Number(period)
  }
  const [quota, period] = usage.words('cpu.max').map(Number)
  return Number.isFinite(quota) && period! > 0 ? quota! / period! : undefined
}

const memory =
  (file: string, legacy: string) =>
  (usage: Usage): Count =>
    limit(usage.isLegacy('memory') ? usage.number(legacy, 'memory') : usage.number(file))

const memoryStat =
  (field: string, legacy: string) =>
  (usage: Usage): Count =>
    usage.isLegacy('memory')
      ? usage.field('memory.stat', legacy, 'memory')
      : usage.field('memory.stat', field)

const memoryUsed = memory('memory.current', 'memory.usage_in_bytes')
const memoryIdle = memoryStat('inactive_file', 'total_inactive_file')

function swap(file: string, legacy: string, plain: string): (usage: Usage) => Count {
  const ofVersion2 = (usage: Usage): Count => usage.number(file)
  // version 1 only has the sum of memory and swap
  return (usage) =>
    usage.isLegacy('memory')
      ? difference(limit(usage.number(legacy, 'memory')), limit(usage.number(plain, 'memory')))
      : ofVersion2(usage)
}

const cpu = (hertz: number): { readonly [name: string]: UsageRow } => ({
  usage: {
    item: 0,
    kind: 'us',
    help: 'CPU time used by each container on all CPUs',
    text: 'As a rate it is the number of CPUs in use. From cpu.stat, or cpuacct.usage in version 1.',
    of: cpuTime('usage_usec', 'cpuacct.usage', '', 0.001),
  },
  user: {
    item: 1,
    kind: 'us',
    help: 'CPU time that the programs of each container spent in user mode',
    text: 'From cpu.stat, or cpuacct.stat in version 1.',
    of: cpuTime('user_usec', 'cpuacct.stat', 'user', 1e6 / hertz),
  },
  system: {
    item: 2,
    kind: 'us',
    help: 'CPU time that the kernel spent for each container',
    text: 'From cpu.stat, or cpuacct.stat in version 1.',
    of: cpuTime('system_usec', 'cpuacct.stat', 'system', 1e6 / hertz),
  },
  periods: {
    item: 3,
    kind: 'count',
    help: 'Enforcement periods of the CPU limit in which the container ran',
    text: 'From the row nr_periods of cpu.stat. It does not increase without a limit.',
    of: cpuStat('nr_periods', 'nr_periods'),
  },
  'throttled.periods': {
    item: 4,
    kind: 'count',
    help: 'Periods in which a container reached its CPU limit and had to wait',
    text: 'From the row nr_throttled of cpu.stat.',
    of: cpuStat('nr_throttled', 'nr_throttled'),
  },
  'throttled.time': {
    item: 5,
    kind: 'us',
    help: 'Time that the CPUs of a container waited because of its CPU limit',
    text: 'Added up over CPUs. From cpu.stat.',
    of: cpuStat('throttled_usec', 'throttled_time', 0.001),
  },
  limit: {
    item: 6,
    kind: 'float',
    help: 'Number of CPUs that each container may use; no value without a limit',
    text: 'Quota divided by period: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us in version 1.',
    of: cpuLimit,
  },
})

const MEMORY: { readonly [name: string]: UsageRow } = {
  current: {
    item: 0,
    kind: 'bytes',
    help: 'Memory charged to each container, including its page cache',
    text: 'From memory.current, or memory.usage_in_bytes in version 1.',
    of: memoryUsed,
  },
  limit: {
    item: 1,
    kind: 'bytes',
    help: 'Memory that each container may use; no value without a limit',
    text: 'From memory.max, or memory.limit_in_bytes in version 1.',
    of: memory('memory.max', 'memory.limit_in_bytes'),
  },
  working_set: {
    item: 2,
    kind: 'bytes',
    help: 'Memory of each container without page cache that was not used recently',
    text: 'What Kubernetes compares with limits: memory.current less inactive_file of memory.stat.',
    of: (usage) => difference(memoryUsed(usage), memoryIdle(usage)),
  },
  anon: {
    item: 3,
    kind: 'bytes',
    help: 'Memory of the programs in each container: heaps and stacks',
    text: 'From the row anon of memory.stat, or total_rss in version 1.',
    of: memoryStat('anon', 'total_rss'),
  },
  file: {
    item: 4,
    kind: 'bytes',
    help: 'Page cache of each container, including tmpfs and shared memory',
    text: 'From the row file of memory.stat, or total_cache in version 1.',
    of: memoryStat('file', 'total_cache'),
  },
  kernel: {
    item: 5,
    kind: 'bytes',
    help: 'Memory that the kernel uses for each container; no value before Linux 5.18',
    text: 'From the row kernel of memory.stat, or memory.kmem.usage_in_bytes in version 1.',
    of: (usage) =>
      usage.isLegacy('memory')
        ? usage.number('memory.kmem.usage_in_bytes', 'memory')
        : usage.field('memory.stat', 'kernel'),
  },
  swap: {
    item: 6,
    kind: 'bytes',
    help: 'Swap space used by each container',
    text: 'From memory.swap.current, or memory.memsw.usage_in_bytes less memory.usage_in_bytes in version 1.',
    of: swap('memory.swap.current', 'memory.memsw.usage_in_bytes', 'memory.usage_in_bytes'),
  },
  swap_limit: {
    item: 7,
    kind: 'bytes',
    help: 'Swap space that each container may use; no value without a limit',
    text: 'From memory.swap.max, or memory.memsw.limit_in_bytes less memory.limit_in_bytes in version 1.',
    of: swap('memory.swap.max', 'memory.memsw.limit_in_bytes', 'memory.limit_in_bytes'),
  },
  limit_hits: {
    item: 8,
    kind: 'count',
    help: 'Times that memory of a container had to be reclaimed because of its limit',
    text: 'From the row max of memory.events, or memory.failcnt in version 1.',
    of: (usage) =>
      usage.isLegacy('memory')
        ? usage.number('memory.failcnt', 'memory')
        : usage.field('memory.events', 'max'),
  },
  oom_kills: {
    item: 9,
    kind: 'count',
    help: 'Processes of a container that were killed because memory ran out',
    text: 'From the row oom_kill of memory.events, or of memory.oom_control in version 1.',
    of: (usage) =>
      usage.isLegacy('memory')
        ? usage.field('memory.oom_control', 'oom_kill', 'memory')
        : usage.field('memory.events', 'oom_kill'),
  },
  majfault: {
    item: 10,
    kind: 'count',
    help: 'Page faults of each container that had to read from a disk',
    text: 'From memory.stat.',
    of: memoryStat('pgmajfault', 'total_pgmajfault'),
  },
}

const IO_TEXT =
  'Sum over disks. Logical volumes, software RAID and loop devices are not added, because the disks below them are. From io.stat, or blkio.throttle in version 1, which counts no writes that were delayed in the page cache.'

const IO: { readonly [name: string]: UsageRow } = {
  rbytes: {
    item: 0,
    kind: 'bytecount',
    help: 'Bytes that each container read from disks',
    text: IO_TEXT,
    of: ({ transfers }) => transfers?.rbytes,
  },
  wbytes: {
    item: 1,
    kind: 'bytecount',
    help: 'Bytes that each container wrote to disks',
    text: IO_TEXT,
    of: ({ transfers }) => transfers?.wbytes,
  },
  rios: {
    item: 2,
    kind: 'count',
    help: 'Reads of each container from disks',
    text: IO_TEXT,
    of: ({ transfers }) => transfers?.rios,
  },
  wios: {
    item: 3,
    kind: 'count',
    help: 'Writes of each container to disks',
    text: IO_TEXT,
    of: ({ transfers }) => transfers?.wios,
  },
}

const RESOURCES = [
  ['cpu', 'a CPU'],
  ['memory', 'memory'],
  ['io', 'a disk'],
] as const

function pressureRows(): { readonly [name: string]: UsageRow } {
  const rows: { [name: string]: UsageRow } = {}
  for (const [at, [resource, what]] of RESOURCES.entries())
    for (const [second, kind] of (['some', 'full'] as const).entries())
      rows[`${resource}.${kind}`] = {
        item: at * 2 + second,
        kind: 'us',
        help: `Time in which ${kind === 'some' ? 'some process' : 'all non-idle processes'} of a container waited for ${what}`,
        text: `The total of the line "${kind}" in ${resource}.pressure. Version 2 only.`,
        of: (usage) => usage.pressure(resource, kind),
      }
  return rows
}

const PIDS: { readonly [name: string]: UsageRow } = {
  current: {
    item: 0,
    kind: 'number',
    help: 'Processes and threads in each container',
    text: 'From pids.current.',
    of: (usage) => usage.number('pids.current', usage.isLegacy('pids') ? 'pids' : undefined),
  },
  limit: {
    item: 1,
    kind: 'number',
    help: 'Processes and threads that each container may have; no value without a limit',
    text: 'From pids.max.',
    of: (usage) => usage.number('pids.max', usage.isLegacy('pids') ? 'pids' : undefined),
  },
}

const NETWORK_NAMES: { readonly [column in keyof typeof NETWORK_COLUMNS]: string } = {
  bytes: 'Bytes',
  packets: 'Packets',
  errors: 'Packets with errors',
  drops: 'Dropped packets that were to be',
}

function networkRows(): { readonly [name: string]: UsageRow } {
  const rows: { [name: string]: UsageRow } = {}
  for (const [at, [direction, verb]] of (
    [
      ['in', 'received'],
      ['out', 'sent'],
    ] as const
  ).entries())
    for (const [column, place] of Object.entries(NETWORK_COLUMNS))
      rows[`${direction}.${column}`] = {
        item: at * 4 + place,
        kind: column === 'bytes' ? 'bytecount' : 'count',
        help: `${NETWORK_NAMES[column as keyof typeof NETWORK_COLUMNS]} ${verb} by each container`,
        text: 'Sum over its interfaces but the loopback, from /proc/PID/net/dev. Containers of a pod share their interfaces, so each has the values of the pod. No value for a container with the network of the host.',
        of: ({ network }) => network?.[at * NETWORK_OUT + place],
      }
  return rows
}

/** Returns what a container is doing; a group that is frozen is one that is paused. */
function statusOf(usage: Usage): string | undefined {
  const { container, group } = usage.named
  if (container.isRestarting === true) return 'restarting'
  const isFrozen = group === undefined ? undefined : usage.number('cgroup.freeze')
  if (isFrozen === undefined ? container.isPaused === true : isFrozen === 1) return 'paused'
  if (group !== undefined || container.isRunning === true) return 'running'
  return container.isRunning === undefined ? undefined : (container.stopped ?? 'exited')
}

const INFO: { readonly [name: string]: UsageRow } = {
  id: {
    item: 0,
    kind: 'text',
    help: 'Long id of each container, an instance of containers.name',
    text: "The engine's identifier; the name for lxc.",
    of: ({ named }) => named.container.id,
  },
  engine: {
    item: 1,
    kind: 'text',
    help: 'Program that runs each container: docker, podman, containerd, cri-o, lxc or kubelet',
    text: 'kubelet if only the log of a container is known and not what created it.',
    of: ({ named }) => named.container.engine,
  },
  image: {
    item: 2,
    kind: 'text',
    help: 'Name of the image that each container was created from',
    text: "From the engine's files; no value if they are not readable.",
    of: ({ named }) => named.container.image,
  },
  status: {
    item: 3,
    kind: 'text',
    help: 'State of each container: running, paused, restarting, created, exited or dead',
    text: 'Running is a container with a control group, or with a process of its engine.',
    of: statusOf,
  },
  pod: {
    item: 4,
    kind: 'text',
    help: 'Kubernetes pod of each container',
    text: 'From annotations of containerd, names of docker and CRI-O, or the names of files in /var/log/containers.',
    of: ({ named }) => named.container.pod,
  },
  namespace: {
    item: 5,
    kind: 'text',
    help: 'Kubernetes namespace of each container',
    text: 'From where the pod is from.',
    of: ({ named }) => named.container.namespace,
  },
  cgroup: {
    item: 6,
    kind: 'text',
    help: 'Control group of each running container, an instance of cgroup metrics',
    text: 'Path below the mount of the hierarchy.',
    of: ({ named }) => named.group,
  },
}

/** All groups. PCP's agent uses cluster 0. */
export const USAGE_GROUPS: readonly UsageGroup[] = [
  { name: 'info', cluster: 64, rows: () => INFO },
  { name: 'cpu', cluster: 65, rows: cpu },
  { name: 'memory', cluster: 66, rows: () => MEMORY },
  { name: 'io', cluster: 67, rows: () => IO },
  { name: 'pressure', cluster: 68, rows: pressureRows },
  { name: 'pids', cluster: 69, rows: () => PIDS },
  { name: 'network', cluster: 70, rows: networkRows },
]
