/** cgroup.*: control groups of versions 1 and 2. cgroups(7) */
import { exactInteger } from '../../base/exact-integer.ts'
import { containerOf } from '../../model/container-id.ts'
import type { IndomSpec, Sample } from '../../pmda/define.ts'
import type { Reading } from '../../pmda/reading.ts'
import { fieldOf, numberAt } from '../lib/cgroup-fields.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { blkioMetrics, ioStatMetrics } from './cgroup-devices.ts'
import { type CgroupDomain, cgroupDomain } from './cgroup-domain.ts'
import {
  CGROUP_KINDS,
  type CgroupRow,
  CPU_STAT_ROWS,
  CPUACCT_ROWS,
  CPUSCHED_ROWS,
  CPUSET_ROWS,
  MEMORY_ROWS,
  NETCLASS_ROWS,
  PRESSURES,
} from './cgroup-rows.ts'
import { type Cgroup, type CgroupFiles, type CgroupSnapshot, cgroupReading } from './cgroup-tree.ts'
import type { ProcContext } from './context.ts'

/** The metrics of control groups. */
export function cgroupMetrics(ctx: ProcContext, files: CgroupFiles): { [name: string]: OrderedRow } {
  const reading = cgroupReading(files)
  const domain = (
    serial: number,
    groups: (snapshot: CgroupSnapshot) => readonly Cgroup[],
    device: string | undefined,
    what: string,
  ): CgroupDomain =>
    cgroupDomain(reading, serial, groups, device === undefined ? undefined : { device_type: device }, what)
  const unified = domain(16, (all) => all.unified, undefined, 'Control groups of version 2')
  const cpuset = domain(20, (all) => all.either('cpuset'), 'cpu', 'Control groups with CPU sets')
  const cpuacct = domain(21, (all) => all.either('cpuacct'), 'cpu', 'Control groups with CPU accounting')
  const cpusched = domain(23, (all) => all.withController('cpu'), 'cpu', 'Control groups with CPU scheduling')
  const memory = domain(24, (all) => all.either('memory'), 'memory', 'Control groups with memory control')
  const netclass = domain(
    25,
    (all) => all.withController('net_cls'),
    'interface',
    'Control groups with network classes',
  )
  const blkio = domain(
    26,
    (all) => all.withController('blkio'),
    'block',
    'Control groups with block I/O control',
  )
  return {
    ...subsystemMetrics(reading),
    ...fieldMetrics(ctx, 'cgroup.cpu.stat', 67, unified, CPU_STAT_ROWS),
    ...fieldMetrics(ctx, 'cgroup.cpuset', 39, cpuset, CPUSET_ROWS),
    ...containerMetric('cgroup.cpuset', 39, 2, cpuset),
    ...fieldMetrics(ctx, 'cgroup.cpuacct', 41, cpuacct, CPUACCT_ROWS),
    ...perCpuMetric(cpuacct),
    ...containerMetric('cgroup.cpuacct', 41, 4, cpuacct),
    ...fieldMetrics(ctx, 'cgroup.cpusched', 43, cpusched, CPUSCHED_ROWS),
    ...containerMetric('cgroup.cpusched', 43, 6, cpusched),
    ...fieldMetrics(ctx, 'cgroup.memory', 45, memory, MEMORY_ROWS),
    ...containerMetric('cgroup.memory', 45, 29, memory),
    ...fieldMetrics(ctx, 'cgroup.netclass', 47, netclass, NETCLASS_ROWS),
    ...containerMetric('cgroup.netclass', 47, 1, netclass),
    ...blkioMetrics(ctx, blkio),
    ...containerMetric('cgroup.blkio', 49, 42, blkio),
    ...pressureMetrics(unified),
    ...ioStatMetrics(reading),
  }
}

/** Metrics from files with one value or a line per field. */
function fieldMetrics(
  ctx: ProcContext,
  root: string,
  cluster: number,
  { reading, indom, group }: CgroupDomain,
  rows: readonly CgroupRow[],
): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, file, field, kind, help] of rows) {
    const [type, sem, units] = CGROUP_KINDS[kind]!
    const factor = kind === 'ticks' ? 1000 / ctx.hertz : 1
    metrics[`${root}.${name}`] = {
      cluster,
      item,
      type,
      sem,
      units,
      indom,
      reading,
      help,
      text:
        field === ''
          ? `${help}. From the file ${file}.`
          : `${help}. From the row ${field} of the file ${file}.`,
      value: (inst): Sample => {
        const found = group(inst)
        if (found === undefined) return undefined
        if (field !== '') {
          const fields = reading.value.fields(found, file)
          return fields && scaled(fieldOf(fields, field), factor)
        }
        const text = textOf(reading.value, found, file)
        if (text === undefined) return undefined
        return kind === 'text' ? text.trim() : scaled(numberAt(text, 1), factor)
      },
    }
  }
  return metrics
}

function scaled(number: number | bigint | undefined, factor: number): number | bigint | undefined {
  return typeof number === 'number' ? number * factor : number
}

/** The root group of version 2 lacks cpuset.cpus and cpuset.mems; its .effective files are used instead. */
function textOf(snapshot: CgroupSnapshot, group: Cgroup, file: string): string | undefined {
  const text = snapshot.text(group, file)
  return text === undefined && file.startsWith('cpuset.') ? snapshot.text(group, `${file}.effective`) : text
}

/** The container of each group. */
function containerMetric(
  root: string,
  cluster: number,
  item: number,
  { reading, indom, group }: CgroupDomain,
): { [name: string]: OrderedRow } {
  return {
    [`${root}.id.container`]: {
      cluster,
      item,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      indom,
      reading,
      help: 'Long id of the container of the group; empty for other groups',
      text: 'Derived from directory names of docker, podman, CRI-O and containerd.',
      value: (inst) => {
        const found = group(inst)
        return found && containerOf(found.name)
      },
    },
  }
}

const PER_CPU_SERIAL = 22

function perCpuMetric(cpuacct: CgroupDomain): { [name: string]: OrderedRow } {
  const { reading } = cpuacct
  const ids = new InstanceIds()
  let of: CgroupSnapshot | undefined
  const times = new Map<number, number | bigint>()
  const refresh = (): void => {
    if (of === reading.value) return
    of = reading.value
    times.clear()
    for (const group of of.withController('cpuacct')) {
      const columns = of.text(group, 'cpuacct.usage_percpu')?.match(/\d+/g) ?? []
      for (const [cpu, digits] of columns.entries()) {
        times.set(ids.idOf(`${group.name}::cpu${cpu}`), exactInteger(digits))
      }
    }
  }
  const indom: IndomSpec = {
    serial: PER_CPU_SERIAL,
    reading,
    instances: () => {
      refresh()
      const listed = [...times.keys()]
      return { ids: listed, names: listed.map((inst) => ids.nameOf(inst)!) }
    },
    help: 'CPUs of control groups with CPU accounting',
    text: 'Named by the group, two colons and the CPU.',
    labels: { device_type: 'cpu' },
  }
  return {
    'cgroup.cpuacct.usage_percpu': {
      cluster: 41,
      item: 3,
      type: 'u64',
      sem: 'counter',
      units: 'nanosec',
      indom,
      reading,
      help: 'CPU time of the processes of a group on one CPU',
      text: 'From the columns of the file cpuacct.usage_percpu.',
      value: (inst) => {
        refresh()
        return times.get(inst)
      },
    },
  }
}

const AVERAGES = [
  ['avg10sec', 0, 'avg10', 'ten seconds'],
  ['avg1min', 1, 'avg60', 'minute'],
  ['avg5min', 2, 'avg300', 'five minutes'],
] as const

function pressureMetrics({ reading, indom, group }: CgroupDomain): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [resource, cluster, kinds, what] of PRESSURES)
    for (const [first, kind] of kinds.entries()) {
      const who = kind === 'some' ? 'some process' : 'every non-idle process'
      const common = { cluster, sem: 'instant', indom, reading } as const
      const textOf = (inst: number): string => {
        const found = group(inst)
        return (found && reading.value.text(found, `${resource}.pressure`)) ?? ''
      }
      const from = `From the line "${kind}" of the file ${resource}.pressure.`
      for (const [name, item, field, span] of AVERAGES) {
        const pattern = new RegExp(`^${kind} .*\\b${field}=([\\d.]+)`, 'm')
        metrics[`cgroup.pressure.${resource}.${kind}.${name}`] = {
          ...common,
          item: first * 4 + item,
          type: 'float',
          units: 'none',
          help: `Share of the last ${span} in which ${who} of the group waited for ${what}, in per cent`,
          text: from,
          value: (inst) => {
            const number = pattern.exec(textOf(inst))?.[1]
            return number === undefined ? undefined : Number(number)
          },
        }
      }
      const total = new RegExp(`^${kind} .*\\btotal=(\\d+)`, 'm')
      metrics[`cgroup.pressure.${resource}.${kind}.total`] = {
        ...common,
        item: first * 4 + 3,
        type: 'u64',
        units: 'microsec',
        help: `Time in which ${who} of the group waited for ${what}`,
        text: from,
        value: (inst) => {
          const digits = total.exec(textOf(inst))?.[1]
          return digits === undefined ? undefined : numberAt(digits, 0)
        },
      }
    }
  return metrics
}

/** Controllers of the kernel, and mounted hierarchies. */
function subsystemMetrics(reading: Reading<CgroupSnapshot>): { [name: string]: OrderedRow } {
  const subsystemIds = new InstanceIds()
  const mountIds = new InstanceIds()
  const subsystems: IndomSpec = {
    serial: 37,
    reading,
    instances: () => subsystemIds.list(reading.value.subsystems.map(({ name }) => name)),
    help: 'Control group controllers of the kernel',
  }
  const mounts: IndomSpec = {
    serial: 38,
    reading,
    instances: () => mountIds.list(reading.value.mounts.map(({ path }) => path)),
    help: 'Directories where control groups are mounted',
  }
  const row = (inst: number, pick: 'hierarchy' | 'groups' | 'enabled'): Sample =>
    reading.value.subsystems.find(({ name }) => name === subsystemIds.nameOf(inst))?.[pick]
  const perSubsystem = {
    cluster: 37,
    type: 'u32',
    sem: 'instant',
    units: 'none',
    indom: subsystems,
    reading,
  } as const
  const from = 'From /proc/cgroups.'
  return {
    'cgroup.subsys.hierarchy': {
      ...perSubsystem,
      item: 0,
      help: 'Version 1 hierarchy of a controller; 0 for none',
      text: from,
      value: (inst) => row(inst, 'hierarchy'),
    },
    'cgroup.subsys.count': {
      cluster: 37,
      item: 1,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      reading,
      help: 'Number of controllers of the kernel',
      text: from,
      value: () => reading.value.subsystems.length,
    },
    'cgroup.subsys.num_cgroups': {
      ...perSubsystem,
      item: 2,
      help: 'Groups in the hierarchy of a controller',
      text: from,
      value: (inst) => row(inst, 'groups'),
    },
    'cgroup.subsys.enabled': {
      ...perSubsystem,
      item: 3,
      help: 'Whether a controller is enabled (1) or was disabled at boot (0)',
      text: from,
      value: (inst) => row(inst, 'enabled'),
    },
    'cgroup.mounts.subsys': {
      cluster: 38,
      item: 0,
      type: 'string',
      sem: 'instant',
      units: 'none',
      indom: mounts,
      reading,
      help: 'Controllers of version 1 in a mounted hierarchy; a question mark for none',
      text: 'From /proc/mounts. A hierarchy of version 2 has a question mark, because its controllers are not among its options.',
      value: (inst) => {
        const mount = reading.value.mounts.find(({ path }) => path === mountIds.nameOf(inst))
        if (mount === undefined) return undefined
        return mount.controllers.length === 0 ? '?' : mount.controllers.join(',')
      },
    },
    'cgroup.mounts.count': {
      cluster: 38,
      item: 1,
      type: 'u32',
      sem: 'instant',
      units: 'count',
      reading,
      help: 'Mounted hierarchies of control groups',
      text: 'From /proc/mounts.',
      value: () => reading.value.mounts.length,
    },
  }
}
