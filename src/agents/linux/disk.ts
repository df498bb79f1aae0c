/** disk.dev, disk.all, disk.partitions, disk.dm, disk.md and zram: one table of statistics over five kinds of devices. /proc/diskstats, /sys/block */
import { readlinkSync } from 'node:fs'
import { Reading } from '../../pmda/reading.ts'
import { ParsedFile, rooted } from '../../sys/proc.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { BlockDevices, namedReading } from './block-devices.ts'
import type { LinuxContext } from './context.ts'
import { DISK_ROWS, type DiskRow, diskMeaning } from './disk-rows.ts'
import { schedulerMetric } from './disk-scheduler.ts'
import { type DiskTable, newDiskTable, parseDiskstats, parsePartitions } from './disk-table.ts'
import { wwidMetrics } from './disk-wwid.ts'
import { mdStatusMetric } from './md-status.ts'
import { orUndefined } from './sample.ts'
import { zramMetrics } from './zram.ts'

/** Statistics of one kind of devices. */
interface Family {
  readonly prefix: string
  readonly cluster: number
  readonly devices: BlockDevices
  /** End of every help line: 'for each disk'. */
  readonly whose: string
  readonly itemOf: (row: DiskRow) => number
  readonly bytesType: 'u64' | 'u32'
}

/** Returns the metrics of /proc/diskstats, and of other properties of the devices in it. */
export function diskMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const table = newDiskTable()
  const diskstats = new Reading(() => parseDiskstats(ctx.file('/proc/diskstats').scan(), table))
  const partitionSizes = new ParsedFile(ctx.file('/proc/partitions'), parsePartitions)
  const sizes = new Reading(() => partitionSizes.read())
  const device = { device_type: 'block' }

  const disks = new BlockDevices({
    reading: diskstats,
    kind: 'disk',
    serial: 1,
    help: 'Disks: block devices that are neither parts of others nor made of others',
    text: 'Named as in the kernel. Loop devices, RAM disks, optical drives, device mapper and md devices are left out.',
    labels: { ...device, indom_name: 'per disk' },
  })
  const partitions = new BlockDevices({
    reading: diskstats,
    kind: 'partition',
    serial: 10,
    help: 'Partitions of disks',
    text: 'Names in /proc/diskstats that end in a number, except numbered disks: sda1, nvme0n1p1.',
    labels: { ...device, indom_name: 'per partition' },
  })
  const zram = new BlockDevices({
    reading: diskstats,
    kind: 'zram',
    serial: 38,
    help: 'Compressed disks in memory',
    text: 'Named as in the kernel: zram0.',
  })
  const dm = new BlockDevices({
    reading: namedReading(diskstats),
    kind: 'dm',
    serial: 24,
    help: 'Device mapper devices: logical volumes, encrypted disks, multipath disks',
    text: 'By the name in /dev/mapper; hinv.map.dmname gives the name the kernel uses. Devices without a name are left out.',
    labels: { ...device, indom_name: 'per dm device' },
    nameOf: (name) => ctx.attribute(`/sys/block/${name}/dm/name`) || undefined,
  })
  const md = mdDevices(ctx, diskstats)

  return {
    ...familyMetrics({
      prefix: 'disk.dev',
      cluster: 0,
      devices: disks,
      whose: 'for each disk',
      itemOf: (row) => row.dev,
      bytesType: 'u64',
    }),
    ...allMetrics(disks, diskstats),
    ...familyMetrics({
      prefix: 'disk.partitions',
      cluster: 10,
      devices: partitions,
      whose: 'for each partition',
      itemOf: (row) => row.partition,
      bytesType: 'u64',
    }),
    ...familyMetrics({
      prefix: 'disk.dm',
      cluster: 54,
      devices: dm,
      whose: 'for each device mapper device',
      itemOf: (row) => row.mapped,
      bytesType: 'u32',
    }),
    ...familyMetrics({
      prefix: 'disk.md',
      cluster: 59,
      devices: md,
      whose: 'for each software RAID',
      itemOf: (row) => row.mapped,
      bytesType: 'u32',
    }),
    ...familyMetrics({
      prefix: 'zram',
      cluster: 86,
      devices: zram,
      whose: 'for each compressed disk in memory',
      itemOf: (row) => row.partition,
      bytesType: 'u64',
    }),
    ...capacityMetric('disk.dev', { after: 'scheduler', cluster: 0, item: 87 }, disks, sizes, 'each disk'),
    ...capacityMetric(
      'disk.partitions',
      { after: 'total_rawactive', cluster: 10, item: 16 },
      partitions,
      sizes,
      'each partition',
    ),
    ...capacityMetric(
      'disk.dm',
      { after: 'total_rawactive', cluster: 54, item: 17 },
      dm,
      sizes,
      'each device mapper device',
    ),
    ...capacityMetric('disk.md', { after: 'status', cluster: 59, item: 17 }, md, sizes, 'each software RAID'),
    ...nameMetric('hinv.map.dmname', 54, dm, 'device mapper device', 'dm-0'),
    ...nameMetric('hinv.map.mdname', 59, md, 'software RAID', 'md127'),
    ...schedulerMetric(ctx, disks),
    ...wwidMetrics(ctx, disks, { diskstats, sizes }),
    ...zramMetrics(ctx, zram),
    ...mdStatusMetric(ctx, md),
    'hinv.ndisk': {
      item: 33,
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'Number of disks, as listed in disk.dev',
      text: 'Disks of /proc/diskstats, without partitions, loop devices, RAM disks, optical drives, device mapper and md devices.',
      reading: diskstats,
      value: () => disks.count,
    },
  }
}

function mdDevices(ctx: LinuxContext, diskstats: Reading<DiskTable>): BlockDevices {
  const aliases = new Map<string, string>()
  return new BlockDevices({
    reading: namedReading(diskstats, () => {
      aliases.clear()
      for (const name of ctx.list('/dev/md')) {
        const target = linkTarget(rooted(ctx.root, `/dev/md/${name}`))
        if (target !== undefined && !/^\d+$/.test(name)) aliases.set(target, name)
      }
    }),
    kind: 'md',
    serial: 25,
    help: 'Software RAIDs',
    text: "By their name in /dev/md, or the kernel's name (md127) where that is only a number; hinv.map.mdname gives the kernel's name.",
    labels: { device_type: 'block', indom_name: 'per md device' },
    nameOf: (name) => aliases.get(name) ?? name,
  })
}

/** Last part of the target of a symbolic link; undefined for other files. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path).split('/').at(-1)
  } catch {
    return undefined // a regular file is not the name of a device
  }
}

function familyMetrics(family: Family): { [name: string]: OrderedRow } {
  const { prefix, cluster, devices, whose, itemOf, bytesType } = family
  const metrics: { [name: string]: OrderedRow } = {}
  for (const row of DISK_ROWS) {
    const type = row.kind === 'count' ? 'u64' : row.kind === 'bytes' ? bytesType : 'u32'
    metrics[`${prefix}.${row.name}`] = {
      cluster,
      item: itemOf(row),
      type,
      indom: devices.indom,
      help: `${row.help}, ${whose}`,
      text: row.text,
      reading: devices.reading,
      value: (inst) => orUndefined(devices.numberOf(inst, row.value)),
      ...diskMeaning(row),
      ...(row.partAfter === undefined || prefix === 'disk.dev' ? {} : { after: row.partAfter }),
    }
  }
  return metrics
}

function allMetrics(disks: BlockDevices, reading: Reading<unknown>): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const row of DISK_ROWS) {
    const narrow = row.name === 'discard_rawactive' || row.name === 'flush_rawactive'
    metrics[`disk.all.${row.name}`] = {
      item: row.all,
      type: narrow ? 'u32' : 'u64',
      help: `${row.help}, all disks together`,
      text: `${row.text} Summed over the instances of disk.dev, so that partitions and devices on top of disks are not counted twice.`,
      reading,
      value: () => orUndefined(disks.sumOf(row.value)),
      ...diskMeaning(row),
    }
  }
  return metrics
}

function capacityMetric(
  prefix: string,
  place: Pick<OrderedRow, 'after' | 'cluster' | 'item'>,
  devices: BlockDevices,
  sizes: Reading<ReadonlyMap<string, number>>,
  whose: string,
): { [name: string]: OrderedRow } {
  return {
    [`${prefix}.capacity`]: {
      ...place,
      type: 'u64',
      sem: 'discrete',
      units: 'Kbyte',
      indom: devices.indom,
      help: `Capacity of ${whose}`,
      text: 'Column #blocks of /proc/partitions. A device without a medium has no value.',
      reading: sizes,
      value: (inst) => sizes.value.get(devices.deviceOf(inst) ?? '') || undefined,
    },
  }
}

function nameMetric(
  name: string,
  cluster: number,
  devices: BlockDevices,
  what: string,
  example: string,
): { [name: string]: OrderedRow } {
  return {
    [name]: {
      after: 'cpu_node',
      cluster,
      item: 13,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      indom: devices.indom,
      help: `Kernel name of each ${what}`,
      text: `The name in /proc/diskstats and kernel messages, such as ${example}; the instance has the name used by users.`,
      reading: devices.reading,
      value: (inst) => devices.deviceOf(inst),
    },
  }
}
