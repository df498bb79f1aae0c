/** Settings of a pmlogger process from its checked command line. pmlogger(1) */
import type { SizeLimit } from './sizes.ts'

/** Settings of a process; paths are absolute unless marked "as given". */
export interface ProcessSettings {
  /** Configuration file as given; undefined for standard input. */
  readonly configName?: string
  /** Farm file: collectors to record instead of one archive. */
  readonly farmPath?: string
  /** Only parses the configuration and looks up its metrics. */
  readonly checksOnly: boolean
  /** Archive as given; '' for a farm. */
  readonly archive: string
  /** Directory of the archive, if given. */
  readonly directory?: string
  /** The collector as named in messages: `local:`, a host specification, `local context`. */
  readonly source: string
  readonly labelHost?: string
  readonly controlVersion: number
  /** As given; `-` is standard error. */
  readonly logName: string
  readonly lingers: boolean
  readonly note?: string
  readonly notifies: boolean
  /** The logger ends when this process ends. */
  readonly watchedPid?: number
  readonly isPrimary: boolean
  readonly reports: boolean
  readonly endLimit?: SizeLimit
  readonly volumeLimit?: SizeLimit
  /** -T: end time in milliseconds since the epoch. */
  readonly endAtMs?: number
  readonly defaultDeltaMs: number
  /** Longest time in milliseconds until values are synced to disk; 0: only at the end of a volume. */
  readonly syncMs: number
  readonly version: 2 | 3
  /** Account to switch to if started as root. */
  readonly username?: string
  /** Put this host's time zone in the label. */
  readonly usesOwnZone: boolean
  /** File descriptor for commands of the program that started this process (-x). */
  readonly controlFd?: number
}
