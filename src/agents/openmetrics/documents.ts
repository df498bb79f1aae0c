/** Documents that are not fetched by HTTP: what a script prints, and files. docs/openmetrics.md */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { PcpError } from '../../model/errors.ts'
import { outputOf } from '../../pmda/feeds/child.ts'
import { tooLong } from './limits.ts'

/** What bounds the reading of a document. */
export interface ReadLimits {
  readonly signal: AbortSignal
  readonly maxBytes: number
}

/** Lines of a script's standard error that one run may bring into the log. */
const MAX_STDERR = 4096

/**
 * Runs a script and returns what it prints; kills it when the time is up. Throws a PcpError when it cannot run, fails, or prints
 * too much. `warn` receives the lines of its standard error.
 */
export async function runScript(
  path: string,
  { signal, maxBytes }: ReadLimits,
  warn: (text: string) => void,
): Promise<string> {
  let stderr = ''
  try {
    const output = await outputOf({ command: path, name: 'The script', signal, maxBytes }, (piece) => {
      if (stderr.length < MAX_STDERR) stderr += Buffer.from(piece).toString()
    })
    return Buffer.from(output.buffer, output.byteOffset, output.length).toString()
  } catch (error) {
    const failure = PcpError.from(error)
    if (failure.code === 'EINTR') throw new PcpError('ETIMEDOUT', 'The script did not end in time')
    throw failure.code === 'EFBIG' ? tooLong(maxBytes) : failure
  } finally {
    for (const line of stderr.slice(0, MAX_STDERR).trimEnd().split('\n')) if (line !== '') warn(line)
  }
}

/** The text of a file. Throws a PcpError when it cannot be read, is no file, or is too long. */
export async function readDocument(path: string, { maxBytes }: ReadLimits): Promise<string> {
  let file: FileHandle | undefined
  try {
    // To open a pipe for reading would wait for somebody to write to it.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await file.stat()).isFile()) throw new PcpError('EINVAL', `${path} is no file`)
    // Files in /proc have size 0: what there is shows only by reading.
    const chunks: Buffer[] = []
    for (let size = 0; ; ) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(65_536) })
      if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8')
      size += bytesRead
      if (size > maxBytes) throw tooLong(maxBytes)
      chunks.push(buffer.subarray(0, bytesRead))
    }
  } catch (error) {
    throw PcpError.from(error)
  } finally {
    await file?.close()
  }
}
