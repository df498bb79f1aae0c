/** Parses /proc/diskstats, with the kind of each block device. Documentation/admin-guide/iostats.rst of the kernel */
import type { Scanner } from '../../base/scan.ts'

/** Columns of a line after the name, in file order. */
export const READ = 0
export const READ_MERGE = 1
export const READ_SECTORS = 2
export const READ_MS = 3
export const WRITE = 4
export const WRITE_MERGE = 5
export const WRITE_SECTORS = 6
export const WRITE_MS = 7
export const INFLIGHT = 8
export const IO_MS = 9
export const WEIGHTED_MS = 10
export const DISCARD = 11
export const DISCARD_MERGE = 12
export const DISCARD_SECTORS = 13
export const DISCARD_MS = 14
export const FLUSH = 15
export const FLUSH_MS = 16
/** Most columns of a line. */
export const DISK_COLUMNS = 17

/** Kind of a block device, which determines its instance domain. */
export type DiskKind = 'disk' | 'partition' | 'dm' | 'md' | 'zram' | 'other'

/**
 * Returns the kind of a kernel device. A name that ends in a digit is a partition, except for drivers that number their
 * disks (mmcblk0, nvme0n1, rbd0, nbd0, cciss/c0d0), whose partitions have a `p` before the number.
 */
export function diskKind(name: string): DiskKind {
  if (/^(loop|ram|sr|xvm)\d/.test(name)) return 'other'
  if (/^zram\d/.test(name)) return 'zram'
  if (/^dm-\d/.test(name)) return 'dm'
  if (/^md\d/.test(name)) return 'md'
  if (!/\d$/.test(name)) return 'disk'
  return /^(mmcblk\d+|nvme\d+n\d+|rbd\d+|nbd\d+|(cciss\/|ida\/)?c\d+d\d+)$/.test(name) ? 'disk' : 'partition'
}

/** /proc/diskstats as numbers, overwritten by each reading. */
export interface DiskTable {
  /** Incremented when devices were added, removed or moved. */
  layout: number
  /** Number of devices in the last reading. */
  count: number
  /** Name and kind of the device on each line; only the first `count` are current. */
  readonly names: string[]
  readonly kinds: DiskKind[]
  /** Each name followed by a space, as in the file, to detect quickly that a line is for the same device as before. */
  readonly keywords: string[]
  /** Numbers of line n start at n * DISK_COLUMNS; NaN for missing columns. */
  columns: Float64Array
}

/** An empty table for `parseDiskstats` to fill. */
export function newDiskTable(): DiskTable {
  return { layout: 0, count: 0, names: [], kinds: [], keywords: [], columns: new Float64Array(0) }
}

/**
 * Fills the table and returns it. Kernels before 4.18 have no discard columns and those before 5.5 no flush columns,
 * because they send no such requests, so these are 0.
 */
export function parseDiskstats(scan: Scanner, table: DiskTable): DiskTable {
  const { names, kinds, keywords } = table
  let line = 0
  for (; !scan.atEnd; scan.nextLine()) {
    scan.skipWords(2) // major and minor device number
    scan.skipBlanks()
    const known = keywords[line]
    if (known === undefined || !scan.accept(known)) {
      const name = scan.word()
      if (name === '') continue
      names[line] = name
      kinds[line] = diskKind(name)
      keywords[line] = `${name} `
      table.layout++
    }
    if ((line + 1) * DISK_COLUMNS > table.columns.length) {
      const larger = new Float64Array((line + 1) * 2 * DISK_COLUMNS)
      larger.set(table.columns)
      table.columns = larger
    }
    readColumns(scan, table.columns, line * DISK_COLUMNS)
    line++
  }
  if (line !== table.count) table.layout++
  table.count = line
  return table
}

/** Requests and sectors, the only statistics of partitions before Linux 2.6.25. */
const SHORT_LINE = [READ, READ_SECTORS, WRITE, WRITE_SECTORS]

function readColumns(scan: Scanner, into: Float64Array, at: number): void {
  let found = 0
  for (; found < DISK_COLUMNS; found++) {
    const value = scan.uint()
    if (Number.isNaN(value)) break
    into[at + found] = value
  }
  const numbers = found === SHORT_LINE.length ? into.slice(at, at + found) : undefined
  if (found < DISCARD) into.fill(Number.NaN, at + (numbers === undefined ? found : 0), at + DISCARD)
  for (const [i, number] of numbers?.entries() ?? []) into[at + SHORT_LINE[i]!] = number
  into.fill(0, at + Math.max(found, DISCARD), at + DISK_COLUMNS)
}

/** Parses /proc/partitions, lines `major minor #blocks name`, to Kbyte by name. */
export function parsePartitions(text: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  for (const match of text.matchAll(/^\s*\d+\s+\d+\s+(\d+)\s+(\S+)$/gm))
    sizes.set(match[2]!, Number(match[1]))
  return sizes
}
