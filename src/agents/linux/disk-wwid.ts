/** disk.wwid: disks by world wide name, summed over their paths; hinv.map.scsi_id. /sys/block/DEVICE/device/wwid */
import { existsSync } from 'node:fs'
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { rooted } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import { BlockDevices, namedReading } from './block-devices.ts'
import type { LinuxContext } from './context.ts'
import { DISK_ROWS, diskMeaning } from './disk-rows.ts'
import { schedulerOf, sysBlock } from './disk-scheduler.ts'
import type { DiskTable } from './disk-table.ts'
import { orUndefined } from './sample.ts'

/** Digit that scsi_id(8) puts before each kind of name. */
const PREFIXES: readonly (readonly [kernel: string, scsiId: string])[] = [
  ['t10.', '1'],
  ['eui.', '2'],
  ['naa.', '3'],
]

/** Converts a wwid of the kernel to the form of scsi_id: `naa.5000c5...` to `35000c5...`. */
export function scsiId(wwid: string): string {
  for (const [kernel, digit] of PREFIXES)
    if (wwid.startsWith(kernel)) return digit + wwid.slice(kernel.length)
  return wwid
}

/** A disk and its paths. */
interface Unit {
  readonly name: string
  /** Instances of the devices that lead to it. */
  readonly paths: number[]
}

/** The disks with a separate reading, refreshed with the names. */
const PATHS = {
  kind: 'disk',
  serial: 1,
  help: 'Paths to disks',
  text: 'The instances of disk.dev.',
} as const

/** Readings of the metrics of disk.wwid; `sizes` has the Kbyte of each device. */
interface Readings {
  readonly diskstats: Reading<DiskTable>
  readonly sizes: Reading<ReadonlyMap<string, number>>
}

/** Returns disk.wwid, and hinv.map.scsi_id for `disks`. */
export function wwidMetrics(
  ctx: LinuxContext,
  disks: BlockDevices,
  { diskstats, sizes }: Readings,
): { [name: string]: OrderedRow } {
  const idOf = (device: string): string | undefined => {
    const wwid = readWwid(ctx, `${sysBlock(device)}/device/wwid`) ?? readWwid(ctx, `${sysBlock(device)}/wwid`)
    return wwid === undefined ? undefined : scsiId(wwid)
  }
  const ids = new InstanceIds()
  const named = namedReading(diskstats)
  const devices = new BlockDevices({ ...PATHS, reading: named })
  const units = new Reading((batch) => {
    named.refresh(batch)
    const found = new Map<number, Unit>()
    for (const inst of devices.list().ids) {
      const name = idOf(devices.deviceOf(inst)!)
      if (name === undefined) continue
      const id = ids.idOf(name)
      const unit = found.get(id)
      if (unit === undefined) found.set(id, { name, paths: [inst] })
      else unit.paths.push(inst)
    }
    return found
  })
  const indom: IndomSpec = {
    serial: 42,
    reading: units,
    instances: () => ({
      ids: [...units.value.keys()],
      names: [...units.value.values()].map((unit) => unit.name),
    }),
    help: 'Disks by world wide name, regardless of the path',
    text: 'From device/wwid or wwid in /sys/block/DEVICE, with 1, 2 or 3 for t10., eui. and naa. in front as scsi_id(8) writes it. Disks without such a name are left out.',
  }
  const shared = { cluster: 92, indom, reading: units } as const
  const devicesOf = (inst: number): string[] =>
    (units.value.get(inst)?.paths ?? []).flatMap((path) => devices.deviceOf(path) ?? [])
  const metrics: { [name: string]: OrderedRow } = {}

  metrics['disk.wwid.scsi_paths'] = {
    ...shared,
    item: 3,
    type: 'string',
    sem: 'discrete',
    units: 'none',
    help: 'Block devices that are paths to the same disk, separated by spaces',
    text: 'More than one for a disk behind several host adapters or switches: sda sdf.',
    value: (inst) => devicesOf(inst).join(' '),
  }
  for (const row of DISK_ROWS) {
    metrics[`disk.wwid.${row.name}`] = {
      item: row.dev,
      type: row.kind === 'time' ? 'u32' : 'u64',
      help: `${row.help}, for each disk over all paths`,
      text: `${row.text} Summed over the block devices of a disk (disk.wwid.scsi_paths).`,
      value: (inst) => {
        const paths = units.value.get(inst)?.paths
        if (paths === undefined) return undefined
        return orUndefined(paths.reduce((total, path) => total + devices.numberOf(path, row.value), 0))
      },
      ...diskMeaning(row),
      ...shared,
    }
  }
  metrics['disk.wwid.scheduler'] = {
    after: 'aveq',
    ...shared,
    item: 59,
    type: 'string',
    sem: 'discrete',
    units: 'none',
    help: 'Policy by which the kernel orders the requests of each disk, on the last of its paths',
    text: 'As disk.dev.scheduler. All paths usually have the same scheduler.',
    value: (inst) => {
      const device = devicesOf(inst).at(-1)
      return device === undefined ? undefined : schedulerOf(ctx, device)
    },
  }
  metrics['disk.wwid.capacity'] = {
    after: 'scheduler',
    ...shared,
    item: 87,
    type: 'u64',
    sem: 'discrete',
    units: 'Kbyte',
    help: 'Capacity of each disk',
    text: 'Column #blocks of /proc/partitions, for the first path that has a size there.',
    reading: sizes,
    value: (inst) =>
      devicesOf(inst)
        .map((device) => sizes.value.get(device))
        .find((size) => size !== undefined && size > 0),
  }
  metrics['hinv.map.scsi_id'] = {
    after: 'scsi',
    item: 103,
    type: 'string',
    sem: 'discrete',
    units: 'none',
    indom: disks.indom,
    help: 'Unique name of each disk, to find it in disk.wwid',
    text: 'The instance of disk.wwid that this disk is a path to; unknown for disks without such a name.',
    reading: disks.reading,
    value: (inst) => idOf(disks.deviceOf(inst) ?? '') ?? 'unknown',
  }
  return metrics
}

/** Text of a wwid file: trailing spaces belong to the name. */
function readWwid(ctx: LinuxContext, path: string): string | undefined {
  if (!existsSync(rooted(ctx.root, path))) return undefined // most devices have none
  try {
    return ctx.text(path).replace(/\n$/, '') || undefined
  } catch {
    return undefined // removed in the meantime
  }
}
