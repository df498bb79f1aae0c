/** filesys and tmpfs: space in mounted file systems. /proc/self/mounts, statfs(2) */
import { realpathSync, statfsSync } from 'node:fs'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { ParsedFile, rooted } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** One line of the mount table. */
export interface Mount {
  readonly device: string
  /** Mount point, with spaces and special characters as octal escapes. */
  readonly directory: string
  readonly type: string
  readonly options: readonly string[]
}

/** Result of statfs(2), in blocks of `bsize` bytes. */
export interface FileSystemRoom {
  readonly bsize: number
  readonly blocks: number
  readonly bfree: number
  readonly bavail: number
  readonly files: number
  readonly ffree: number
}

/** Returns the space of the file system of a directory. */
export type StatFs = (directory: string) => FileSystemRoom

/** Parses /proc/self/mounts: device, directory, type, options and two unused numbers. */
export function parseMounts(text: string): readonly Mount[] {
  const mounts: Mount[] = []
  for (const line of text.split('\n')) {
    const [device, directory, type, options] = line.split(' ')
    if (device === undefined || directory === undefined || type === undefined) continue
    mounts.push({ device, directory, type, options: (options ?? '').split(',') })
  }
  return mounts
}

/** Decodes octal escapes of the mount table: `/with\040blank`. */
export function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** File systems without files of users, or whose space is not on this host. */
const SKIPPED = [
  'proc',
  'nfs',
  'devfs',
  'devpts',
  'devtmpfs',
  'squashfs',
  'selinuxfs',
  'securityfs',
  'configfs',
  'cgroup',
  'sysfs',
]

/** Whether this is a file system on a disk of this host; those in memory (tmpfs) are handled separately. */
export function isOnDisk(mount: Mount): boolean {
  if (mount.type === 'tmpfs' || SKIPPED.includes(mount.type) || mount.type.startsWith('auto')) return false
  return mount.device.startsWith('/dev') || mount.directory === '/'
}

/** A mount table entry that is exported, its instance name, and the path for statfs. */
interface Mounted {
  readonly mount: Mount
  readonly name: string
  readonly directory: string
}

/** A mounted file system with its instance; statfs is called on demand, once per reading. */
class MountedRoom {
  readonly mount: Mount
  readonly #statfs: () => FileSystemRoom
  #room: Outcome<FileSystemRoom> | undefined

  constructor(mount: Mount, statfs: () => FileSystemRoom) {
    this.mount = mount
    this.#statfs = statfs
  }

  get room(): Outcome<FileSystemRoom> {
    if (this.#room === undefined) {
      try {
        this.#room = this.#statfs()
      } catch (error) {
        this.#room = PcpError.from(error, this.mount.directory)
      }
    }
    return this.#room
  }
}

interface MountTable {
  readonly ids: readonly number[]
  readonly names: readonly string[]
  readonly byId: ReadonlyMap<number, MountedRoom>
}

/** Converts blocks to kilobytes; exact up to 2^53 bytes. */
function kilobytes(blocks: number, bsize: number): number {
  return Math.floor((blocks * bsize) / 1024)
}

/** Percentage of the space available to ordinary users that is used; 0 if there is no space at all. */
export function fullness({ blocks, bfree, bavail }: FileSystemRoom): number {
  const used = blocks - bfree
  const total = used + bavail
  return total === 0 ? 0 : (100 * used) / total
}

/** Returns the metrics of mounted file systems (clusters 5 and 34). Tests replace `statfs`. */
export function fileSystemMetrics(
  ctx: LinuxContext,
  statfs: StatFs = (directory) => statfsSync(directory),
): { [name: string]: OrderedRow } {
  const table = (
    isWanted: (mount: Mount) => boolean,
    nameOf: (mount: Mount) => string,
  ): Reading<MountTable> => {
    const instances = new InstanceIds()
    // links to devices are resolved when something is mounted, not at each reading
    const mounted = new ParsedFile(ctx.file('/proc/self/mounts'), (text) => {
      const byId = new Map<number, Mounted>()
      for (const mount of parseMounts(text)) {
        if (!isWanted(mount)) continue
        const name = nameOf(mount)
        const id = instances.idOf(name)
        // a device mounted twice is reported for its first mount point
        if (byId.has(id)) continue
        byId.set(id, { mount, name, directory: rooted(ctx.env.root, unescapeMount(mount.directory)) })
      }
      return { byId, ids: [...byId.keys()], names: [...byId.values()].map(({ name }) => name) }
    })
    return new Reading(() => {
      const { byId, ids, names } = mounted.read()
      const rooms = new Map<number, MountedRoom>()
      for (const [id, { mount, directory }] of byId)
        rooms.set(id, new MountedRoom(mount, () => statfs(directory)))
      return { ids, names, byId: rooms }
    })
  }
  const disks = table(isOnDisk, (mount) => deviceName(ctx.env.root, mount.device))
  const memory = table(
    (mount) => mount.type === 'tmpfs',
    (mount) => mount.directory,
  )
  const diskIndom: IndomSpec = {
    serial: 5,
    reading: disks,
    instances: () => disks.value,
    help: 'Mounted file systems by the device they are on',
    text:
      'Lines of /proc/self/mounts whose device begins with /dev, and the root directory, except types without ' +
      'user files. Links to devices are resolved, except in /dev/mapper and /dev/md.',
  }
  const memoryIndom: IndomSpec = {
    serial: 18,
    reading: memory,
    instances: () => memory.value,
    help: 'File systems in memory and swap (tmpfs), by mount point',
    text: 'Lines of /proc/self/mounts whose type is tmpfs. Spaces in a name are written \\040.',
  }
  return {
    ...roomMetrics('filesys', 5, diskIndom, disks, 'file system'),
    ...roomMetrics('tmpfs', 34, memoryIndom, memory, 'tmpfs file system'),
    ...diskOnlyMetrics(diskIndom, disks),
    'hinv.nfilesys': {
      cluster: 5,
      item: 0,
      type: 'u32',
      sem: 'discrete',
      units: 'count',
      help: 'Number of mounted devices in the filesys metrics',
      text: 'A device mounted in several places is counted once; file systems in memory are not counted.',
      reading: disks,
      value: () => disks.value.ids.length,
    },
  }
}

/** Resolved path of a device, except for device mapper and RAID devices, whose names are more meaningful. */
function deviceName(root: string, device: string): string {
  if (!device.startsWith('/dev') || device.startsWith('/dev/mapper') || device.startsWith('/dev/md'))
    return device
  try {
    const real = realpathSync(rooted(root, device))
    return rooted(root, real) === real || !real.startsWith(root) ? real : real.slice(rooted(root, '').length)
  } catch {
    return device // no such path: the root device of an initial RAM disk is often called /dev/root
  }
}

/** Metrics of both families; item 7 is the percentage in tmpfs and the directory in filesys. */
function roomMetrics(
  prefix: 'filesys' | 'tmpfs',
  cluster: number,
  indom: IndomSpec,
  reading: Reading<MountTable>,
  what: string,
): { [name: string]: OrderedRow } {
  const spec = (
    item: number,
    rest: Pick<MetricSpec, 'type' | 'sem' | 'units' | 'help' | 'text'>,
    pick: (room: FileSystemRoom) => number,
  ): MetricSpec => ({
    cluster,
    item,
    indom,
    reading,
    ...rest,
    value: (inst): Sample => {
      const room = reading.value.byId.get(inst)?.room
      return room === undefined || room instanceof PcpError ? room : pick(room)
    },
  })
  const kb = { type: 'u64', sem: 'instant', units: 'Kbyte' } as const
  const files = { type: 'u32', sem: 'instant', units: 'none' } as const
  const inodes = '0 for file systems that create inodes dynamically, such as btrfs.'
  return {
    [`${prefix}.capacity`]: spec(
      1,
      {
        ...kb,
        sem: 'discrete',
        help: `Size of the ${what}, without metadata`,
        text: 'f_blocks of statfs(2).',
      },
      (room) => kilobytes(room.blocks, room.bsize),
    ),
    [`${prefix}.used`]: spec(
      2,
      { ...kb, help: `Used space of the ${what}`, text: 'f_blocks minus f_bfree of statfs(2).' },
      (room) => kilobytes(room.blocks - room.bfree, room.bsize),
    ),
    [`${prefix}.free`]: spec(
      3,
      {
        ...kb,
        help: `Free space of the ${what}, including space reserved for root`,
        text: 'f_bfree of statfs(2).',
      },
      (room) => kilobytes(room.bfree, room.bsize),
    ),
    [`${prefix}.maxfiles`]: spec(
      4,
      {
        ...files,
        sem: 'discrete',
        help: `Largest number of inodes of the ${what}`,
        text: `f_files of statfs(2). ${inodes}`,
      },
      (room) => room.files,
    ),
    [`${prefix}.usedfiles`]: spec(
      5,
      {
        ...files,
        help: `Used inodes of the ${what}: its files, directories and links`,
        text: `f_files minus f_ffree of statfs(2). ${inodes}`,
      },
      (room) => room.files - room.ffree,
    ),
    [`${prefix}.freefiles`]: spec(
      6,
      { ...files, help: `Free inodes of the ${what}`, text: `f_ffree of statfs(2). ${inodes}` },
      (room) => room.ffree,
    ),
    [`${prefix}.full`]: spec(
      prefix === 'filesys' ? 8 : 7,
      {
        type: 'double',
        sem: 'instant',
        units: 'none',
        help: `Used percentage of the ${what}, as in df(1)`,
        text: 'Used space divided by the sum of used space and space available to ordinary users (f_bavail of statfs(2)).',
      },
      fullness,
    ),
  }
}

/** Metrics of file systems on devices only. */
function diskOnlyMetrics(indom: IndomSpec, reading: Reading<MountTable>): { [name: string]: OrderedRow } {
  const of = (inst: number): MountedRoom | undefined => reading.value.byId.get(inst)
  const fromRoom = (inst: number, pick: (room: FileSystemRoom) => number): Sample => {
    const room = of(inst)?.room
    return room === undefined || room instanceof PcpError ? room : pick(room)
  }
  return {
    'filesys.mountdir': {
      after: 'freefiles',
      cluster: 5,
      item: 7,
      type: 'string',
      sem: 'discrete',
      units: 'none',
      indom,
      help: 'Mount point of the device',
      text: 'Second column of /proc/self/mounts: the first one if there are several. Spaces are written \\040.',
      reading,
      value: (inst) => of(inst)?.mount.directory,
    },
    'filesys.blocksize': {
      cluster: 5,
      item: 9,
      type: 'u32',
      sem: 'instant',
      units: 'byte',
      indom,
      help: 'Block size of the file system',
      text: 'f_bsize of statfs(2).',
      reading,
      value: (inst) => fromRoom(inst, (room) => room.bsize),
    },
    'filesys.avail': {
      cluster: 5,
      item: 10,
      type: 'u64',
      sem: 'instant',
      units: 'Kbyte',
      indom,
      help: 'Space of the file system available to ordinary users',
      text: 'f_bavail of statfs(2): less than filesys.free if space is reserved for root.',
      reading,
      value: (inst) => fromRoom(inst, (room) => kilobytes(room.bavail, room.bsize)),
    },
    'filesys.readonly': {
      cluster: 5,
      item: 11,
      type: 'u32',
      sem: 'instant',
      units: 'none',
      indom,
      help: 'Is the device mounted read-only? 1 yes, 0 no',
      text: 'Whether option ro is in the fourth column of /proc/self/mounts. The kernel may set it after an error.',
      reading,
      value: (inst) => {
        const mount = of(inst)?.mount
        return mount === undefined ? undefined : Number(mount.options.includes('ro'))
      },
    },
  }
}
