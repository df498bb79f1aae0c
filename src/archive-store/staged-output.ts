/** Output files of a new archive that get their names together, once all of them are complete. */
import { dirname } from 'node:path'
import type { ByteSink } from '../base/byte-source.ts'
import { type ArchiveAccess, accessOfReplaced } from '../sys/archive-access.ts'
import { type ArchiveOutput, type ArchiveOutputOptions, archiveOutput } from '../sys/archive-output.ts'
import { nodeDisk } from '../sys/disk.ts'
import type { FileIdentity } from '../sys/staging.ts'
import { Transaction, type TransactionOptions } from './transaction.ts'

/** An archive without a final name. All sinks must be closed before `commit` or `abandon`. */
export interface StagedOutput extends ArchiveOutput {
  /**
   * Renames the files and removes the inputs atomically. Rejects as `Transaction.commit`; then nothing has changed and no
   * output remains.
   */
  commit(): Promise<void>
  /** Removes the files; no effect after `commit`. */
  abandon(): void
}

/** Options of an output. If it replaces files, it keeps their mode and owner. */
export interface StagedOutputOptions extends ArchiveOutputOptions, TransactionOptions {
  /** Files to remove on commit, with their identities from before they were read. */
  readonly inputs?: readonly FileIdentity[]
}

/** As `archiveOutput`, in a staging directory until `commit`. */
export function stagedOutput(base: string, options: StagedOutputOptions = {}): StagedOutput {
  const transaction = new Transaction(dirname(base), options)
  const inputs = options.inputs ?? []
  for (const input of inputs) transaction.remove(input)
  let access: ArchiveAccess | undefined
  return {
    name: base,
    create(part): ByteSink {
      const path = `${base}.${part}`
      try {
        const staged = transaction.stage(path)
        access ??= accessOfReplaced(
          inputs.map((input) => input.path),
          options.disk ?? nodeDisk,
        )
        return archiveOutput(staged.slice(0, -part.length - 1), { ...options, ...access }).create(part)
      } catch (error) {
        // Users know only the final name of the file.
        if (error instanceof Error) error.message = error.message.replaceAll(/\.pcp-ts\.[0-9a-f-]+\/?/g, '')
        throw error
      }
    },
    remove: (part) => transaction.unstage(`${base}.${part}`),
    commit: () => transaction.commit(),
    abandon: () => transaction.abandon(),
  }
}
