/** What the passes of a check share. */
import type { ArchiveFiles } from '../../base/byte-source.ts'
import type { ToolIo } from '../lib/tool.ts'

/** What the command line asks for. */
export interface CheckOptions {
  /** -l */
  readonly label: boolean
  /** -m: data is not looked at. */
  readonly metadataOnly: boolean
  readonly verbose: boolean
  /** -w: counters may decrease. */
  readonly noWraps: boolean
  /** -f: further passes in spite of damage. */
  readonly full: boolean
  /** -r and -R: cut damaged files behind their last good record. */
  readonly repair: 'ask' | 'auto' | undefined
}

/** A check under way. */
export interface Check {
  readonly io: ToolIo
  readonly files: ArchiveFiles
  readonly wanted: CheckOptions
  /** Writes a line to standard error. */
  readonly say: (text: string) => void
  /** Writes a line to standard error with -v. */
  readonly tell: (text: string) => void
}
