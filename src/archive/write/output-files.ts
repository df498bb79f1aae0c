/** Where the files of a new archive come to be; src/sys/archive-output.ts has those on disk. */
import type { ByteSink } from '../../base/byte-source.ts'

/** Makes the files of one archive. `part` is what follows the base name: `index`, `meta`, or the number of a volume. */
export interface OutputFiles {
  /** What messages call the archive: its base name. */
  readonly name: string
  /** Makes an empty file. EEXIST when there is one. */
  create(part: string): ByteSink
  /** Removes a file that `create` made; its sink is closed. */
  remove(part: string): void
  /** Resolves when the names of the files survive a power cut. */
  syncNames?(): Promise<void>
  /** Follows the last sink's `close`: waits for the names where content was waited for. */
  close?(): void
}
