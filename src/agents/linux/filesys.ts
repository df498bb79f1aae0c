/** filesys and tmpfs: room in mounted file systems. /proc/self/mounts, statfs(2) */
import { realpathSync, statfsSync } from 'node:fs'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { ParsedFile, rooted } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'

/** One line of the mount table. */
export interface Mount {
  readonly device: string
  /** Where it is mounted, with blanks and other odd characters as octal escapes. */
  readonly directory: string
  readonly type: string
  readonly options: readonly string[]
}

/** What statfs(2) says, in blocks of `bsize` bytes. */
export interface FileSystemRoom {
  readonly bsize: number
  readonly blocks: number
  readonly bfree: number
  readonly bavail: number
  readonly files: number
  readonly ffree: number
}

/** Asks the kernel about the file system that a directory is in. */
export type StatFs = (directory: string) => FileSystemRoom

/** Parses /proc/self/mounts: device, directory, type, options, two numbers nobody uses. */
export function parseMounts(text: string): readonly Mount[] {
  const mounts: Mount[] = []
  for (const line of text.split('\n')) {
    const [device, directory, type, options] = line.split(' ')
    if (device === undefined || directory === undefined || type === undefined) continue
    mounts.push({ device, directory, type, options: (options ?? '').split(',') })
  }
  return mounts
}

/** Undoes the octal escapes of the mount table: `/with\040blank`. */
export function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/** File systems that hold no files of users, or whose room is not this host's. */
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

/** Is this a file system on a disk of this host? Those in memory are tmpfs and stand apart. */
export function isOnDisk(mount: Mount): boolean {
  if (mount.type === 'tmpfs' || SKIPPED.includes(mount.type) || mount.type.startsWith('auto')) return false
  return mount.device.startsWith('/dev') || mount.directory === '/'
}

/** A line of the mount table that counts, the name of its instance, and where to ask about it. */
interface Mounted {
  readonly mount: Mount
  readonly name: string
  readonly directory: string
}

/** A mounted file system with an instance number; what it holds is asked for once a reading, when first wanted. */
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

/** Blocks as kilobytes; exact unless a file system has more than 2^53 bytes. */
function kilobytes(blocks: number, bsize: number): number {
  return Math.floor((blocks * bsize) / 1024)
}

/** Percentage of the room ordinary users may have that is taken; 0 where there is no room at all. */
export function fullness({ blocks, bfree, bavail }: FileSystemRoom): number {
  const used = blocks - bfree
  const total = used + bavail
  return total === 0 ? 0 : (100 * used) / total
}

/** The metrics of mounted file systems (clusters 5 and 34). `statfs` asks the kernel, unless a test answers. */
export function fileSystemMetrics(
  ctx: LinuxContext,
  statfs: StatFs = (directory) => statfsSync(directory),
): { [name: string]: PlacedRow } {
  const table = (
    isWanted: (mount: Mount) => boolean,
    nameOf: (mount: Mount) => string,
  ): Reading<MountTable> => {
    const instances = new InstanceIds()
    // where links to devices lead is looked up when something is mounted, not for each reading
    const mounted = new ParsedFile(ctx.file('/proc/self/mounts'), (text) => {
      const byId = new Map<number, Mounted>()
      for (const mount of parseMounts(text)) {
        if (!isWanted(mount)) continue
        const name = nameOf(mount)
        const id = instances.idOf(name)
        // a device mounted twice counts where it was mounted first
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
      'Lines of /proc/self/mounts whose device begins with /dev, and the root directory, apart from kinds that hold no ' +
      'files of users. A link to a device is followed, unless it is in /dev/mapper or /dev/md.',
  }
  const memoryIndom: IndomSpec = {
    serial: 18,
    reading: memory,
    instances: () => memory.value,
    help: 'Mounted file systems that live in memory and swap (tmpfs) by their directory',
    text: 'Lines of /proc/self/mounts whose type is tmpfs. Blanks in a name are written \\040.',
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
      help: 'How many mounted devices the filesys metrics report about',
      text: 'A device mounted in several places counts once; file systems in memory do not count.',
      reading: disks,
      value: () => disks.value.ids.length,
    },
  }
}

/** A device's own path; device mapper and RAID names say more than what they link to. */
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

/** Metrics that both families have; tmpfs numbers the percentage 7 where filesys has the directory. */
function roomMetrics(
  prefix: 'filesys' | 'tmpfs',
  cluster: number,
  indom: IndomSpec,
  reading: Reading<MountTable>,
  what: string,
): { [name: string]: PlacedRow } {
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
  const inodes = 'File systems that make inodes as they go, such as btrfs, say 0.'
  return {
    [`${prefix}.capacity`]: spec(
      1,
      {
        ...kb,
        sem: 'discrete',
        help: `Size of the ${what}, without its own bookkeeping`,
        text: 'f_blocks of statfs(2).',
      },
      (room) => kilobytes(room.blocks, room.bsize),
    ),
    [`${prefix}.used`]: spec(
      2,
      { ...kb, help: `Room taken in the ${what}`, text: 'f_blocks less f_bfree of statfs(2).' },
      (room) => kilobytes(room.blocks - room.bfree, room.bsize),
    ),
    [`${prefix}.free`]: spec(
      3,
      {
        ...kb,
        help: `Room left in the ${what}, what is reserved for root included`,
        text: 'f_bfree of statfs(2).',
      },
      (room) => kilobytes(room.bfree, room.bsize),
    ),
    [`${prefix}.maxfiles`]: spec(
      4,
      {
        ...files,
        sem: 'discrete',
        help: `How many inodes the ${what} has room for`,
        text: `f_files of statfs(2). ${inodes}`,
      },
      (room) => room.files,
    ),
    [`${prefix}.usedfiles`]: spec(
      5,
      {
        ...files,
        help: `Inodes taken in the ${what}: its files, directories and links`,
        text: `f_files less f_ffree of statfs(2). ${inodes}`,
      },
      (room) => room.files - room.ffree,
    ),
    [`${prefix}.freefiles`]: spec(
      6,
      { ...files, help: `Inodes left in the ${what}`, text: `f_ffree of statfs(2). ${inodes}` },
      (room) => room.ffree,
    ),
    [`${prefix}.full`]: spec(
      prefix === 'filesys' ? 8 : 7,
      {
        type: 'double',
        sem: 'instant',
        units: 'none',
        help: `Percentage of the ${what} that is taken, as df(1) shows it`,
        text: 'Room taken in proportion to room taken plus room that ordinary users may still take (f_bavail of statfs(2)).',
      },
      fullness,
    ),
  }
}

/** Metrics of file systems on devices alone. */
function diskOnlyMetrics(indom: IndomSpec, reading: Reading<MountTable>): { [name: string]: PlacedRow } {
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
      help: "Directory through which the device's files are reached",
      text: 'Second column of /proc/self/mounts: the first place when there are several. Blanks in it are written \\040.',
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
      help: 'Size of the pieces in which the file system gives out room',
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
      help: 'Room left in the file system for ordinary users',
      text: 'f_bavail of statfs(2): less than filesys.free where some room is reserved for root.',
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
      help: 'Is the device mounted so that nothing can be written? 1 yes, 0 no',
      text: 'Whether option ro is in the fourth column of /proc/self/mounts. The kernel may set it after an error.',
      reading,
      value: (inst) => {
        const mount = of(inst)?.mount
        return mount === undefined ? undefined : Number(mount.options.includes('ro'))
      },
    },
  }
}
