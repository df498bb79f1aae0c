/** Files that name hosts. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'

/** Largest file in bytes: 100,000 hosts with some labels. */
const MOST_BYTES = 16 * 1024 * 1024

/** Reads a text file of limited size. Throws ENOENT, EFBIG... naming it. */
export function readSmall(path: string): string {
  try {
    if (statSync(path).size > MOST_BYTES)
      throw new PcpError('EFBIG', `${path}: is larger than ${MOST_BYTES} bytes; use a smaller file`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw PcpError.from(error, path)
  }
}

/** Returns the absolute path of a source's file; throws EINVAL without a name. */
export function sourcePath(argument: string, cwd: string): string {
  if (argument === '') throw new PcpError('EINVAL', 'a file name is missing after the colon')
  return resolve(cwd, argument)
}
