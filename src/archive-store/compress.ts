/** Compression of archive files: the compressed file is complete and durable before the original is removed. */
import { statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { copyAttributes } from './copy.ts'
import { Transaction, type TransactionOptions } from './transaction.ts'

/** Compresses a file in place: `NAME` becomes `NAME.SUFFIX`, where the suffix depends on the format. */
export interface Compressor {
  /** The command line, for display: `xz -0 --block-size=10MiB`. */
  readonly command: string
  /** Compresses the only file in a directory. Rejects on failure. */
  compress(directory: string, name: string, signal?: AbortSignal): Promise<void>
}

/** gzip, without an external program. */
export const GZIP: Compressor = {
  command: 'gzip',
  async compress(directory, name, signal) {
    const { createReadStream, createWriteStream } = process.getBuiltinModule('node:fs')
    const { createGzip } = process.getBuiltinModule('node:zlib')
    const { pipeline } = process.getBuiltinModule('node:stream/promises')
    const path = join(directory, name)
    // Flushed on the thread pool, so that the commit does not wait for the disk.
    const mode = statSync(path).mode & 0o777
    const output = createWriteStream(`${path}.gz`, { flush: true, mode })
    await pipeline(createReadStream(path), createGzip(), output, { ...(signal && { signal }) })
  },
}

/**
 * Replaces a file of an archive by a compressed one of the same age, mode and, for root, owner. EIO if the compressor made no file, and
 * errors as `Transaction.commit`; the original is then intact.
 */
export async function compressFile(
  path: string,
  compressor: Compressor,
  options: TransactionOptions = {},
): Promise<void> {
  const { signal } = options
  const directory = dirname(resolve(path))
  const name = basename(path)
  const transaction = new Transaction(directory, options)
  try {
    const stats = statSync(path)
    transaction.remove(path)
    // Programs compress in place, and reject files with several links.
    const staging = transaction.staging()
    const work = join(staging, name)
    await copyFile(path, work)
    await compressor.compress(staging, name, signal)
    const made = transaction.staged().find((each) => each.startsWith(`${name}.`))
    if (made === undefined)
      throw new PcpError('EIO', `${compressor.command} did not create a compressed file of ${path}`)
    await copyAttributes(join(staging, made), stats)
    const target = join(directory, made)
    // A leftover of an interrupted program: the uncompressed file is the valid one.
    if (statSync(target, { throwIfNoEntry: false }) !== undefined) transaction.remove(target)
    transaction.stageAs(join(staging, made), target)
    await transaction.commit()
  } finally {
    transaction.abandon()
  }
}
