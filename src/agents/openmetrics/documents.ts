/** Documents that are not fetched by HTTP: what a script prints, and files. docs/openmetrics.md */

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { onAbort } from '../../base/on-abort.ts'
import { PcpError } from '../../model/errors.ts'
import { tooLong } from './limits.ts'

/** What bounds the reading of a document. */
export interface ReadLimits {
  readonly signal: AbortSignal
  readonly maxBytes: number
}

/** Lines of a script's standard error that one run may bring into the log. */
const MAX_STDERR = 4096

/**
 * What a script prints. It runs without a shell and without standard input, in a process group of its own, which is killed
 * at the end of the time. Throws a PcpError when it cannot run, fails, or prints too much; `warn` hears its standard error.
 */
export function runScript(path: string, limits: ReadLimits, warn: (text: string) => void): Promise<string> {
  const { spawn } = process.getBuiltinModule('node:child_process')
  return new Promise((resolve, reject) => {
    const child = spawn(path, [], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    // With EMFILE, child.stdout is undefined and the error is emitted later.
    child.on('error', reject)
    const chunks: Buffer[] = []
    let size = 0
    let stderr = ''
    let failure: PcpError | undefined
    const fail = (error: PcpError): void => {
      failure ??= error
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended by itself in the meantime.
      }
      child.stdout.destroy()
      child.stderr.destroy()
    }
    const giveUp = (): void => fail(new PcpError('ETIMEDOUT', 'The script did not end in time'))
    const unlink = onAbort(limits.signal, giveUp)
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limits.maxBytes) fail(tooLong(limits.maxBytes))
      else chunks.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR) stderr += chunk.toString('utf8')
    })
    child.once('error', (error) => {
      failure ??= PcpError.from(error)
      if (child.pid === undefined) finish(null, null)
    })
    child.once('close', finish)
    function finish(code: number | null, signal: NodeJS.Signals | null): void {
      unlink()
      for (const line of stderr.slice(0, MAX_STDERR).trimEnd().split('\n')) if (line !== '') warn(line)
      if (failure === undefined && code !== 0)
        failure = new PcpError('PM_ERR_GENERIC', `The script ended with ${signal ?? `status ${code}`}`)
      if (failure === undefined) resolve(Buffer.concat(chunks).toString('utf8'))
      else reject(failure)
    }
  })
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
