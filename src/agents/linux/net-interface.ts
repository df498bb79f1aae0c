/** network.interface and network.all: traffic and state of network interfaces. /proc/net/dev, /sys/class/net */
import { existsSync } from 'node:fs'
import type { IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { readAttribute, rooted } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import * as dev from './net-dev.ts'

/** [name, item, columns to add up, one-line help, text] */
type CounterRow = readonly [
  name: string,
  item: number,
  columns: readonly number[],
  units: 'byte' | 'count',
  help: string,
  text?: string | undefined,
  own?: Partial<OrderedRow>,
]

const DRIVERS = 'The exact meaning depends on the driver.'

const COUNTERS: readonly CounterRow[] = [
  ['in.bytes', 0, [dev.IN_BYTES], 'byte', 'Octets received, including link-layer headers'],
  ['in.packets', 1, [dev.IN_PACKETS], 'count', 'Frames received and passed on to the protocols'],
  ['in.errors', 2, [dev.IN_ERRORS], 'count', 'Frames received damaged: checksum, length, alignment', DRIVERS],
  [
    'in.drops',
    3,
    [dev.IN_DROPS],
    'count',
    'Valid received frames dropped, for lack of buffers or of a matching protocol',
    DRIVERS,
  ],
  [
    'in.fifo',
    4,
    [dev.IN_FIFO],
    'count',
    "Frames lost because the device's receive queue overflowed",
    DRIVERS,
  ],
  [
    'in.frame',
    5,
    [dev.IN_FRAME],
    'count',
    'Frames with a wrong length, a bad checksum or a length that is not a multiple of eight bits',
    DRIVERS,
  ],
  [
    'in.compressed',
    6,
    [dev.IN_COMPRESSED],
    'count',
    'Compressed packets received; only PPP and SLIP have them',
  ],
  ['in.mcasts', 7, [dev.IN_MCASTS], 'count', 'Frames received that were addressed to a multicast group'],
  ['out.bytes', 8, [dev.OUT_BYTES], 'byte', 'Octets sent, including link-layer headers'],
  ['out.packets', 9, [dev.OUT_PACKETS], 'count', 'Frames handed to the device and sent'],
  [
    'out.errors',
    10,
    [dev.OUT_ERRORS],
    'count',
    'Frames that could not be sent because the device or the medium failed',
    DRIVERS,
  ],
  [
    'out.drops',
    11,
    [dev.OUT_DROPS],
    'count',
    'Frames dropped before they were sent, mostly because a queue was full',
    DRIVERS,
  ],
  [
    'out.fifo',
    12,
    [dev.OUT_FIFO],
    'count',
    "Sending failures because the device's transmit queue ran empty or over",
    DRIVERS,
  ],
  [
    'collisions',
    13,
    [dev.COLLISIONS],
    'count',
    'Collisions seen while sending on a shared medium (half duplex)',
  ],
  ['out.carrier', 14, [dev.OUT_CARRIER], 'count', 'Sending failures because the link was lost', DRIVERS],
  [
    'out.compressed',
    15,
    [dev.OUT_COMPRESSED],
    'count',
    'Compressed packets sent; only PPP and SLIP have them',
  ],
  ['total.bytes', 16, [dev.IN_BYTES, dev.OUT_BYTES], 'byte', 'Octets received and sent together'],
  ['total.packets', 17, [dev.IN_PACKETS, dev.OUT_PACKETS], 'count', 'Frames received and sent together'],
  [
    'total.errors',
    18,
    [dev.IN_ERRORS, dev.OUT_ERRORS],
    'count',
    'Frames that arrived damaged or could not be sent',
    DRIVERS,
  ],
  ['total.drops', 19, [dev.IN_DROPS, dev.OUT_DROPS], 'count', 'Frames dropped in either direction', DRIVERS],
  ['total.mcasts', 20, [dev.IN_MCASTS], 'count', 'Multicast frames; the kernel counts received ones only'],
]

const COLUMN_NAMES = [
  'bytes',
  'packets',
  'errs',
  'drop',
  'fifo',
  'frame',
  'compressed',
  'multicast',
  'bytes',
  'packets',
  'errs',
  'drop',
  'fifo',
  'colls',
  'carrier',
  'compressed',
] as const

/** Sums over the interfaces that are not part of others: item in cluster 90 and name of the counter. */
const SUMS: readonly (readonly [item: number, counter: string])[] = [
  [0, 'in.bytes'],
  [1, 'in.packets'],
  [2, 'in.errors'],
  [3, 'in.drops'],
  [4, 'out.bytes'],
  [5, 'out.packets'],
  [6, 'out.errors'],
  [7, 'out.drops'],
  [8, 'total.bytes'],
  [9, 'total.packets'],
  [10, 'total.errors'],
  [11, 'total.drops'],
]

const IFF_UP = 0x1

/** Default pattern of interfaces whose traffic is already counted by others. */
const DEFAULT_EXCLUDED = '^(lo|bond[0-9]+|team[0-9]+|face)$'

/** The metrics of /proc/net/dev and of interfaces' attributes (clusters 3 and 90). */
export function interfaceMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const instances = new InstanceIds()
  const table = dev.newNetDev()
  const reading = new Reading(() => dev.parseNetDev(ctx.file('/proc/net/dev').scan(), table, instances))
  const indom: IndomSpec = {
    serial: 3,
    reading,
    instances: () => ({ ids: reading.value.ids, names: reading.value.names }),
    help: 'Network interfaces of this host, including virtual ones',
    text: 'One instance for each line of /proc/net/dev. An interface that returns keeps its identifier.',
    labels: { device_type: 'interface', indom_name: 'per interface' },
    instanceLabels: (_inst, name) => ({ interface: name }),
  }
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [name, item, columns, units, help, text, own] of COUNTERS) {
    metrics[`network.interface.${name}`] = {
      cluster: 3,
      item,
      type: 'u64',
      sem: 'counter',
      units,
      indom,
      help,
      text: `${sourceOf(columns)} Starts at 0 when the interface appears.${text === undefined ? '' : ` ${text}`}`,
      reading,
      value: (inst) => counterOf(reading.value, inst, columns),
      ...own,
    }
  }
  return {
    ...metrics,
    ...attributeMetrics(ctx, indom, (inst) => instances.nameOf(inst)),
    'hinv.ninterface': {
      cluster: 3,
      item: 27,
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'Number of network interfaces in /proc/net/dev',
      text: 'Includes virtual interfaces and those that are down.',
      reading,
      value: () => reading.value.ids.length,
    },
    ...sumMetrics(ctx, reading),
  }
}

function sourceOf(columns: readonly number[]): string {
  const words = columns.map((column) => {
    const side = column < dev.OUT_BYTES ? 'Receive' : 'Transmit'
    return `column "${COLUMN_NAMES[column]}" of ${side}`
  })
  return `From /proc/net/dev, ${words.join(' plus ')}.`
}

function counterOf(table: dev.NetDev, inst: number, columns: readonly number[]): Sample {
  if (columns.length === 1) return dev.devCounter(table, inst, columns[0]!)
  return dev.sumCounters(...columns.map((column) => dev.devCounter(table, inst, column)))
}

/** Attributes in /sys/class/net, read on demand for the requested instances. */
function attributeMetrics(
  ctx: LinuxContext,
  indom: IndomSpec,
  nameOf: (inst: number) => string | undefined,
): { [name: string]: OrderedRow } {
  const attribute = (inst: number, file: string): string | undefined =>
    ctx.attribute(`/sys/class/net/${nameOf(inst)}/${file}`)
  const number = (inst: number, file: string): number | undefined =>
    ctx.number(`/sys/class/net/${nameOf(inst)}/${file}`)
  /** sysfs contains -1, 0 or an error if the driver does not know the value. */
  const positive = (inst: number, file: string): number | undefined => number(inst, file) || undefined
  const exists = (inst: number, path: (name: string) => string): Sample => {
    const name = nameOf(inst)
    return name === undefined ? undefined : Number(existsSync(rooted(ctx.root, path(name))))
  }
  const spec = (
    item: number,
    rest: Pick<MetricSpec, 'type' | 'sem' | 'units' | 'help' | 'text' | 'value'>,
  ): MetricSpec => ({ cluster: 3, item, indom, ...rest })
  return {
    'network.interface.mtu': spec(21, {
      type: 'u32',
      sem: 'instant',
      units: 'byte',
      help: 'Largest packet the interface carries in one frame (maximum transmission unit)',
      text: 'From /sys/class/net/INTERFACE/mtu. No value when it is 0.',
      value: (inst) => positive(inst, 'mtu'),
    }),
    'network.interface.speed': spec(22, {
      type: 'float',
      sem: 'discrete',
      units: 'Mbyte / sec',
      help: 'Negotiated nominal line rate, in units of 1,048,576 bytes a second',
      text: 'From /sys/class/net/INTERFACE/speed, which has megabits (10^6). No value where the driver does not know it.',
      value: (inst) => {
        const megabits = positive(inst, 'speed')
        return megabits === undefined ? undefined : (megabits * 1e6) / 8 / 1048576
      },
    }),
    'network.interface.baudrate': spec(23, {
      type: 'u64',
      sem: 'discrete',
      units: 'byte / sec',
      help: 'Negotiated nominal line rate, in bytes a second',
      text: 'From /sys/class/net/INTERFACE/speed, which has megabits (10^6). No value where the driver does not know it.',
      value: (inst) => {
        const megabits = positive(inst, 'speed')
        return megabits === undefined ? undefined : (megabits * 1e6) / 8
      },
    }),
    'network.interface.duplex': spec(24, {
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'Duplex mode of the link: 1 half, 2 full',
      text: 'From /sys/class/net/INTERFACE/duplex. No value where the driver does not know it.',
      value: (inst) => ({ half: 1, full: 2 })[attribute(inst, 'duplex') ?? ''],
    }),
    'network.interface.up': spec(25, {
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Did the administrator enable the interface? 1 yes, 0 no',
      text: 'The flag IFF_UP in /sys/class/net/INTERFACE/flags. An enabled interface may still have no link: see network.interface.running.',
      value: (inst) => {
        const bits = number(inst, 'flags')
        return bits === undefined ? undefined : bits & IFF_UP
      },
    }),
    'network.interface.running': spec(26, {
      type: 'u32',
      sem: 'instant',
      units: 'none',
      help: 'Is the interface enabled and its link usable? 1 yes, 0 no',
      text: 'Shown as RUNNING by ip(8): IFF_UP in /sys/class/net/INTERFACE/flags, and an operstate of up or unknown.',
      value: (inst) => {
        const bits = number(inst, 'flags')
        const state = attribute(inst, 'operstate')
        if (bits === undefined || state === undefined) return undefined
        return Number((bits & IFF_UP) !== 0 && (state === 'up' || state === 'unknown'))
      },
    }),
    'network.interface.wireless': spec(28, {
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'Is it a wireless device? 1 yes, 0 no',
      text: 'Whether /sys/class/net/INTERFACE/wireless exists.',
      value: (inst) => exists(inst, (name) => `/sys/class/net/${name}/wireless`),
    }),
    'network.interface.type': spec(29, {
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: "Kind of link as a number of the kernel's ARPHRD table: 1 Ethernet, 772 loopback, 65534 none",
      text: 'From /sys/class/net/INTERFACE/type. The table is in linux/if_arp.h.',
      value: (inst) => positive(inst, 'type'),
    }),
    'network.interface.virtual': spec(30, {
      type: 'u32',
      sem: 'discrete',
      units: 'none',
      help: 'Is the interface virtual, without hardware? 1 yes, 0 no',
      text: 'Whether /sys/devices/virtual/net/INTERFACE exists: loopback, bridges, bonds, tunnels, container links.',
      value: (inst) => exists(inst, (name) => `/sys/devices/virtual/net/${name}`),
    }),
  }
}

function sumMetrics(ctx: LinuxContext, reading: Reading<dev.NetDev>): { [name: string]: OrderedRow } {
  let excluded: RegExp | undefined
  const counts = (table: dev.NetDev, place: number): boolean => {
    excluded ??= excludedInterfaces(configuration(ctx))
    return !excluded.test(table.names[place]!)
  }
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [item, name] of SUMS) {
    const [, , columns, units, help] = COUNTERS.find((row) => row[0] === name)!
    metrics[`network.all.${name}`] = {
      cluster: 90,
      item,
      type: 'u64',
      sem: 'counter',
      units,
      help: `${help}, summed over interfaces`,
      text:
        `The sum of network.interface.${name} over the interfaces whose name does not match the expression in ` +
        '$PCP_SYSCONF_DIR/linux/interfaces.conf, so that no packet counts twice: without that file loopback, bonds and teams. ' +
        'The sum decreases when an interface disappears.',
      reading,
      value: () => {
        const table = reading.value
        const parts: Sample[] = []
        for (let i = 0; i < table.ids.length; i++)
          if (counts(table, i)) parts.push(counterOf(table, table.ids[i]!, columns))
        return dev.sumCounters(...(parts as (number | bigint | undefined)[]))
      },
    }
  }
  return metrics
}

function configuration(ctx: LinuxContext): string | undefined {
  const folder = ctx.env.env['PCP_SYSCONF_DIR'] ?? '/etc/pcp'
  return readAttribute(ctx.env.root, `${folder}/linux/interfaces.conf`)
}

/**
 * Returns the pattern of interfaces left out of network.all: the text of interfaces.conf without comments and white space,
 * or the default if the file is missing or not a regular expression.
 */
export function excludedInterfaces(configuration: string | undefined): RegExp {
  const pattern = (configuration ?? '').replace(/#.*/g, '').replace(/\s+/g, '')
  try {
    return new RegExp(pattern === '' ? DEFAULT_EXCLUDED : pattern)
  } catch {
    return new RegExp(DEFAULT_EXCLUDED) // a mistake in the file must not cost the metrics
  }
}
