/**
 * One collector of a farm: its connection, archives and back-off. docs/reference/pmlogger.md
 *
 * A collector that cannot be reached, or whose archive cannot be created, is retried without delaying the others.
 */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { RecordBuffer } from '../archive/write/record-buffer.ts'
import type { Semaphore } from '../base/semaphore.ts'
import { PcpError } from '../model/errors.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import type { Context } from '../pmapi/context.ts'
import { reconnectBackoff } from '../pmapi/lifecycle.ts'
import { archiveAccess, makeArchiveDir } from '../sys/archive-access.ts'
import { archiveOutput } from '../sys/archive-output.ts'
import type { Variables } from '../sys/config.ts'
import { hostTimezone, hostZoneName } from '../sys/host-zone.ts'
import type { Log } from '../sys/log.ts'
import { archiveName, hasTime } from './archive-name.ts'
import type { LoggerConfig } from './config.ts'
import type { RecorderCounts } from './counts.ts'
import type { FarmEntry } from './farm-file.ts'
import type { LimitUsage } from './limits.ts'
import type { Logger } from './logger.ts'
import type { InternPool } from './pool.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { SelfMetrics } from './self-metrics.ts'
import type { LoggerLog, LoggerSettings } from './settings.ts'
import { startLogger } from './start-logger.ts'

/** What the members of a farm share. */
export interface FarmShared {
  readonly settings: ProcessSettings
  readonly cwd: string
  readonly env: Variables
  /** Connects to a collector by its host specification. */
  readonly open: (host: string, signal: AbortSignal) => Promise<Context>
  readonly variables: Variables
  readonly log: Log
  readonly pool: InternPool
  readonly buffer: RecordBuffer
  readonly metrics: SelfMetrics
  readonly starts: Semaphore
  /** Whether a host, by its key, may be recorded now; default always. */
  readonly mayRecord?: (key: string) => boolean
  readonly configOf: (name: string) => LoggerConfig
}

/** How a member starts. */
export interface MemberStart {
  /** When its first fetch is due, by `performance.now()`. */
  readonly firstAt: number
  /** The host may have been recorded before. */
  readonly isAgain: boolean
}

/** One collector of a farm. */
export class FarmMember {
  readonly #entry: FarmEntry
  readonly #shared: FarmShared
  readonly #config: LoggerConfig
  readonly #firstAt: number
  readonly #log: LoggerLog
  readonly #backoff = reconnectBackoff()
  readonly #counts: RecorderCounts
  /** An archive of a name that is taken gets a number. */
  readonly #numbers: boolean
  #logger: Logger | undefined
  #isAgain = false
  readonly #end = new AbortController()
  #ended: Promise<void> = Promise.resolve()
  #reason = ''
  #isDone = false
  #status = 0
  /** Share of the limits used by the archives that the next one continues. */
  #spent: LimitUsage | undefined

  constructor(entry: FarmEntry, { firstAt, isAgain }: MemberStart, shared: FarmShared) {
    this.#entry = entry
    this.#firstAt = firstAt
    this.#numbers = isAgain
    this.#shared = shared
    this.#config = shared.configOf(entry.config)
    this.#counts = shared.metrics.counts()
    const { log } = shared
    this.#log = {
      line: (text) => log.line(`${entry.host}: ${text.trim().replaceAll('\n', `\n${entry.host}: `)}`),
      notice: (level, text) => log.notice(level, `${entry.host}: ${text}`),
    }
  }

  /** Whether its recording has ended by itself. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Exit status of a recording that ended by itself. */
  get status(): number {
    return this.#status
  }

  /** Starts recording; resolves, as `ended`, when the recording has ended or was ended. */
  run(): Promise<void> {
    this.#ended = this.#record()
    return this.#ended
  }

  get ended(): Promise<void> {
    return this.#ended
  }

  async #record(): Promise<void> {
    const { signal } = this.#end
    for (;;) {
      const logger = await this.#begin(signal)
      if (logger === undefined) break
      this.#logger = logger
      // An end during start-up has not stopped this logger.
      if (signal.aborted) void logger.stop(this.#reason)
      const { status, continues } = await logger.ended
      this.#logger = undefined
      this.#spent = continues
      // Changed metrics end the archive. Recording continues if the next archive has another name.
      const { archive, isFound = false } = this.#entry
      const goesOn =
        this.#isAgain || continues !== undefined || (status !== 0 && (hasTime(archive) || isFound))
      this.#isAgain = false
      this.#status = status
      if (!goesOn || signal.aborted) break
    }
    this.#isDone = true
  }

  /** Ends the recording. Without a request to the collector, whose time would be after the end, if `isLate`. */
  end(reason: string, isLate = false): void {
    this.#reason = reason
    this.#end.abort()
    void (isLate ? this.#logger?.abandon(reason) : this.#logger?.stop(reason))
  }

  async newVolume(): Promise<void> {
    try {
      await this.#logger?.switchVolume('SIGHUP')
    } catch (error) {
      this.#log.notice('error', `No new log volume: ${PcpError.from(error).message}`)
    }
  }

  newArchive(): void {
    if (!hasTime(this.#entry.archive) || this.#logger === undefined) return
    this.#isAgain = true
    void this.#logger.stop('Caught signal 12, reexec')
  }

  /** Retries until a logger has started; undefined if aborted. Logs a failure only if it differs from the previous one. */
  async #begin(signal: AbortSignal): Promise<Logger | undefined> {
    let told = ''
    while (!signal.aborted) {
      await pause(this.#backoff.remainingMs(performance.now()), signal)
      try {
        const logger = await this.#shared.starts.run(() => startLogger(this.#settings(), signal), signal)
        this.#backoff.succeeded(performance.now())
        return logger
      } catch (error) {
        this.#backoff.failed(performance.now())
        const { message } = PcpError.from(error)
        if (message !== told && !signal.aborted) this.#log.notice('error', message)
        told = message
      }
    }
    return undefined
  }

  #settings(): LoggerSettings {
    const { cwd, env, open, pool, buffer, settings, variables, mayRecord } = this.#shared
    const { host, key, archive, labelHost } = this.#entry
    const { endLimit = settings.endLimit, volumeLimit = settings.volumeLimit } = this.#entry
    const directory = settings.directory ?? cwd
    const exists = (base: string): boolean => existsSync(resolve(directory, `${base}.index`))
    const name = archiveName(archive, Date.now(), exists, this.#numbers || this.#spent !== undefined)
    const path = resolve(directory, name)
    makeArchiveDir(dirname(path), variables)
    const zone = { timezone: hostTimezone(env, Date.now()), zoneinfo: hostZoneName(env) }
    return {
      open: (signal) => open(host, signal),
      source: host,
      statements: this.#config.statements,
      defaultDeltaMs: this.#entry.defaultDeltaMs ?? settings.defaultDeltaMs,
      files: archiveOutput(path, { ...archiveAccess(dirname(path), variables), sync: true }),
      syncMs: settings.syncMs,
      counts: this.#counts,
      ...(this.#spent === undefined ? {} : { spent: this.#spent }),
      archiveName: name,
      archivePath: path,
      version: this.#entry.version ?? settings.version,
      ownHost: hostname(),
      ...(labelHost === undefined ? {} : { labelHost }),
      ...(settings.usesOwnZone ? { timezone: zone } : {}),
      ...(endLimit === undefined ? {} : { endLimit }),
      ...(volumeLimit === undefined ? {} : { volumeLimit }),
      pid: process.pid,
      isPrimary: false,
      lingers: settings.lingers,
      reports: settings.reports,
      port: () => 0,
      log: this.#log,
      pool,
      buffer,
      notBefore: this.#firstAt,
      ...(mayRecord === undefined ? {} : { mayRecord: () => mayRecord(key) }),
    }
  }
}

/** Waits for a time, or until the signal aborts; does not reject. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await SYSTEM_CLOCK.sleep(ms, signal).catch(() => undefined)
}
