/** Values for the lines of the host: processor times, disk and network activity. pcp-atop(1) */
import { CPU_ITEMS } from './metrics.ts'
import type { Step } from './step.ts'

/** Milliseconds of processor time by mode. */
export interface CpuTimes {
  readonly sys: number
  readonly user: number
  readonly nice: number
  readonly idle: number
  readonly wait: number
  readonly irq: number
  readonly softirq: number
  readonly steal: number
  readonly guest: number
  readonly total: number
}

/** Times of a processor or a node. */
export interface NumberedCpuTimes extends CpuTimes {
  readonly number: number
  readonly inst: number
}

/** Returns the times of all processors together. */
export function allCpuTimes(step: Step): CpuTimes {
  return timesFrom((item) => step.delta(`kernel.all.cpu.${item}`))
}

/** Returns the times of each processor. */
export function eachCpuTimes(step: Step): readonly NumberedCpuTimes[] {
  return numbered(step, 'kernel.percpu.cpu')
}

/** Returns the times of each NUMA node; empty if there is only one. */
export function eachNodeTimes(step: Step): readonly NumberedCpuTimes[] {
  return step.value('hinv.nnode') > 1 ? numbered(step, 'kernel.pernode.cpu') : []
}

function numbered(step: Step, group: string): readonly NumberedCpuTimes[] {
  return [...step.instances(`${group}.sys`, `${group}.user`)].map(([inst, name]) => ({
    ...timesFrom((item) => step.delta(`${group}.${item}`, inst)),
    number: Number(/\d+$/.exec(name)?.[0] ?? inst),
    inst,
  }))
}

function timesFrom(read: (item: string) => number): CpuTimes {
  const [sys, user, nice, idle, wait, irq, softirq, steal, guest] = CPU_ITEMS.map(read) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const total = sys + user + nice + idle + wait + irq + softirq + steal
  return { sys, user, nice, idle, wait, irq, softirq, steal, guest, total }
}

/** Returns the number of processors, at least one. */
export function cpuCount(step: Step): number {
  return Math.max(1, step.value('hinv.ncpu') || eachCpuTimes(step).length)
}

/** Returns the milliseconds that are 100 %: the time of one processor. */
export function cpuScale(step: Step): number {
  const { total } = allCpuTimes(step)
  return total > 0 ? Math.max(1, Math.trunc(total / cpuCount(step))) : step.elapsedSec * 1000
}

/** Kinds of disks: logical volumes, multiple devices, disks. */
export type DiskKind = 'LVM' | 'MDD' | 'DSK'

/** Name space of each kind's metrics. */
export const DISK_GROUPS: Readonly<Record<DiskKind, string>> = {
  LVM: 'disk.dm',
  MDD: 'disk.md',
  DSK: 'disk.dev',
}

/** Activity of a disk. Sectors have 512 bytes. */
export interface DiskWork {
  readonly name: string
  readonly ioMs: number
  readonly reads: number
  readonly readSectors: number
  readonly writes: number
  readonly writeSectors: number
  /** Undefined if the kernel does not count them. */
  readonly discards: number | undefined
  readonly discardSectors: number
  readonly inFlight: number
  /** Average number of requests in progress while the disk was busy. */
  readonly queue: number
}

/** Returns the activity of all disks of a kind. */
export function diskWork(step: Step, kind: DiskKind): readonly DiskWork[] {
  const group = DISK_GROUPS[kind]
  return [...step.instances(`${group}.read`, `${group}.write`)].map(([inst, name]) => {
    const of = (item: string): number => step.delta(`${group}.${item}`, inst)
    const ioMs = of('avactive')
    return {
      name,
      ioMs,
      reads: of('read'),
      readSectors: of('blkread'),
      writes: of('write'),
      writeSectors: of('blkwrite'),
      discards: step.has(`${group}.discard`) ? of('discard') : undefined,
      discardSectors: of('blkdiscard'),
      inFlight: step.value(`${group}.inflight`, inst),
      queue: ioMs > 0 ? of('aveq') / ioMs : 0,
    }
  })
}

/** Was there any request? */
export function isActiveDisk({ reads, writes, discards = 0 }: DiskWork): boolean {
  return reads > 0 || writes > 0 || discards > 0
}

/** An interface's traffic. */
export interface Traffic {
  readonly name: string
  readonly inst: number
  readonly packetsIn: number
  readonly packetsOut: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Megabits a second; 0 if unknown. */
  readonly speed: number
  readonly isFullDuplex: boolean
  /** Percentage of the speed; undefined if that is unknown. */
  readonly busy: number | undefined
}

const BYTES_PER_MEGABIT = 125_000
/** Kernels report an unknown speed as -1, which agents export as an unsigned number. */
const SPEED_UNKNOWN = 2 ** 31

/** Returns the traffic of all interfaces, sorted by name. */
export function interfaceTraffic(step: Step): readonly Traffic[] {
  const group = 'network.interface'
  const instances = [...step.instances(`${group}.in.packets`, `${group}.in.bytes`)]
  instances.sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0))
  return instances.map(([inst, name]) => {
    const bytesIn = step.delta(`${group}.in.bytes`, inst)
    const bytesOut = step.delta(`${group}.out.bytes`, inst)
    const megabits = step.constant(`${group}.baudrate`, inst) / BYTES_PER_MEGABIT
    const speed = megabits >= SPEED_UNKNOWN ? 0 : megabits
    const isFullDuplex = step.constant(`${group}.duplex`, inst) !== 1
    const load = isFullDuplex ? Math.max(bytesIn, bytesOut) : bytesIn + bytesOut
    return {
      name,
      inst,
      packetsIn: step.delta(`${group}.in.packets`, inst),
      packetsOut: step.delta(`${group}.out.packets`, inst),
      bytesIn,
      bytesOut,
      speed,
      isFullDuplex,
      busy: speed > 0 ? ((load / BYTES_PER_MEGABIT / step.elapsedSec) * 100) / speed : undefined,
    }
  })
}

/** Compares interfaces, busiest first: by the percentage of their speed, or if unknown by bytes. */
export function compareTraffic(a: Traffic, b: Traffic): number {
  if (a.busy !== undefined || b.busy !== undefined) return (b.busy ?? -1) - (a.busy ?? -1)
  return b.bytesIn + b.bytesOut - a.bytesIn - a.bytesOut
}

/** Returns the number of requests of a kind, summed over all versions of NFS. */
export function nfsRequests(step: Step, side: 'client' | 'server', kind: 'read' | 'write'): number {
  let total = 0
  for (const group of ['nfs', 'nfs3', 'nfs4']) {
    const metric = `${group}.${side}.reqs`
    for (const [inst, name] of step.instances(metric)) if (name === kind) total += step.delta(metric, inst)
  }
  return total
}

/** Returns instructions and cycles of a processor or of all, from hardware counters; undefined without them. */
export function hardwareCounts(
  step: Step,
  cpu?: number,
): { readonly instructions: number; readonly cycles: number } | undefined {
  const names = [
    [
      'perfevent.hwcounters.INSTRUCTIONS_RETIRED.value',
      'perfevent.hwcounters.UNHALTED_REFERENCE_CYCLES.value',
    ],
    ['perfevent.hwcounters.instructions.value', 'perfevent.hwcounters.cycles.value'],
  ] as const
  const found = names.find(([first]) => step.has(first))
  if (found === undefined) return undefined
  const read = (name: string): number => (cpu === undefined ? step.deltaOfAll(name) : step.delta(name, cpu))
  return { instructions: read(found[0]), cycles: read(found[1]) }
}
