/** What a pmlogger process is to do: its command line, checked. pmlogger(1) */
import type { SizeLimit } from './sizes.ts'

/** Settings of a process; paths are absolute unless they are said to be as given. */
export interface ProcessSettings {
  /** Configuration file as given; undefined is standard input. */
  readonly configName?: string
  /** Collectors to record, a line each, in place of one archive. */
  readonly farmPath?: string
  /** Only reads the configuration and looks up its metrics. */
  readonly checksOnly: boolean
  /** Archive as given; '' with a farm. */
  readonly archive: string
  /** Directory of the archive, when one is given. */
  readonly directory?: string
  /** The collector for messages: `local:`, a host specification, `local context`. */
  readonly source: string
  readonly labelHost?: string
  readonly controlVersion: number
  /** As given; `-` is standard error. */
  readonly logName: string
  readonly lingers: boolean
  readonly note?: string
  readonly notifies: boolean
  /** Ends with this process. */
  readonly watchedPid?: number
  readonly isPrimary: boolean
  readonly reports: boolean
  readonly endLimit?: SizeLimit
  readonly volumeLimit?: SizeLimit
  /** -T: an end in milliseconds since the epoch. */
  readonly endAtMs?: number
  readonly defaultDeltaMs: number
  /** Most milliseconds that values wait before they survive a power cut; 0: until their volume ends. */
  readonly syncMs: number
  readonly version: 2 | 3
  /** Account of a process that root starts. */
  readonly username?: string
  /** The label has this host's zone. */
  readonly usesOwnZone: boolean
  /** Descriptor on which whoever started this process gives orders. */
  readonly controlFd?: number
}
