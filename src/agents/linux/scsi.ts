/** hinv.map.scsi: block devices of SCSI units. /proc/scsi/scsi, /sys/class/scsi_device */
import type { IndomSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** One unit of a SCSI device. */
export interface ScsiUnit {
  /** Host, channel, target and unit, as in sysfs: `2:0:1:0`. */
  readonly address: string
  /** First word of its type: Direct-Access, CD-ROM, Sequential-Access, Enclosure... */
  readonly type: string
}

/**
 * Parses /proc/scsi/scsi, three lines per unit:
 *
 *     Host: scsi2 Channel: 00 Id: 01 Lun: 00
 *       Vendor: ATA      Model: ST3500418AS      Rev: CC38
 *       Type:   Direct-Access                    ANSI  SCSI revision: 05
 */
export function parseScsi(text: string): readonly ScsiUnit[] {
  const units: ScsiUnit[] = []
  let address: string | undefined
  for (const line of text.split('\n')) {
    const host = /^Host: scsi(\d+) Channel: (\d+) Id: (\d+) Lun: (\d+)/.exec(line)
    const type = /^ +Type: +(\S+)/.exec(line)?.[1]
    if (host !== null) address = host.slice(1).map(Number).join(':')
    else if (type !== undefined && address !== undefined) {
      units.push({ address, type })
      address = undefined
    }
  }
  return units
}

/** The metric of cluster 15. As in PCP 6.0.3 only block devices are included, not tape drives for example. */
export function scsiMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const instances = new InstanceIds()
  const blocks = new Reading(() => {
    const found = new Map<string, string>()
    for (const { address, type } of parseScsi(ctx.optionalText('/proc/scsi/scsi'))) {
      const block = ctx.list(`/sys/class/scsi_device/${address}/device/block`)[0]
      if (block !== undefined) found.set(`scsi${address} ${type}`, block)
    }
    return found
  })
  const indom: IndomSpec = {
    serial: 11,
    reading: blocks,
    instances: () => instances.list(blocks.value.keys()),
    help: 'SCSI units that are block devices, as scsiHOST:CHANNEL:ID:LUN and type',
    text: 'Units of /proc/scsi/scsi with a directory /sys/class/scsi_device/HOST:CHANNEL:ID:LUN/device/block. SATA and USB disks are SCSI units to the kernel, NVMe and virtio disks are not.',
    labels: { device_type: 'block', indom_name: 'per disk' },
  }
  return {
    'hinv.map.scsi': {
      cluster: 15,
      item: 0,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      indom,
      help: 'Kernel name of the block device at each SCSI address',
      text: 'The directory in /sys/class/scsi_device/HOST:CHANNEL:ID:LUN/device/block, such as sda: an instance of disk.dev for a disk.',
      reading: blocks,
      value: (inst) => blocks.value.get(instances.nameOf(inst) ?? ''),
    },
  }
}
