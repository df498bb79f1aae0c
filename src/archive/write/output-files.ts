/** Output files of a new archive; src/sys/archive-output.ts implements them on disk. */
import type { ByteSink } from '../../base/byte-source.ts'

/** Creates the files of one archive. `part` is the suffix of the base name: `index`, `meta`, or the number of a volume. */
export interface OutputFiles {
  /** Name of the archive in messages: its base name. */
  readonly name: string
  /** Creates an empty file. EEXIST if it exists. */
  create(part: string): ByteSink
  /** Removes a file from `create`; its sink is closed. */
  remove(part: string): void
  /** Resolves when the names of the files survive a power cut. */
  syncNames?(): Promise<void>
  /** Called after the last sink is closed; makes the names durable if the contents are. */
  close?(): void
}
