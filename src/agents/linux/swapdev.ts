/** swapdev: each swap device and file. /proc/swaps, swapon(8) */
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** One line of /proc/swaps; sizes in Kbyte. */
export interface SwapDevice {
  readonly path: string
  readonly size: number
  readonly used: number
  readonly priority: number
}

/** Parses the lines after the heading: path (with spaces as \040), type, size, used, priority. */
export function parseSwaps(text: string): readonly SwapDevice[] {
  const devices: SwapDevice[] = []
  for (const match of text.matchAll(/^(\/\S+)\s+\S+\s+(\d+)\s+(\d+)\s+(-?\d+)\s*$/gm))
    devices.push({
      path: match[1]!,
      size: Number(match[2]),
      used: Number(match[3]),
      priority: Number(match[4]),
    })
  return devices
}

type Row = readonly [
  name: string,
  item: number,
  type: MetricSpec['type'],
  sem: MetricSpec['sem'],
  units: string,
  value: (device: SwapDevice) => number,
  help: string,
  text: string,
  own?: Partial<OrderedRow>,
]

const ROWS: readonly Row[] = [
  [
    'free',
    0,
    'u32',
    'instant',
    'Kbyte',
    (d) => d.size - d.used,
    'Free space on each swap device',
    'Size minus Used of /proc/swaps.',
  ],
  [
    'length',
    1,
    'u32',
    'discrete',
    'Kbyte',
    (d) => d.size,
    'Size of each swap device',
    'Size of /proc/swaps.',
  ],
  [
    'maxswap',
    2,
    'u32',
    'discrete',
    'Kbyte',
    (d) => d.size,
    'Usable space of each swap device',
    'On Linux always all of it: the same as swapdev.length.',
  ],
  [
    'vlength',
    3,
    'u32',
    'discrete',
    'Kbyte',
    () => 0,
    'Virtual swap space of each device',
    'Linux has no such swap space: always 0.',
  ],
  [
    'priority',
    4,
    '32',
    'instant',
    'none',
    (d) => d.priority,
    'Priority of each swap device: the highest is used first',
    'Priority of /proc/swaps. Devices of equal priority are used in turn; negative priorities are assigned by the kernel.',
  ],
]

/** The metrics of /proc/swaps. */
export function swapdevMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const ids = new InstanceIds()
  const swaps = new Reading(
    () =>
      new Map(parseSwaps(ctx.file('/proc/swaps').text()).map((device) => [ids.idOf(device.path), device])),
  )
  const indom: IndomSpec = {
    serial: 6,
    reading: swaps,
    instances: () => ({
      ids: [...swaps.value.keys()],
      names: [...swaps.value.values()].map((device) => device.path),
    }),
    help: 'Partitions and files in use as swap space',
    text: 'By the path in /proc/swaps, where a space in a path is written \\040.',
    labels: { device_type: ['block', 'memory'], indom_name: 'per swap device' },
  }
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, type, sem, units, value, help, text, own] of ROWS) {
    metrics[`swapdev.${name}`] = {
      cluster: 6,
      item,
      type,
      sem,
      units,
      indom,
      help,
      text,
      reading: swaps,
      value: (inst) => {
        const device = swaps.value.get(inst)
        return device === undefined ? undefined : value(device)
      },
      ...own,
    }
  }
  return metrics
}
