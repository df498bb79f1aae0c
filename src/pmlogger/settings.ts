/** Settings of one logger, and the log it reports to. */
import type { OutputFiles } from '../archive/write/output-files.ts'
import type { RecordBuffer } from '../archive/write/record-buffer.ts'
import type { WriterOptions } from '../archive/write/writer.ts'
import type { Pmid } from '../model/ids.ts'
import type { Context } from '../pmapi/context.ts'
import type { LogLevel } from '../sys/log.ts'
import type { ConfiguredRequest } from './bind.ts'
import type { CollectorFacts } from './collector-facts.ts'
import type { LogStatement } from './config.ts'
import type { RecorderCounts } from './counts.ts'
import type { LimitSettings, LimitUsage } from './limits.ts'
import type { LoggedMetric } from './logged-metric.ts'
import type { InternPool } from './pool.ts'

/** A logger's log. */
export interface LoggerLog {
  line(text: string): void
  notice(level: LogLevel, text: string): void
}

/** Settings of the logger of one collector and archive. */
export interface LoggerSettings extends LimitSettings {
  /** Connects; the logger closes the context. */
  readonly open: (signal: AbortSignal) => Promise<Context>
  /** The collector as named in messages. */
  readonly source: string
  readonly statements: readonly LogStatement[]
  /** Interval of `default`. */
  readonly defaultDeltaMs: number
  readonly files: OutputFiles
  /** As given, for messages. */
  readonly archiveName: string
  /** Absolute, without suffix. */
  readonly archivePath: string
  readonly version: 2 | 3
  /** Name of the logger's host. */
  readonly ownHost: string
  /** Host in the label; default the collector's name. */
  readonly labelHost?: string
  /** Time zone in the label; default the collector's. */
  readonly timezone?: { readonly timezone: string; readonly zoneinfo: string }
  readonly pid: number
  readonly isPrimary: boolean
  /** Keeps running even with nothing to log. */
  readonly lingers: boolean
  /** Ends when the collector's host name changes, because archives are kept in a directory per name. */
  readonly endsWithHostname?: boolean
  /** Reports how much each task writes. */
  readonly reports: boolean
  /** Port of control connections, for the first and last record. */
  readonly port: () => number
  readonly log: LoggerLog
  /** Shared by the loggers of a process. */
  readonly pool: InternPool
  readonly buffer?: RecordBuffer
  /** Earliest fetch, by performance.now(). */
  readonly notBefore?: number
  /** Longest time in milliseconds until values are synced to disk; 0: only at the end of a volume. Default 10,000. */
  readonly syncMs?: number
  readonly counts?: RecorderCounts
  /** Whether values may be recorded now: another recorder may have taken the collector over. Default: always. */
  readonly mayRecord?: () => boolean
  /** Monotonic clock in milliseconds that includes time asleep. Default: this machine's. */
  readonly monotonicMs?: () => number
}

/** How a logger ended. */
export interface LoggerEnd {
  /** Exit status. */
  readonly status: number
  /** Why: `Sample limit reached`. */
  readonly reason: string
  /** Limits used so far, if recording shall continue in another archive. */
  readonly continues?: LimitUsage
  /** Ended without a request to the collector. */
  readonly isAbandoned?: true
}

/** Parts of a logger that depend on the collector. */
export interface LoggerParts {
  readonly context: Context
  readonly facts: CollectorFacts
  readonly metrics: Map<Pmid, LoggedMetric>
  readonly roots: ConfiguredRequest[]
  /** Host and time zone in the archive's label. */
  readonly label: Pick<WriterOptions, 'hostname' | 'timezone' | 'zoneinfo'>
}
