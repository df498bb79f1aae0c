/** What one logger is to do, and what it tells whoever runs it. */
import type { OutputFiles } from '../archive/write/output-files.ts'
import type { RecordBuffer } from '../archive/write/record-buffer.ts'
import type { Context } from '../pmapi/context.ts'
import type { LogLevel } from '../sys/log.ts'
import type { LogStatement } from './config.ts'
import type { RecorderCounts } from './counts.ts'
import type { LimitSettings, Spent } from './limits.ts'
import type { Pool } from './pool.ts'

/** Where a logger writes what people should know. */
export interface LoggerLog {
  line(text: string): void
  notice(level: LogLevel, text: string): void
}

/** One collector, one archive. */
export interface LoggerSettings extends LimitSettings {
  /** Connects; the logger closes the context. */
  readonly open: (signal: AbortSignal) => Promise<Context>
  /** How the collector was named, for messages. */
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
  /** Name of the logger's own host. */
  readonly ownHost: string
  /** Host in the label, instead of the collector's name. */
  readonly labelHost?: string
  /** Zone in the label, instead of the collector's. */
  readonly timezone?: { readonly timezone: string; readonly zoneinfo: string }
  readonly pid: number
  readonly isPrimary: boolean
  /** Goes on although there is nothing to log. */
  readonly lingers: boolean
  /** Ends when the collector's host gets another name: whoever started it has a place for each name. */
  readonly endsWithHostname?: boolean
  /** Says how much each task writes. */
  readonly reports: boolean
  /** The port of control connections, in the first and the last record. */
  readonly port: () => number
  readonly log: LoggerLog
  /** What loggers of a process share. */
  readonly pool: Pool
  readonly buffer?: RecordBuffer
  /** No fetch before this moment of performance.now(). */
  readonly notBefore?: number
  /** Most milliseconds that values wait before they survive a power cut; 0: until their volume ends. Default 10,000. */
  readonly syncMs?: number
  readonly counts?: RecorderCounts
  /** A clock that is never set, in milliseconds, which runs on while the machine sleeps. Default this machine's. */
  readonly elapsedMs?: () => number
}

/** How a logger ended. */
export interface LoggerEnd {
  /** Exit status. */
  readonly status: number
  /** Why: `Sample limit reached`. */
  readonly reason: string
  /** Recording shall continue in another archive, which has used so much of the limits. */
  readonly continues?: Spent
}
