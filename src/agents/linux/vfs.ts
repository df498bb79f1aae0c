/** vfs: tables of the file system layer, and file locks. /proc/sys/fs, /proc/locks; proc(5) */
import type { Scanner } from '../../base/scan.ts'
import type { Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import type { OrderedRow } from '../lib/name-order.ts'
import type { LinuxContext } from './context.ts'
import { ThreadedReading } from './slow-reading.ts'

/** Name, item, file below /proc/sys/fs, column, help, text. */
type TableRow = readonly [
  name: string,
  item: number,
  file: string,
  column: number,
  help: string,
  text?: string | undefined,
  own?: Partial<OrderedRow>,
]

const TABLES: readonly TableRow[] = [
  [
    'files.count',
    0,
    'file-nr',
    0,
    'File handles of open files',
    'Several file descriptors may share a handle.',
  ],
  [
    'files.free',
    1,
    'file-nr',
    1,
    'Allocated unused file handles',
    '0 since Linux 2.6, which frees handles immediately.',
  ],
  [
    'files.max',
    2,
    'file-nr',
    2,
    'Maximum number of open files of the whole system (fs.file-max)',
    'A limit of 2^31 or more shows as -1.',
  ],
  ['inodes.count', 3, 'inode-state', 0, 'Inodes the kernel holds in memory'],
  ['inodes.free', 4, 'inode-state', 1, 'Unused inodes in memory'],
  ['dentry.count', 5, 'dentry-state', 0, 'Names of files the kernel holds in memory (directory entry cache)'],
  ['dentry.free', 6, 'dentry-state', 1, 'Unused names in the directory entry cache'],
  ['aio.count', 7, 'aio-nr', 0, 'Asynchronous requests reserved by programs with io_setup(2)'],
  [
    'aio.max',
    8,
    'aio-max-nr',
    0,
    'Maximum number of asynchronous requests that may be reserved (fs.aio-max-nr)',
  ],
]

/** The metrics of /proc/sys/fs (cluster 27). */
export function vfsMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  const metrics: { [name: string]: OrderedRow } = {}
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

/** Limits may be as high as 2^63 - 1, set by systemd, but the metric has 31 bits: as in the reference -1 means no limit. */
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

/** Counts the rows of /proc/locks, without rows with an arrow, which are waiting requests. */
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
  lease: 'that notify their owner before another process opens the file (leases, delegations)',
}

/** The metrics of /proc/locks (cluster 75). */
function lockMetrics(ctx: LinuxContext): { [name: string]: OrderedRow } {
  // the kernel waits until no CPU is changing locks, which takes 7 ms on an idle machine
  const reading = new ThreadedReading(ctx.file('/proc/locks'), parseLocks)
  const metrics: { [name: string]: OrderedRow } = {}
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
        text: 'Rows of /proc/locks; waiting requests are not counted. A lock for both modes is counted as either.',
        reading,
        prefetch: ({ batch }) => reading.begin(batch),
        value: (): Sample => reading.value[kind][column],
      }
    }
  }
  return metrics
}
