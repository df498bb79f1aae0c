/** Settings of a pmlogger process from its checked command line. pmlogger(1) */
import type { SizeLimit, SpoolLimits } from './sizes.ts'

/** Settings of a process; paths are absolute unless marked "as given". */
export interface ProcessSettings {
  /** Configuration file as given; undefined for standard input. */
  readonly configName?: string
  /** Farm file: collectors to record instead of one archive. */
  readonly farmPath?: string
  /** Recorders with the same farm file share its hosts. */
  readonly share?: ShareSettings
  /** Only parses the configuration and looks up its metrics. */
  readonly checksOnly: boolean
  /** Archive as given, or the URL of a server; '' for a farm. */
  readonly archive: string
  /** Directory of the archive or of the spool, if given. */
  readonly directory?: string
  /** File with credentials for the server that archives are pushed to. */
  readonly credentialFile?: string
  readonly spoolLimits?: SpoolLimits
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

/** How recorders share the hosts of a farm. */
export interface ShareSettings {
  /** An absolute directory, or the URL of a key server. */
  readonly place: string
  /** Name of this recorder, the same after a restart. */
  readonly name: string
  /** Duration of the lease in milliseconds. */
  readonly leaseMs: number
}
