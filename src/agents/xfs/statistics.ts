/** Parses statistics files of XFS: rows of a word and numbers. /sys/fs/xfs, /proc/fs/xfs; Documentation/admin-guide/xfs.rst of the kernel */
import { readdirSync } from 'node:fs'
import { exactInteger } from '../../base/exact-integer.ts'
import { readAttribute, readSmallFile, rooted } from '../../sys/proc.ts'

/** Numbers by the first word of their row. */
export type XfsStatistics = ReadonlyMap<string, readonly (number | bigint)[]>

/** Parses a file; ignores other lines. */
export function parseXfsStatistics(text: string): XfsStatistics {
  const rows = new Map<string, readonly (number | bigint)[]>()
  for (const line of text.split('\n')) {
    const [word = '', ...numbers] = line.trim().split(/\s+/)
    if (numbers.length > 0 && numbers.every((number) => /^\d+$/.test(number)))
      rows.set(word, numbers.map(exactInteger))
  }
  return rows
}

/**
 * Returns the sum over all file systems; undefined for a kernel without XFS. Kernels before 4.4 provide it only in /proc,
 * and those before 2.6.39 have the quota statistics in a separate file.
 */
export function readSum(root: string): XfsStatistics | undefined {
  const text = readAttribute(root, '/sys/fs/xfs/stats/stats') ?? readAttribute(root, '/proc/fs/xfs/stat')
  if (text === undefined) return undefined
  const sum = parseXfsStatistics(text)
  if (sum.has('qm')) return sum
  const quota = readAttribute(root, '/proc/fs/xfs/xqmstat')
  return quota === undefined ? sum : new Map([...parseXfsStatistics(quota), ...sum])
}

/** One file system: its device as users write it, and its statistics. */
export interface XfsDevice {
  readonly name: string
  readonly statistics: XfsStatistics
}

/** Returns every mounted file system, sorted by the kernel's device name. */
export function readDevices(root: string): readonly XfsDevice[] {
  let names: readonly string[]
  try {
    names = readdirSync(rooted(root, '/sys/fs/xfs')).sort()
  } catch {
    return [] // this kernel has no XFS, or no statistics per file system
  }
  return names.flatMap((name) => {
    if (name === 'stats') return [] // the sum
    try {
      const text = readSmallFile(root, `/sys/fs/xfs/${name}/stats/stats`)
      return [{ name: deviceName(root, name), statistics: parseXfsStatistics(text) }]
    } catch {
      return [] // settings of the module, or a file system unmounted in the meantime
    }
  })
}

/** Logical volumes and similar devices have their own names. */
function deviceName(root: string, device: string): string {
  const mapped = readAttribute(root, `/sys/block/${device}/dm/name`)
  return mapped ? `/dev/mapper/${mapped}` : `/dev/${device}`
}
