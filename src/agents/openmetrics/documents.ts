/** Reads documents from scripts and files. docs/reference/agents/openmetrics.md */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { PcpError } from '../../model/errors.ts'
import { runForOutput } from '../../pmda/feeds/child.ts'
import { tooLong } from './limits.ts'

/** Limits for reading a document. */
export interface ReadLimits {
  readonly signal: AbortSignal
  readonly maxBytes: number
}

/** Most bytes of a script's standard error logged per run. */
const MAX_STDERR = 4096

/**
 * Runs a script and returns its output; kills it on timeout. Throws a PcpError if it cannot run, fails, or prints too much.
 * `warn` receives the lines of its standard error.
 */
export async function runScript(
  path: string,
  { signal, maxBytes }: ReadLimits,
  warn: (text: string) => void,
): Promise<string> {
  let stderr = ''
  try {
    const output = await runForOutput({ command: path, name: 'The script', signal, maxBytes }, (piece) => {
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

/** Returns the text of a file. Throws a PcpError if it is unreadable, not a regular file, or too long. */
export async function readDocument(path: string, { maxBytes }: ReadLimits): Promise<string> {
  let file: FileHandle | undefined
  try {
    // Opening a FIFO for reading would block until it has a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await file.stat()).isFile()) throw new PcpError('EINVAL', `${path} is not a regular file`)
    // Files in /proc have size 0: their length is known only after reading.
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
