/** The files of a new archive, which get their names together when all of them are complete. */
import { dirname } from 'node:path'
import type { ByteSink } from '../base/byte-source.ts'
import { type ArchiveAccess, accessOfReplaced } from '../sys/archive-access.ts'
import { type ArchiveOutput, type ArchiveOutputOptions, archiveOutput } from '../sys/archive-output.ts'
import { nodeDisk } from '../sys/disk.ts'
import type { FileMark } from '../sys/staging.ts'
import { Transaction, type TransactionOptions } from './transaction.ts'

/** An archive without a name yet. All sinks must be closed before it ends, with `commit` or `abandon`. */
export interface StagedOutput extends ArchiveOutput {
  /**
   * Gives the files their names and removes the inputs, in one step. Rejects as `Transaction.commit`: then nothing has changed and
   * nothing is left of the output.
   */
  commit(): Promise<void>
  /** Removes the files; does nothing after `commit`. */
  abandon(): void
}

/** How an output is made, and what it replaces: such an output keeps mode and owner. */
export interface StagedOutputOptions extends ArchiveOutputOptions, TransactionOptions {
  /** Files that go when the output is there, as they were before they were read. */
  readonly inputs?: readonly FileMark[]
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
        // The user knows the name that the file will have.
        if (error instanceof Error) error.message = error.message.replaceAll(/\.pcp-ts\.[0-9a-f-]+\/?/g, '')
        throw error
      }
    },
    remove: (part) => transaction.unstage(`${base}.${part}`),
    commit: () => transaction.commit(),
    abandon: () => transaction.abandon(),
  }
}
