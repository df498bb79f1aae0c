/** ipc: System V shared memory, semaphores and message queues. /proc/sysvipc, /proc/sys/kernel; sysvipc(7) */
import type { IndomSpec, MetricSpec, Sample, TypeName } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import { readAttribute } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { IPC_LIMITS, IPC_OBJECTS, IPC_TOTALS, type IpcKind, type LimitSource } from './ipc-rows.ts'

/** One object: its columns by the names in the heading, such as `key` and `perms`. */
export type IpcObject = ReadonlyMap<string, number>

const ID_COLUMN: Readonly<Record<IpcKind, string>> = { sem: 'semid', msg: 'msqid', shm: 'shmid' }

/** Parses a file of /proc/sysvipc, a heading and a row of numbers per object, by object id. */
export function parseIpc(text: string, kind: IpcKind): ReadonlyMap<number, IpcObject> {
  const [heading = '', ...rows] = text.split('\n')
  const names = heading.trim().split(/\s+/)
  const objects = new Map<number, IpcObject>()
  for (const row of rows) {
    const words = row.trim().split(/\s+/)
    if (words.length < 3) continue
    const object = new Map<string, number>()
    for (const [i, name] of names.entries()) {
      // permissions are in octal, everything else in decimal
      const value = Number.parseInt(words[i] ?? '', name === 'perms' ? 8 : 10)
      if (!Number.isNaN(value)) object.set(name, value)
    }
    const id = object.get(ID_COLUMN[kind])
    if (id !== undefined) objects.set(id, object)
  }
  return objects
}

/** The numbers of a limits file below /proc/sys/kernel, as bigints because they may exceed 2^53. */
function parseLimits(text: string): readonly bigint[] {
  return (text.match(/\d+/g) ?? []).map(BigInt)
}

const TEXT_OF_STATUS: readonly (readonly [bit: number, word: string])[] = [
  [0o1000, 'dest'],
  [0o2000, 'locked'],
]

/** User names by number, from /etc/passwd. */
function readUsers(ctx: LinuxContext): ReadonlyMap<number, string> {
  const users = new Map<number, string>()
  for (const line of (readAttribute(ctx.env.root, '/etc/passwd') ?? '').split('\n')) {
    const [name, , uid] = line.split(':')
    if (name !== undefined && uid !== undefined && !users.has(Number(uid))) users.set(Number(uid), name)
  }
  return users
}

interface Ipc {
  readonly objects: Readonly<Record<IpcKind, Reading<ReadonlyMap<number, IpcObject>>>>
  readonly limits: (file: string) => Reading<readonly bigint[]>
}

/** The metrics of System V IPC (clusters 21 to 23, 56, 61, 62 and 64 to 66). */
export function ipcMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const read = (kind: IpcKind): Reading<ReadonlyMap<number, IpcObject>> =>
    new Reading(() => parseIpc(ctx.file(`/proc/sysvipc/${kind}`).text(), kind))
  const limits = new Map<string, Reading<readonly bigint[]>>()
  const ipc: Ipc = {
    objects: { sem: read('sem'), msg: read('msg'), shm: read('shm') },
    limits: (file) => {
      const known = limits.get(file) ?? new Reading(() => parseLimits(ctx.text(`/proc/sys/kernel/${file}`)))
      limits.set(file, known)
      return known
    },
  }
  return { ...limitMetrics(ipc), ...totalMetrics(ctx, ipc), ...objectMetrics(ctx, ipc) }
}

function limitMetrics(ipc: Ipc): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { name, cluster, item, source, units, help } of IPC_LIMITS) {
    const reading = typeof source === 'number' ? undefined : ipc.limits(source.file)
    metrics[`ipc.${name}`] = {
      cluster,
      item,
      type: 'u32',
      sem: 'discrete',
      units: units ?? 'none',
      help,
      text: explain(source),
      ...(reading === undefined ? {} : { reading }),
      value: (): Sample => {
        if (typeof source === 'number') return source
        const value = reading?.value[source.column ?? 0]
        const factor = source.times === undefined ? 1024n : ipcFactor(ipc, source.times)
        return value === undefined || factor === undefined ? undefined : (value * factor) / 1024n
      },
    }
  }
  return metrics
}

/** The other factor of a limit that is a product. */
function ipcFactor(ipc: Ipc, file: string): bigint | undefined {
  const reading = ipc.limits(file)
  reading.refresh(undefined)
  return reading.value[0]
}

function explain(source: LimitSource): string {
  if (typeof source === 'number') return 'A constant of the Linux kernel.'
  const place = source.column === undefined ? '' : `, number ${source.column + 1}`
  const factor = source.times === undefined ? '' : ` times kernel.${source.times}, in KB`
  return `From /proc/sys/kernel/${source.file}${place}${factor}. Only the low 32 bits.`
}

function totalMetrics(ctx: LinuxContext, ipc: Ipc): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  for (const { name, cluster, item, kind, column, isSize, units, help } of IPC_TOTALS) {
    const reading = ipc.objects[kind]
    metrics[`ipc.${name}`] = {
      cluster,
      item,
      type: 'u32',
      sem: 'instant',
      units: units ?? 'none',
      help,
      text:
        column === undefined
          ? `Rows of /proc/sysvipc/${kind}.`
          : `The sum of column ${column} of /proc/sysvipc/${kind}${isSize === true ? ', in whole pages' : ''}. Wraps at 2^32.`,
      reading,
      value: () => {
        if (column === undefined) return reading.value.size
        let sum = 0
        for (const object of reading.value.values()) {
          const value = object.get(column)
          if (value === undefined) return undefined
          sum += isSize === true ? Math.ceil(value / ctx.pagesize) * ctx.pagesize : value
        }
        return sum
      },
    }
  }
  const zero = (item: number, help: string): MetricSpec => ({
    cluster: 56,
    item,
    type: 'u32',
    sem: 'instant',
    units: 'none',
    help,
    text: 'shmctl(2) has a field for this number, which is always 0 since Linux 2.4.',
    value: () => 0,
  })
  return {
    ...metrics,
    'ipc.shm.swap_attempts': zero(4, 'Times the kernel tried to swap out a page of a shared segment'),
    'ipc.shm.swap_successes': zero(5, 'Times the kernel did swap out a page of a shared segment'),
  }
}

function objectMetrics(ctx: LinuxContext, ipc: Ipc): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
  const users = new Reading(() => readUsers(ctx))
  for (const { kind, cluster, serial, what, rows } of IPC_OBJECTS) {
    const reading = ipc.objects[kind]
    const instances = new InstanceIds()
    const indom: IndomSpec = {
      serial,
      reading,
      instances: () => instances.list([...reading.value.keys()].map(String)),
      help: `${what} by identifier`,
      text: `Rows of /proc/sysvipc/${kind}; ipcs(1) shows the same numbers.`,
    }
    for (const [item, row] of rows.entries()) {
      const columnOf = (inst: number): Sample => {
        const object = reading.value.get(Number(instances.nameOf(inst)))
        const value = object?.get(row.column)
        return value === undefined ? undefined : shown(row.as, value, users)
      }
      const type: TypeName = row.as === 'number' || row.as === 'octal' ? 'u32' : 'string'
      metrics[`ipc.${kind}.${row.name}`] = {
        cluster,
        item,
        type,
        sem: row.isFixed === true ? 'discrete' : 'instant',
        units: row.units ?? 'none',
        indom,
        help: row.help,
        text: `Column ${row.column} of /proc/sysvipc/${kind}.${row.text === undefined ? '' : ` ${row.text}`}`,
        reading,
        value: columnOf,
      }
    }
  }
  return metrics
}

/** Converts a column to the form of the metric. */
function shown(
  as: 'number' | 'octal' | 'key' | 'owner' | 'status',
  value: number,
  users: Reading<ReadonlyMap<number, string>>,
): Sample {
  if (as === 'number') return value
  // decimal digits that look like the octal number: 644
  if (as === 'octal') return Number((value & 0o777).toString(8))
  if (as === 'key') return `0x${(value >>> 0).toString(16).padStart(8, '0')}`
  if (as === 'status')
    return TEXT_OF_STATUS.filter(([bit]) => (value & bit) !== 0)
      .map(([, word]) => word)
      .join(' ')
  users.refresh(undefined)
  return users.value.get(value) ?? String(value)
}
