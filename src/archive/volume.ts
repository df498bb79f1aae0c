/** One data volume. docs/formats/archive.md §5 */
import type { ByteSource } from '../base/byte-source.ts'
import type { ArchiveLabel } from './label.ts'

/** A data volume, opened when first read. */
export interface Volume {
  readonly number: number
  /** With compression suffix, if it has one. */
  readonly path: string
  /** Its bytes and label, or undefined when it cannot be read or holds nothing but a label. */
  open(): { readonly source: ByteSource; readonly label: ArchiveLabel } | undefined
}
