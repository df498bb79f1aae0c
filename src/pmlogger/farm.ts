/**
 * Records many collectors in one process: one logger each, with shared data kept once. docs/reference/pmlogger.md
 *
 * A collector that cannot be reached, or whose archive cannot be created, is retried without delaying the others.
 */
import { setMaxListeners } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { RecordBuffer } from '../archive/write/record-buffer.ts'
import { setLongTimeout } from '../base/after.ts'
import { decodeText } from '../base/text.ts'
import { traceTo } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { serviceAccount, switchToAccount } from '../net/access/account.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import type { Context } from '../pmapi/context.ts'
import { reconnectBackoff } from '../pmapi/lifecycle.ts'
import { archiveAccess, makeArchiveDir } from '../sys/archive-access.ts'
import { archiveOutput } from '../sys/archive-output.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { hostTimezone, hostZoneName } from '../sys/host-zone.ts'
import type { Log } from '../sys/log.ts'
import { notifyReady } from '../sys/service-files.ts'
import { archiveName, hasTime } from './archive-name.ts'
import type { LoggerConfig } from './config.ts'
import type { RecorderCounts } from './counts.ts'
import { type FarmEntry, parseFarm } from './farm-file.ts'
import type { LimitUsage } from './limits.ts'
import type { Logger } from './logger.ts'
import { InternPool } from './pool.ts'
import { openProcessLog } from './process-log.ts'
import type { ProcessSettings } from './process-settings.ts'
import { readLoggerConfig } from './read-config.ts'
import { SelfMetrics } from './self-metrics.ts'
import type { LoggerLog, LoggerSettings } from './settings.ts'
import { ProcessSignals } from './signals.ts'
import { startLogger } from './start-logger.ts'
import { watchProcess } from './watch-process.ts'

/** Environment of a farm. */
export interface FarmIo {
  readonly env: Variables
  readonly cwd: string
  /** Shuts the farm down. */
  readonly signal: AbortSignal
  readonly progname: string
  /** Connects to a collector by its host specification. */
  readonly open: (host: string, signal: AbortSignal) => Promise<Context>
}

/** Limit of simultaneous connection attempts. */
const STARTING = 16
/** Interval in milliseconds over which the first fetches of the collectors are spread. */
const SPREAD_MS = 10_000

/** Records every collector of a farm file until aborted, or until all have ended. Resolves to the exit status. */
export async function runFarm(path: string, settings: ProcessSettings, io: FarmIo): Promise<number> {
  const { username, endAtMs, watchedPid } = settings
  const log = openProcessLog(settings.logName, io.cwd, settings.checksOnly)
  const ends: (() => void)[] = []
  const signals = new ProcessSignals(io.signal)
  try {
    traceTo((line) => log.line(line))
    log.notice('info', 'Start')
    const entries = parseFarm(readFarm(path, io.cwd), path)
    const farm = new Farm(entries, settings, io, log)
    if (settings.checksOnly) return 0
    signals.listen({
      newVolume: () => farm.newVolumes(),
      newArchive: () => farm.newArchives(),
      end: (what) => farm.end(`${what}, exiting`),
    })
    const account =
      username === undefined ? undefined : serviceAccount(username, loadConfig(io.env).variables)
    if (account !== undefined) switchToAccount(account)
    if (endAtMs !== undefined)
      ends.push(setLongTimeout(endAtMs - Date.now(), () => farm.end('End of run time, exiting')))
    if (watchedPid !== undefined) ends.push(watchProcess(watchedPid, log, (reason) => farm.end(reason)))
    if (settings.notifies) await notifyReady(log)
    return await farm.run()
  } catch (error) {
    log.line(PcpError.from(error).message)
    return 1
  } finally {
    for (const end of ends) end()
    signals.close()
    log.close()
  }
}

function readFarm(path: string, cwd: string): string {
  try {
    return decodeText(readFileSync(resolve(cwd, path)))
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `pmlogger: Cannot open "${path}": ${text}`, { cause: error })
  }
}

class Farm {
  readonly #members: readonly Member[]
  readonly #ending = new AbortController()
  /** Covers all collectors. */
  readonly #metrics: SelfMetrics
  #free = STARTING
  readonly #waiting: (() => void)[] = []

  /** Reads each configuration once. Throws PM_ERR_CONV, ENOENT... */
  constructor(entries: readonly FarmEntry[], settings: ProcessSettings, io: FarmIo, log: Log) {
    const { variables } = loadConfig(io.env)
    const configs = new Map<string, LoggerConfig>()
    this.#metrics = new SelfMetrics('pmlogger_farm', variables)
    const warn = (text: string): void => log.line(text.trimEnd())
    const shared: Shared = {
      settings,
      io,
      variables,
      log,
      pool: new InternPool(),
      buffer: new RecordBuffer(),
      metrics: this.#metrics,
      configOf(name) {
        let config = configs.get(name)
        if (config === undefined) {
          config = readLoggerConfig(name, { cwd: io.cwd, variables, warn })
          configs.set(name, config)
        }
        return config
      },
    }
    const start = performance.now()
    const firstAt = (i: number): number => start + (i / entries.length) * SPREAD_MS
    this.#members = entries.map((entry, i) => new Member(entry, firstAt(i), shared))
    // Each member adds a listener.
    setMaxListeners(0, this.#ending.signal)
  }

  async run(): Promise<number> {
    const turn = <T>(work: () => Promise<T>): Promise<T> => this.#inTurn(work)
    this.#metrics.publish()
    try {
      const statuses = await Promise.all(this.#members.map((member) => member.run(turn, this.#ending.signal)))
      return Math.max(...statuses)
    } finally {
      this.#metrics.close()
    }
  }

  newVolumes(): void {
    for (const member of this.#members) void member.newVolume()
  }

  newArchives(): void {
    for (const member of this.#members) member.newArchive()
  }

  end(reason: string): void {
    this.#ending.abort()
    for (const member of this.#members) member.end(reason)
  }

  /** Runs work with limited concurrency. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free--
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

interface Shared {
  readonly settings: ProcessSettings
  readonly io: FarmIo
  readonly variables: Variables
  readonly log: Log
  readonly pool: InternPool
  readonly buffer: RecordBuffer
  readonly metrics: SelfMetrics
  readonly configOf: (name: string) => LoggerConfig
}

/** One collector of a farm. */
class Member {
  readonly #entry: FarmEntry
  readonly #shared: Shared
  readonly #config: LoggerConfig
  /** When its first fetch is due, by `performance.now()`. */
  readonly #firstAt: number
  readonly #log: LoggerLog
  readonly #backoff = reconnectBackoff()
  readonly #counts: RecorderCounts
  #logger: Logger | undefined
  #isAgain = false
  /** Share of the limits used by the archives that the next one continues. */
  #spent: LimitUsage | undefined

  constructor(entry: FarmEntry, firstAt: number, shared: Shared) {
    this.#entry = entry
    this.#firstAt = firstAt
    this.#shared = shared
    this.#config = shared.configOf(entry.config)
    this.#counts = shared.metrics.counts()
    const { log } = shared
    this.#log = {
      line: (text) => log.line(`${entry.host}: ${text.trim().replaceAll('\n', `\n${entry.host}: `)}`),
      notice: (level, text) => log.notice(level, `${entry.host}: ${text}`),
    }
  }

  /** Records until the collector's recording ends; `turn` limits simultaneous connection attempts. */
  async run(turn: <T>(work: () => Promise<T>) => Promise<T>, signal: AbortSignal): Promise<number> {
    for (;;) {
      const logger = await this.#begin(turn, signal)
      if (logger === undefined) return 0
      this.#logger = logger
      // A shutdown during start-up has not stopped this logger.
      if (signal.aborted) void logger.stop('Shutting down, exiting')
      const { status, continues } = await logger.ended
      this.#logger = undefined
      this.#spent = continues
      // Changed metrics end the archive. Recording continues if the next archive has another name.
      const goesOn =
        this.#isAgain || continues !== undefined || (status !== 0 && hasTime(this.#entry.archive))
      this.#isAgain = false
      if (!goesOn || signal.aborted) return status
    }
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

  end(reason: string): void {
    void this.#logger?.stop(reason)
  }

  /** Retries until a logger has started; undefined if aborted. Logs a failure only if it differs from the previous one. */
  async #begin(
    turn: <T>(work: () => Promise<T>) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Logger | undefined> {
    let told = ''
    while (!signal.aborted) {
      await pause(this.#backoff.remainingMs(performance.now()), signal)
      try {
        const logger = await turn(async () => {
          signal.throwIfAborted()
          return startLogger(this.#settings(), signal)
        })
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
    const { io, pool, buffer, settings, variables } = this.#shared
    const { host, archive, labelHost } = this.#entry
    const { endLimit = settings.endLimit, volumeLimit = settings.volumeLimit } = this.#entry
    const directory = settings.directory ?? io.cwd
    const exists = (base: string): boolean => existsSync(resolve(directory, `${base}.index`))
    const name = archiveName(archive, Date.now(), exists, this.#spent !== undefined)
    const path = resolve(directory, name)
    makeArchiveDir(dirname(path), variables)
    const zone = { timezone: hostTimezone(io.env, Date.now()), zoneinfo: hostZoneName(io.env) }
    return {
      open: (signal) => io.open(host, signal),
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
    }
  }
}

/** Waits for a time, or until the signal aborts; does not reject. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await SYSTEM_CLOCK.sleep(ms, signal).catch(() => undefined)
}
