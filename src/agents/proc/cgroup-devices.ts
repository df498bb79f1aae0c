/** cgroup.blkio and cgroup.io: disk I/O of control groups. */
import type { IndomSpec, SemName, TypeName } from '../../pmda/define.ts'
import type { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { CgroupDomain } from './cgroup-domain.ts'
import {
  BLKIO_FILES,
  BLKIO_OPERATIONS,
  BLKIO_THROTTLE_FILES,
  CGROUP_KINDS,
  IO_STAT_FIELDS,
} from './cgroup-rows.ts'
import type { CgroupSnapshot } from './cgroup-tree.ts'
import type { ProcContext } from './context.ts'

/** Numbers by `file row`, such as `io_merged Read`, or by name for a file without rows. */
type Numbers = Map<string, number>

/** Parses a file of blkio into `into`, by disk: lines `8:0 Read 5`, or `8:0 5` in files without rows. */
export function parseBlkio(text: string, file: string, into: (device: string) => Numbers | undefined): void {
  for (const line of text.split('\n')) {
    const words = line.trim().split(' ')
    if (words.length < 2 || !words[0]!.includes(':')) continue // the last line is the total
    const value = Number(words.at(-1))
    const numbers = into(words[0]!)
    if (numbers !== undefined && !Number.isNaN(value))
      numbers.set(words.length === 2 ? file : `${file} ${words[1]}`, value)
  }
}

/** Statistics of blkio in one batch, by group, and by group and disk. */
interface Blkio {
  readonly perGroup: ReadonlyMap<string, Numbers>
  readonly perDisk: ReadonlyMap<string, Numbers>
}

function readBlkio(snapshot: CgroupSnapshot): Blkio {
  const perGroup = new Map<string, Numbers>()
  const perDisk = new Map<string, Numbers>()
  const files = [...BLKIO_FILES, ...BLKIO_THROTTLE_FILES].map(([name]) => name)
  for (const group of snapshot.withController('blkio')) {
    const { name } = group
    const total: Numbers = new Map()
    for (const file of [...files, 'sectors', 'time'])
      parseBlkio(snapshot.text(group, `blkio.${file}`) ?? '', file, (device) => {
        const disk = snapshot.disk(device)
        return disk === undefined ? undefined : numbersAt(perDisk, `${name}::${disk}`)
      })
    for (const [key, numbers] of perDisk)
      if (key.startsWith(`${name}::`))
        for (const [row, value] of numbers) total.set(row, (total.get(row) ?? 0) + value)
    perGroup.set(name, total)
  }
  return { perGroup, perDisk }
}

function numbersAt(map: Map<string, Numbers>, key: string): Numbers {
  const numbers = map.get(key) ?? new Map<string, number>()
  map.set(key, numbers)
  return numbers
}

/** The metrics of cluster 49, except for the container. */
export function blkioMetrics(ctx: ProcContext, groups: CgroupDomain): { [name: string]: OrderedRow } {
  const { reading } = groups
  let of: CgroupSnapshot | undefined
  let read: Blkio = { perGroup: new Map(), perDisk: new Map() }
  const now = (): Blkio => {
    if (of !== reading.value) {
      of = reading.value
      read = readBlkio(of)
    }
    return read
  }
  const disks = namedDomain(
    reading,
    27,
    () => now().perDisk.keys(),
    'Disks of control groups with I/O accounting',
  )
  const metrics: { [name: string]: OrderedRow } = {}
  for (const row of blkioRows(1000 / ctx.hertz)) {
    const { name, type, sem, units, pick, file } = row
    const common = { cluster: 49, type, sem, units, reading, text: `From the file blkio.${file}.` } as const
    metrics[`cgroup.blkio.dev.${name}`] = {
      ...common,
      item: row.perDisk,
      indom: disks.indom,
      help: `${row.help}, of one disk`,
      value: (inst) => pick(now().perDisk.get(disks.nameOf(inst))),
    }
    metrics[`cgroup.blkio.all.${name}`] = {
      ...common,
      item: row.perGroup,
      indom: groups.indom,
      help: `${row.help}, of all disks`,
      value: (inst) => {
        const numbers = now().perGroup.get(groups.group(inst)?.name ?? '')
        return numbers === undefined ? undefined : (pick(numbers) ?? 0)
      },
    }
  }
  return metrics
}

interface BlkioRow {
  readonly name: string
  /** Items. */
  readonly perDisk: number
  readonly perGroup: number
  readonly type: TypeName
  readonly sem: SemName
  readonly units: string
  readonly help: string
  readonly file: string
  readonly pick: (numbers: Numbers | undefined) => number | undefined
}

/** Offset of the items of group metrics. */
const GROUP_ITEM = 60
const THROTTLE_ITEM = 32

function blkioRows(msPerTick: number): readonly BlkioRow[] {
  const rows: BlkioRow[] = []
  const add = (first: number, files: typeof BLKIO_FILES): void => {
    for (const [f, [file, kind, what]] of files.entries())
      for (const [o, [operation, row, which]] of BLKIO_OPERATIONS.entries()) {
        const item = first + f * BLKIO_OPERATIONS.length + o
        const [type, sem, units] = CGROUP_KINDS[kind]!
        rows.push({
          name: `${file}.${operation}`,
          perDisk: item,
          perGroup: item + GROUP_ITEM,
          type,
          sem,
          units,
          help: `${what}: ${which}`,
          file,
          pick: (numbers) => numbers?.get(`${file} ${row}`),
        })
      }
  }
  add(0, BLKIO_FILES)
  const scaled = (file: string, scale: (value: number) => number) => (numbers: Numbers | undefined) => {
    const value = numbers?.get(file)
    return value === undefined ? undefined : scale(value)
  }
  rows.push(
    {
      name: 'sectors',
      perDisk: 30,
      perGroup: 30 + GROUP_ITEM,
      type: 'u64',
      sem: 'counter',
      units: 'Kbyte',
      help: 'Sectors read and written',
      file: 'sectors',
      pick: scaled('sectors', (value) => Math.floor(value / 2)),
    },
    {
      name: 'time',
      perDisk: 31,
      perGroup: 31 + GROUP_ITEM,
      type: 'u64',
      sem: 'counter',
      units: 'millisec',
      help: 'Time the disk was allocated to the group',
      file: 'time',
      pick: scaled('time', (value) => value * msPerTick),
    },
  )
  add(THROTTLE_ITEM, BLKIO_THROTTLE_FILES)
  return rows
}

/** An instance domain of names in a snapshot. */
function namedDomain(
  reading: Reading<CgroupSnapshot>,
  serial: number,
  names: () => Iterable<string>,
  help: string,
): { readonly indom: IndomSpec; readonly nameOf: (inst: number) => string } {
  const ids = new InstanceIds()
  return {
    indom: {
      serial,
      reading,
      instances: () => ids.list(names()),
      help,
      text: 'Named by the group, two colons and the disk.',
      labels: { device_type: 'block' },
    },
    nameOf: (inst) => ids.nameOf(inst) ?? '',
  }
}

/** The metrics of cluster 68: io.stat of version 2. */
export function ioStatMetrics(reading: Reading<CgroupSnapshot>): { [name: string]: OrderedRow } {
  let of: CgroupSnapshot | undefined
  const rows = new Map<string, string>()
  const now = (): ReadonlyMap<string, string> => {
    if (of === reading.value) return rows
    of = reading.value
    rows.clear()
    for (const group of of.unified)
      for (const line of of.text(group, 'io.stat')?.split('\n') ?? []) {
        const disk = of.disk(line.split(' ', 1)[0]!)
        if (disk !== undefined) rows.set(`${group.name}::${disk}`, line)
      }
    return rows
  }
  const disks = namedDomain(reading, 17, () => now().keys(), 'Disks of control groups of version 2')
  const metrics: { [name: string]: OrderedRow } = {}
  for (const [item, [field, kind, help]] of IO_STAT_FIELDS.entries()) {
    const [type, sem, units] = CGROUP_KINDS[kind]!
    const pattern = new RegExp(` ${field}=(\\d+)`)
    metrics[`cgroup.io.stat.${field}`] = {
      cluster: 68,
      item,
      type,
      sem,
      units,
      indom: disks.indom,
      reading,
      help,
      text: `From the field ${field} of the file io.stat.`,
      value: (inst) => {
        const digits = pattern.exec(now().get(disks.nameOf(inst)) ?? '')?.[1]
        return digits === undefined ? undefined : Number(digits)
      },
    }
  }
  return metrics
}
