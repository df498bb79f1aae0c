/** Samples of a fake host for atop's tests, with values given by the test. */
import type { MetricDesc } from '../../../src/model/desc.ts'
import { PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmid } from '../../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_DOUBLE, PM_TYPE_STRING } from '../../../src/model/types.ts'
import { makeSet } from '../../../src/model/value-writer.ts'
import { Sample } from '../../../src/tools/lib/sampled/metrics.ts'

/** A single value, or values by instance: `{ 0: ['cpu0', 12] }`. */
export type Values =
  | number
  | string
  | Readonly<Record<number, readonly [name: string, value: number | string]>>

/** Makes a sample at a time in seconds since the epoch. */
export function sampleOf(sec: number, metrics: Readonly<Record<string, Values>>): Sample {
  const found = new Map<string, { id: Pmid; desc: MetricDesc; factor: number }>()
  const names = new Map<number, ReadonlyMap<number, string>>()
  const sets = Object.entries(metrics).map(([name, values], i) => {
    const id = pmid(1, 0, i)
    const isSingle = typeof values !== 'object'
    const list = isSingle ? [values] : Object.values(values).map(([, value]) => value)
    const type = typeof list[0] === 'string' ? PM_TYPE_STRING : PM_TYPE_DOUBLE
    const indom = isSingle ? PM_INDOM_NULL : i + 1
    const insts = isSingle ? [PM_IN_NULL] : Object.keys(values).map(Number)
    found.set(name, { id, desc: { pmid: id, type, indom, sem: PM_SEM_INSTANT, units: 0 }, factor: 1 })
    if (!isSingle) names.set(indom, new Map(insts.map((inst) => [inst, values[inst]![0]])))
    return makeSet(id, type, insts, list)
  })
  return new Sample({ timestamp: { sec, nsec: 0 }, changes: 0, sets }, found, names)
}

/** Times of two processors in milliseconds since boot. */
function processors(group: string, idle: number, user: number, sys: number): Record<string, Values> {
  const both = (value: number): Values => ({ 0: ['cpu0', value], 1: ['cpu1', value / 2] })
  return {
    'kernel.all.cpu.idle': idle * 1.5,
    'kernel.all.cpu.user': user * 1.5,
    'kernel.all.cpu.sys': sys * 1.5,
    [`${group}.idle`]: both(idle),
    [`${group}.user`]: both(user),
    [`${group}.sys`]: both(sys),
  }
}

/** A process by its metrics. */
export interface MadeProcess {
  readonly name: string
  readonly utime: number
  readonly rss: number
  readonly state?: string
  readonly read?: number
  readonly tgid?: number
}

/** A sample of a host with two processors, a disk, an interface and these processes, this long after boot. */
export function hostAfter(seconds: number, processes: Readonly<Record<number, MadeProcess>>): Sample {
  const per = (read: (process: MadeProcess, pid: number) => number | string): Values =>
    Object.fromEntries(
      Object.entries(processes).map(([pid, process]) => [
        pid,
        [`${pid.padStart(6, '0')} /usr/bin/${process.name} -x`, read(process, Number(pid))] as const,
      ]),
    )
  return sampleOf(1_600_000_000 + seconds, {
    'hinv.ncpu': 2,
    'hinv.pagesize': 4096,
    'kernel.all.hz': 100,
    'kernel.all.pid_max': 32_768,
    'kernel.all.boottime': 1_599_990_000,
    'kernel.all.uptime': 10_000 + seconds,
    'kernel.all.load': { 1: ['1 minute', 0.5], 5: ['5 minute', 1.25], 15: ['15 minute', 12] },
    'kernel.all.pswitch': 1000 * seconds,
    'kernel.all.intr': 21_747_691 * seconds,
    ...processors('kernel.percpu.cpu', 900 * seconds, 60 * seconds, 40 * seconds),
    'mem.physmem': 4 * 1024 ** 3,
    'mem.freemem': 1024 ** 3,
    'mem.util.cached': 1.5 * 1024 ** 3,
    'disk.dev.read': { 0: ['sda', 10 * seconds] },
    'disk.dev.write': { 0: ['sda', 5 * seconds] },
    'disk.dev.blkread': { 0: ['sda', 320 * seconds] },
    'disk.dev.avactive': { 0: ['sda', 900 * seconds] },
    'network.interface.in.packets': { 0: ['lo', 0], 1: ['ethernet0', 7 * seconds] },
    'network.interface.out.packets': { 0: ['lo', 0], 1: ['ethernet0', 3 * seconds] },
    'network.interface.in.bytes': { 0: ['lo', 0], 1: ['ethernet0', 125_000 * seconds] },
    'network.interface.out.bytes': { 0: ['lo', 0], 1: ['ethernet0', 1000 * seconds] },
    'network.interface.baudrate': { 0: ['lo', 0], 1: ['ethernet0', 125_000_000] },
    'proc.psinfo.pid': per((_, pid) => pid),
    'proc.psinfo.tgid': per(({ tgid }, pid) => tgid ?? pid),
    'proc.psinfo.cmd': per(({ name }) => name),
    'proc.psinfo.sname': per(({ state = 'S' }) => state),
    'proc.psinfo.threads': per(() => 2),
    'proc.psinfo.utime': per(({ utime }) => utime),
    'proc.psinfo.stime': per(() => 0),
    'proc.psinfo.rss': per(({ rss }) => rss),
    'proc.psinfo.vsize': per(({ rss }) => rss * 4),
    'proc.io.read_bytes': per(({ read = 0 }) => read),
    'proc.id.uid_nm': per(({ name }) => (name === 'shell' ? 'root' : 'anna')),
    'proc.psinfo.start_time': per(() => 5000),
  })
}
