/** One archive: its metadata file, temporal index and data volumes. docs/formats/archive.md §7 */
import type { ArchiveLabel } from './label.ts'
import type { TemporalIndex } from './temporal-index.ts'
import type { Volume } from './volume.ts'

/** One archive of those that a context may consist of. */
export interface Member {
  /** Path without `.meta` and so on. */
  readonly base: string
  /** Label of the lowest volume. */
  readonly label: ArchiveLabel
  /** Undefined without a temporal index. */
  readonly index: TemporalIndex | undefined
  /** Data volumes, lowest number first; opened when first read. */
  readonly volumes: readonly Volume[]
}
