/** A file that others write anew as a whole: read when it has changed. docs/guide/agent-data.md */
import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { Reading } from '../reading.ts'

/** How a snapshot is read. */
export interface SnapshotFileOptions<T> {
  readonly path: string
  /** From the file's text to what metrics need. What it throws is the error of those metrics. */
  readonly parse: (text: string) => T
  /** A larger file is refused (EFBIG); default 16 MB. */
  readonly maxBytes?: number
  /** A file that was not written for longer counts no more (PM_ERR_AGAIN): whoever writes it may have died. Default: forever. */
  readonly maxAgeMs?: number
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
}

const MAX_BYTES = 16 * 1024 * 1024

/**
 * A reading of a file that is parsed again only when it is another file, or has another time or size. Writers should
 * write a new file and rename it, so that nobody sees a part. Errors as the system has them: ENOENT, EACCES...
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
