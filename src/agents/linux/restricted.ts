/** mem.slabinfo and tty.serial: files that only root may read. /proc/slabinfo, /proc/tty/driver/serial */
import type { Scanner } from '../../base/scan.ts'
import { decodeText } from '../../base/text.ts'
import type { Ask } from '../../model/source.ts'
import type { IndomSpec, Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** Numbers of each instance by its name, in file order. */
type Table = ReadonlyMap<string, readonly number[]>

/** Indexes of numbers in a row of `parseSlabs`. */
const ACTIVE_OBJECTS = 0
const OBJECTS = 1
const OBJECT_SIZE = 2
const OBJECTS_PER_SLAB = 3
const PAGES_PER_SLAB = 4
const ACTIVE_SLABS = 5
const SLABS = 6

/**
 * Parses version 2 of /proc/slabinfo: `NAME active objects size objects-per-slab pages-per-slab : tunables 3 numbers :
 * slabdata active-slabs slabs ...`. Spaces in names, on old kernels, become underscores. `words` are the first words of the
 * lines in the last reading.
 */
export function parseSlabs(scan: Scanner, words: string[] = []): Table {
  const slabs = new Map<string, readonly number[]>()
  for (let line = 0; !scan.atEnd; line++) {
    const start = scan.pos
    const name = scan.word(words[line])
    words[line] = name
    const row = slabRow(scan)
    if (row !== undefined) slabs.set(name, row)
    else {
      scan.pos = start
      addOldRow(slabs, scan.rest())
    }
    scan.nextLine()
  }
  return slabs
}

/** Parses the numbers after a name without spaces, fast because there are hundreds of rows. */
function slabRow(scan: Scanner): number[] | undefined {
  const row = [scan.uint(), scan.uint(), scan.uint(), scan.uint(), scan.uint()]
  scan.skipWords(5) // : tunables and its numbers
  scan.skipBlanks()
  if (!scan.accept(': slabdata')) return undefined
  row.push(scan.uint(), scan.uint())
  return row.some(Number.isNaN) ? undefined : row
}

/** Parses a row whose name may have spaces; ignores the heading. */
function addOldRow(slabs: Map<string, readonly number[]>, line: string): void {
  const match = /^(\S.*?)\s+((?:\d+\s+){5}):.*: slabdata\s+(\d+)\s+(\d+)/.exec(line)
  if (match === null) return
  const [, name, numbers, active, total] = match
  slabs.set(name!.replace(/\s/g, '_'), [...numbers!.trim().split(/\s+/), active, total].map(Number))
}

/** Words before the numbers of /proc/tty/driver/serial, which omits errors that never occurred. */
const SERIAL_WORDS = ['tx', 'rx', 'fe', 'pe', 'brk', 'oe', 'irq'] as const

/** Parses lines such as `0: uart:16550A port:000003F8 irq:4 tx:218 rx:0 brk:1 RTS|CTS`, without ports that have no device. */
export function parseSerial({ bytes, end }: Scanner): Table {
  const ports = new Map<string, readonly number[]>()
  for (const line of decodeText(bytes, 0, end).split('\n')) {
    const port = /^(\d+): uart:(?!unknown)/.exec(line)?.[1]
    if (port === undefined) continue
    const numbers = new Map(
      [...line.matchAll(/ (\w+):(\d+)/g)].map(([, word, number]) => [word!, Number(number)]),
    )
    if (numbers.has('tx'))
      ports.set(
        port,
        SERIAL_WORDS.map((word) => numbers.get(word) ?? 0),
      )
  }
  return ports
}

type SlabRow = readonly [name: string, type: 'u32' | 'u64', units: string, help: string, text: string]

const SLAB_ROWS: readonly SlabRow[] = [
  ['objects.active', 'u64', 'none', 'Objects of each kernel cache that are in use', 'Column active_objs.'],
  [
    'objects.total',
    'u64',
    'none',
    'Objects allocated in each kernel cache, in use or not',
    'Column num_objs.',
  ],
  ['objects.size', 'u32', 'byte', 'Size of one object of the kernel cache', 'Column objsize.'],
  [
    'slabs.active',
    'u32',
    'none',
    'Slabs (groups of pages) of the kernel cache with at least one object in use',
    'Column active_slabs.',
  ],
  ['slabs.total', 'u32', 'none', 'Slabs (groups of pages) of the kernel cache', 'Column num_slabs.'],
  ['slabs.pages_per_slab', 'u32', 'none', 'Pages of one slab of the kernel cache', 'Column pagesperslab.'],
  ['slabs.objects_per_slab', 'u32', 'none', 'Objects of one slab of the kernel cache', 'Column objperslab.'],
  [
    'slabs.total_size',
    'u64',
    'byte',
    'Memory of the objects in use, with their share of unused memory in slabs',
    'Computed: pagesperslab times active_objs times the size of a page, divided by objperslab.',
  ],
]

const SLAB_COLUMNS = [
  ACTIVE_OBJECTS,
  OBJECTS,
  OBJECT_SIZE,
  ACTIVE_SLABS,
  SLABS,
  PAGES_PER_SLAB,
  OBJECTS_PER_SLAB,
] as const

const SERIAL_ROWS: readonly (readonly [name: string, help: string])[] = [
  ['tx', 'Characters sent through the port'],
  ['rx', 'Characters received through the port'],
  ['frame', 'Characters received without a proper stop bit'],
  ['parity', 'Characters received whose check bit is wrong'],
  ['brk', 'Breaks received: the line held low for longer than a character'],
  ['overrun', 'Characters lost because the port was not read in time'],
  ['irq', 'Interrupt line that the port uses'],
]

/** The metrics of /proc/slabinfo (cluster 20) and /proc/tty/driver/serial (cluster 74). */
export function restrictedMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  const isShown = accessOf(ctx)
  const words: string[] = []
  const slabs = namedTable(ctx, '/proc/slabinfo', (scan) => parseSlabs(scan, words), {
    serial: 12,
    help: 'Kernel caches of objects of one kind, such as inodes',
    text: 'Rows of /proc/slabinfo.',
    labels: { device_type: 'memory', indom_name: 'per slab' },
  })
  for (const [item, [name, type, units, help, text]] of SLAB_ROWS.entries()) {
    metrics[`mem.slabinfo.${name}`] = {
      cluster: 20,
      item,
      type,
      sem: 'instant',
      units,
      indom: slabs.indom,
      help,
      text: `${text} From /proc/slabinfo, shown only to root on this host.`,
      reading: slabs.reading,
      isVisibleTo: isShown,
      value: (inst) => slabValue(slabs.row(inst), SLAB_COLUMNS[item], ctx.pagesize),
    }
  }
  const serial = namedTable(ctx, '/proc/tty/driver/serial', parseSerial, {
    serial: 35,
    help: 'Serial ports that have a device, by number',
    text: 'Rows of /proc/tty/driver/serial whose uart is known.',
  })
  for (const [item, [name, help]] of SERIAL_ROWS.entries()) {
    metrics[`tty.serial.${name}`] = {
      cluster: 74,
      item,
      type: 'u32',
      sem: name === 'irq' ? 'discrete' : 'counter',
      units: 'none',
      indom: serial.indom,
      help,
      text: `Number after ${SERIAL_WORDS[item]}: in /proc/tty/driver/serial, shown only to root on this host.`,
      reading: serial.reading,
      isVisibleTo: isShown,
      value: (inst) => serial.row(inst)?.[item],
    }
  }
  return metrics
}

function slabValue(row: readonly number[] | undefined, column: number | undefined, pagesize: number): Sample {
  if (row === undefined) return undefined
  if (column !== undefined) return row[column]
  const perSlab = row[OBJECTS_PER_SLAB]!
  if (perSlab === 0) return 0
  return Math.floor((row[PAGES_PER_SLAB]! * row[ACTIVE_OBJECTS]! * pagesize) / perSlab)
}

/**
 * Whether a client may see values: only root may. Other clients get no values and, as in PCP, no error (6.0.3, over TCP and
 * as another user of its unix socket). The option -A and LINUX_ACCESS in the environment permit all clients.
 */
function accessOf(ctx: LinuxContext): (ask: Ask) => boolean {
  const { env, options } = ctx.env
  if (env['LINUX_ACCESS'] !== undefined || options['no-access-checks'] === true) return () => true
  return (ask) => ask.requester.credentials?.uid === 0
}

/** A table whose rows have identifiers in order of appearance. */
function namedTable(
  ctx: LinuxContext,
  path: string,
  parse: (scan: Scanner) => Table,
  about: Omit<IndomSpec, 'instances' | 'reading'>,
): {
  readonly indom: IndomSpec
  readonly reading: Reading<Table>
  readonly row: (inst: number) => readonly number[] | undefined
} {
  const instances = new InstanceIds()
  const file = ctx.file(path)
  file.prepare() // opened now, as a collector started by root switches to another user before the first request
  const reading = new Reading(() => parse(file.scan()))
  return {
    reading,
    indom: {
      ...about,
      reading,
      instances: () => instances.list(reading.value.keys()),
    },
    row: (inst) => reading.value.get(instances.nameOf(inst) ?? ''),
  }
}
