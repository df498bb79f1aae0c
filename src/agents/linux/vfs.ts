/** vfs: tables of the file system layer, and file locks. /proc/sys/fs, /proc/locks; proc(5) */
import type { Scanner } from '../../base/scan.ts'
import type { Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { PlacedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { SlowReading } from './slow-reading.ts'

/** Name, item, file below /proc/sys/fs, column, help, text. */
type TableRow = readonly [
  name: string,
  item: number,
  file: string,
  column: number,
  help: string,
  text?: string | undefined,
  own?: Partial<PlacedRow>,
]

const TABLES: readonly TableRow[] = [
  [
    'files.count',
    0,
    'file-nr',
    0,
    'Open files the kernel keeps a handle for',
    'Several descriptors may share a handle.',
  ],
  [
    'files.free',
    1,
    'file-nr',
    1,
    'File handles that are allocated and not in use',
    'Kernels since 2.6 free handles at once, so it is 0.',
  ],
  [
    'files.max',
    2,
    'file-nr',
    2,
    'How many open files the whole system may have (fs.file-max)',
    'A limit of 2^31 or more shows as -1.',
  ],
  ['inodes.count', 3, 'inode-state', 0, 'Inodes the kernel holds in memory'],
  ['inodes.free', 4, 'inode-state', 1, 'Inodes in memory that nothing uses and that may be freed'],
  ['dentry.count', 5, 'dentry-state', 0, 'Names of files the kernel holds in memory (directory entry cache)'],
  [
    'dentry.free',
    6,
    'dentry-state',
    1,
    'Names in the directory entry cache that nothing uses and that may be freed',
  ],
  ['aio.count', 7, 'aio-nr', 0, 'Asynchronous requests that programs have reserved room for by io_setup(2)'],
  ['aio.max', 8, 'aio-max-nr', 0, 'How many asynchronous requests may be reserved in all (fs.aio-max-nr)'],
]

/** The metrics of /proc/sys/fs (cluster 27). */
export function vfsMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  const metrics: { [name: string]: PlacedRow } = {}
  const readings = new Map<string, Reading<readonly number[]>>()
  for (const [name, item, file, column, help, text, own] of TABLES) {
    const reading =
      readings.get(file) ?? new Reading(() => parseNumbers(ctx.file(`/proc/sys/fs/${file}`).scan()))
    readings.set(file, reading)
    const source = `Number ${column + 1} in /proc/sys/fs/${file}.`
    metrics[`vfs.${name}`] = {
      cluster: 27,
      item,
      type: '32',
      sem: 'instant',
      units: 'none',
      help,
      text: text === undefined ? source : `${source} ${text}`,
      reading,
      value: () => withinInt(reading.value[column]),
      ...own,
    }
  }
  return { ...metrics, ...lockMetrics(ctx) }
}

function parseNumbers(scan: Scanner): readonly number[] {
  const numbers: number[] = []
  for (let value = scan.uint(); !Number.isNaN(value); value = scan.uint()) numbers.push(value)
  return numbers
}

const INT_MAX = 2 ** 31 - 1

/** Limits may be set as high as 2^63 - 1, which systemd does; the metric has 31 bits, and -1 then says 'no limit', as the reference has it. */
function withinInt(value: number | undefined): number | undefined {
  return value !== undefined && value > INT_MAX ? -1 : value
}

/** Locks of one kind. */
interface LockCounts {
  read: number
  write: number
  count: number
}

/** Locks by kind. */
export interface FileLocks {
  readonly posix: LockCounts
  readonly flock: LockCounts
  readonly lease: LockCounts
}

/** Counts the rows of /proc/locks; rows with an arrow are requests that wait for the lock above them. */
export function parseLocks(scan: Scanner): FileLocks {
  const none = (): LockCounts => ({ read: 0, write: 0, count: 0 })
  const locks = { posix: none(), flock: none(), lease: none() }
  while (!scan.atEnd) {
    scan.skipWords(1)
    const kind = KINDS[scan.word()]
    scan.skipWords(1)
    const mode = scan.word()
    scan.nextLine()
    if (kind === undefined) continue
    locks[kind].count++
    if (mode === 'READ' || mode === 'RW') locks[kind].read++
    if (mode === 'WRITE' || mode === 'RW') locks[kind].write++
  }
  return locks
}

const KINDS: { readonly [word: string]: keyof FileLocks } = {
  POSIX: 'posix',
  ACCESS: 'posix',
  OFDLCK: 'posix',
  FLOCK: 'flock',
  DELEG: 'lease',
  LEASE: 'lease',
}

const LOCK_WORDS: { readonly [kind in keyof FileLocks]: string } = {
  posix: 'on ranges of files, by fcntl(2) or lockf(3)',
  flock: 'on whole files, by flock(2)',
  lease: 'that tell a file server before somebody else opens a file (leases, delegations)',
}

/** The metrics of /proc/locks (cluster 75). */
function lockMetrics(ctx: LinuxContext): { [name: string]: PlacedRow } {
  // the kernel waits until no processor is changing locks, which takes 7 ms on an idle machine
  const reading = new SlowReading(ctx.file('/proc/locks'), parseLocks)
  const metrics: { [name: string]: PlacedRow } = {}
  let item = 0
  for (const kind of ['posix', 'flock', 'lease'] as const) {
    const words = LOCK_WORDS[kind]
    for (const [column, help] of [
      ['read', `Shared locks held ${words}`],
      ['write', `Exclusive locks held ${words}`],
      ['count', `Locks held, shared or exclusive, ${words}`],
    ] as const) {
      metrics[`vfs.locks.${kind}.${column}`] = {
        cluster: 75,
        item: item++,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        help,
        text: 'Rows of /proc/locks; requests that wait for a lock do not count. A lock for both modes counts as either.',
        reading,
        ahead: ({ moment }) => reading.begin(moment),
        value: (): Sample => reading.value[kind][column],
      }
    }
  }
  return metrics
}
