/** The primary logger of `npm start`: runs in this process, and pmlc finds it like a separate pmlogger. docs/start/npm-start.md */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { RecordBuffer } from '../archive/write/record-buffer.ts'
import { PcpError } from '../model/errors.ts'
import type { Context } from '../pmapi/context.ts'
import { archiveName } from '../pmlogger/archive-name.ts'
import type { LoggerConfig } from '../pmlogger/config.ts'
import { openControl } from '../pmlogger/control-open.ts'
import type { ControlServer } from '../pmlogger/control-server.ts'
import { ownSocketPath, removeStaleControlSockets } from '../pmlogger/control-socket.ts'
import type { RecorderCounts } from '../pmlogger/counts.ts'
import type { Logger } from '../pmlogger/logger.ts'
import { InternPool } from '../pmlogger/pool.ts'
import { readLoggerConfig } from '../pmlogger/read-config.ts'
import { openRunFiles, type RunFiles, type RunPlaces } from '../pmlogger/run-files.ts'
import { PRIMARY_NAME, SelfMetrics } from '../pmlogger/self-metrics.ts'
import type { LoggerLog, LoggerSettings } from '../pmlogger/settings.ts'
import { syncMsOf } from '../pmlogger/sizes.ts'
import { startLogger } from '../pmlogger/start-logger.ts'
import { archiveAccess, makeArchiveDir } from '../sys/archive-access.ts'
import { archiveOutput } from '../sys/archive-output.ts'
import type { Variables } from '../sys/config.ts'
import { hostTimezone, hostZoneName } from '../sys/host-zone.ts'
import type { OpenArchive } from './recording.ts'

/** Options of `PrimaryLogger`. */
export interface PrimaryLoggerOptions {
  /** Directory of the archives. */
  readonly dir: string
  /** Returns the configuration file; called for each archive. */
  readonly configPath: () => string
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** Accept control connections from this host only. */
  readonly localOnly: boolean
  /** Connects to the collector. */
  readonly open: (signal: AbortSignal) => Promise<Context>
  readonly log: LoggerLog
}

/** Sorts by time and is known to PCP's scripts. */
const NAME = '%Y%m%d.%H.%M'
/** Interval of `default` in a configuration. */
const DEFAULT_DELTA_MS = 60_000

/** Records one archive after another. */
export class PrimaryLogger {
  readonly #options: PrimaryLoggerOptions
  readonly #pool = new InternPool()
  readonly #buffer = new RecordBuffer()
  readonly #metrics: SelfMetrics
  readonly #counts: RecorderCounts
  #files: RunFiles | undefined
  #control: ControlServer | undefined
  #logger: Logger | undefined

  constructor(options: PrimaryLoggerOptions) {
    this.#options = options
    this.#metrics = new SelfMetrics(PRIMARY_NAME, options.variables)
    this.#counts = this.#metrics.counts()
  }

  /** Starts an archive with the current configuration. EEXIST if another primary logger runs; PM_ERR_CONV, EACCES, ENOSPC... */
  async begin(signal: AbortSignal): Promise<OpenArchive> {
    const { dir, configPath, variables, log } = this.#options
    makeArchiveDir(dir, variables)
    const warn = (text: string): void => log.line(text.trimEnd())
    const config = readLoggerConfig(configPath(), { cwd: dir, variables, warn })
    await this.#register(config, warn)
    const name = archiveName(NAME, Date.now(), (base) => existsSync(join(dir, `${base}.index`)))
    this.#metrics.publish()
    const logger = await startLogger(this.#settings(config, name), signal)
    this.#logger = logger
    const { pmcdHost = '' } = logger.status(this.#zone())
    this.#files?.publish({ port: this.#control?.port ?? 0, pmcdHost, archive: join(dir, name) })
    return { name, ended: logger.ended, stop: (reason) => logger.stop(reason) }
  }

  /** Closes the control port; call after ending archives. */
  async close(): Promise<void> {
    this.#metrics.close()
    await this.#control?.close()
    this.#files?.close()
  }

  /** Registers as primary logger, unless there is one, and opens the control port; once. */
  async #register({ access }: LoggerConfig, warn: (text: string) => void): Promise<void> {
    if (this.#files !== undefined) return
    const { variables, localOnly } = this.#options
    const { pid } = process
    const mapDir = join(variables['PCP_TMP_DIR']!, 'pmlogger')
    await removeStaleControlSockets(variables)
    const socketPath = ownSocketPath(variables, pid, warn)
    const files = registerPrimary({ mapDir, socketPath, pid, isPrimary: true, warn })
    this.#control = await openControl(access, {
      socketPath,
      pid,
      version: 3,
      env: localOnly ? { ...variables, PMLOGGER_LOCAL: '1' } : variables,
      logger: () => this.#logger,
      zone: this.#zone(),
      log: warn,
    })
    this.#files = files
  }

  #zone(): { timezone: string; zoneinfo: string } {
    const { variables } = this.#options
    return { timezone: hostTimezone(variables, Date.now()), zoneinfo: hostZoneName(variables) }
  }

  #settings({ statements }: LoggerConfig, name: string): LoggerSettings {
    const { dir, open, log } = this.#options
    const path = join(dir, name)
    return {
      open,
      source: 'local:',
      statements,
      defaultDeltaMs: DEFAULT_DELTA_MS,
      files: archiveOutput(path, { ...archiveAccess(dir, this.#options.variables), sync: true }),
      syncMs: syncMsOf(this.#options.variables),
      counts: this.#counts,
      archiveName: name,
      archivePath: path,
      version: 3,
      ownHost: hostname(),
      pid: process.pid,
      isPrimary: true,
      lingers: true,
      reports: false,
      port: () => this.#control?.port ?? 0,
      log,
      pool: this.#pool,
      buffer: this.#buffer,
    }
  }
}

/** Registers as primary logger of this directory; fails if another `npm start` has done so. */
function registerPrimary(places: RunPlaces): RunFiles {
  try {
    return openRunFiles(places)
  } catch (error) {
    const { code } = PcpError.from(error)
    if (code !== 'EEXIST') throw error
    throw new PcpError(
      code,
      'another instance already records here: give this one another directory with --dir to record too',
      { cause: error },
    )
  }
}
