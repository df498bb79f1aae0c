/** Reads a file that other programs rewrite as a whole, whenever it has changed. docs/how-to/agent-data.md */
import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { Reading } from '../reading.ts'

/** Options of a snapshot file. */
export interface SnapshotFileOptions<T> {
  readonly path: string
  /** Converts the file's text to what the metrics need. An exception becomes their error. */
  readonly parse: (text: string) => T
  /** A larger file is an error (EFBIG); default 16 MB. */
  readonly maxBytes?: number
  /** An older file is an error (PM_ERR_AGAIN), as its writer may have died. Default: no limit. */
  readonly maxAgeMs?: number
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

const MAX_BYTES = 16 * 1024 * 1024

/**
 * Returns a reading of a file, parsed again only when its inode, time or size changes. Writers should write a new file and
 * rename it, so that readers never see an incomplete one. Errors are the system's: ENOENT, EACCES...
 */
export function snapshotFile<T>(options: SnapshotFileOptions<T>): Reading<T> {
  let known: { readonly stamp: string; readonly value: T } | undefined
  return new Reading(() => {
    const { path, parse, maxBytes = MAX_BYTES, maxAgeMs, clock = Date.now } = options
    const fd = openSync(path, 'r')
    try {
      const stat = fstatSync(fd)
      checkAge(path, stat, maxAgeMs, clock())
      const stamp = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`
      if (known?.stamp !== stamp) {
        known = undefined
        if (stat.size > maxBytes)
          throw new PcpError('EFBIG', `"${path}" has ${stat.size} bytes, more than ${maxBytes}`)
        known = { stamp, value: parse(decodeText(readFileSync(fd))) }
      }
      return known.value
    } finally {
      closeSync(fd)
    }
  })
}

function checkAge(path: string, { mtimeMs }: Stats, maxAgeMs: number | undefined, now: number): void {
  const age = now - mtimeMs
  if (maxAgeMs !== undefined && age > maxAgeMs)
    throw new PcpError(
      'PM_ERR_AGAIN',
      `"${path}" was written ${Math.round(age)} ms ago, longer than ${maxAgeMs}`,
    )
}
