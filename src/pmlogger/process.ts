/** The pmlogger process: log, signals, control port, and consecutive archives. docs/reference/pmlogger.md */

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { RecordBuffer } from '../archive/write/record-buffer.ts'
import { decodeText } from '../base/text.ts'
import { now, secondsBetween } from '../base/timestamp.ts'
import { traceTo } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { serviceAccount, switchToAccount } from '../net/access/account.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import type { Context } from '../pmapi/context.ts'
import { isPushUrl } from '../push/target.ts'
import { archiveAccess, makeArchiveDir } from '../sys/archive-access.ts'
import { archiveOutput } from '../sys/archive-output.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { hostTimezone, hostZoneName } from '../sys/host-zone.ts'
import type { Log } from '../sys/log.ts'
import { notifyReady } from '../sys/service-files.ts'
import { archiveName, hasTime } from './archive-name.ts'
import { bind, configuredRequests } from './bind.ts'
import type { LoggerConfig } from './config.ts'
import { controlAccess, openControl, type RuleLog } from './control-open.ts'
import type { ControlServer } from './control-server.ts'
import { ownSocketPath, removeStaleControlSockets } from './control-socket.ts'
import { NO_COUNTS, type RecorderCounts } from './counts.ts'
import type { LimitUsage } from './limits.ts'
import type { Logger } from './logger.ts'
import { InternPool } from './pool.ts'
import { openProcessLog } from './process-log.ts'
import type { ProcessSettings } from './process-settings.ts'
import { PushedRecording } from './push.ts'
import { configDir, parseConfigText, readLoggerConfig } from './read-config.ts'
import { handleRecordingCommands } from './record-control.ts'
import { type DialogKind, type RecordFacts, showDialog } from './record-dialog.ts'
import { isScripted, openRunFiles, type RunFiles, writeLatestFolio } from './run-files.ts'
import { PRIMARY_NAME, SelfMetrics, selfName } from './self-metrics.ts'
import type { LoggerSettings } from './settings.ts'
import { ProcessSignals } from './signals.ts'
import { startLogger } from './start-logger.ts'
import { watchProcess } from './watch-process.ts'

/** Environment of a process. */
export interface ProcessIo {
  readonly env: Variables
  readonly cwd: string
  readonly stdin: AsyncIterable<Uint8Array>
  /** Shuts the process down. */
  readonly signal: AbortSignal
  readonly progname: string
  /** Connects to the collector. */
  readonly open: (signal: AbortSignal) => Promise<Context>
}

/** Milliseconds between attempts to continue in a new archive. */
const RETRY_MS = 10_000
/** Names of archives in a spool. */
const SPOOLED_NAME = '%Y%m%d.%H.%M'

/** Records one collector until the recording ends. Resolves to the exit status. */
export async function runLogger(settings: ProcessSettings, io: ProcessIo): Promise<number> {
  const log = openProcessLog(settings.logName, io.cwd, settings.checksOnly)
  const signals = new ProcessSignals(io.signal)
  const recording = new Recording(settings, io, log)
  try {
    traceTo((line) => log.line(line))
    log.notice('info', 'Start')
    return settings.checksOnly ? await recording.check() : await recording.run(signals)
  } catch (error) {
    log.line(failureText(error, io.progname))
    return 1
  } finally {
    await recording.close()
    signals.close()
    log.close()
  }
}

/** Formats an error. PCP's own failure texts have no program name in front. */
export function failureText(error: unknown, progname: string): string {
  const { code, message, reason } = PcpError.from(error)
  const isWhole = code === 'PM_ERR_NODATA' || code === 'PM_ERR_CONV' || reason === 'verbatim'
  return isWhole ? message : `${progname}: ${message}`
}

/** One process: a logger, and its successor after SIGUSR2. */
class Recording {
  #settings: ProcessSettings
  readonly #io: ProcessIo
  readonly #log: Log
  readonly #variables: Variables
  readonly #pool = new InternPool()
  readonly #buffer = new RecordBuffer()
  #logger: Logger | undefined
  #control: ControlServer | undefined
  #files: RunFiles | undefined
  #stopWatch: () => void = () => {}
  #stopObeying: () => void = () => {}
  /** Limits used by the archives that the current one continues. */
  #spent: LimitUsage | undefined
  #metrics: SelfMetrics | undefined
  #push: PushedRecording | undefined
  #counts: RecorderCounts = NO_COUNTS
  readonly #dialog = new AbortController()
  /** Standard input can be read only once. */
  #stdinText: string | undefined

  constructor(settings: ProcessSettings, io: ProcessIo, log: Log) {
    this.#settings = settings
    this.#io = io
    this.#log = log
    this.#variables = loadConfig(io.env).variables
  }

  /** Reports errors in the configuration and unknown names in it. */
  async check(): Promise<number> {
    const context = await this.#io.open(this.#io.signal)
    try {
      const { statements, access } = await this.#readConfig()
      await controlAccess(access, this.#ruleLog())
      const { defaultDeltaMs } = this.#settings
      const warn = (text: string): void => this.#log.line(text)
      await bind(context, configuredRequests(statements), {
        metrics: new Map(),
        pool: this.#pool,
        defaultDeltaMs,
        warn,
      })
      this.#log.line('Config parsed')
      return 0
    } finally {
      await context.close()
    }
  }

  async run(signals: ProcessSignals): Promise<number> {
    const { username, isPrimary, notifies } = this.#settings
    const account = username === undefined ? undefined : serviceAccount(username, this.#variables)
    if (account !== undefined) switchToAccount(account)
    if (isPushUrl(this.#settings.archive)) await this.#openPush()
    const { pid } = process
    const mapDir = join(this.#variables['PCP_TMP_DIR']!, 'pmlogger')
    const warn = (text: string): void => this.#log.line(text)
    await removeStaleControlSockets(this.#variables)
    const socketPath = ownSocketPath(this.#variables, pid, warn)
    this.#files = openRunFiles({ mapDir, socketPath, pid, isPrimary, warn })
    let config = await this.#readConfig()
    this.#metrics = new SelfMetrics(this.#metricsName(), this.#variables)
    this.#counts = this.#metrics.counts()
    this.#control = await openControl(config.access, {
      socketPath,
      pid,
      version: this.#settings.controlVersion,
      logger: () => this.#logger,
      zone: ownZone(this.#io.env),
      ...this.#ruleLog(),
    })
    const ending = new AbortController()
    for (let isFirst = true; ; isFirst = false) {
      let isAgain = false
      const logger = isFirst ? await this.#start(config, true) : await this.#startNext(config, ending.signal)
      if (logger === undefined) return 0
      signals.listen({
        newVolume: () => void this.#newVolume(logger),
        newArchive: () => {
          isAgain ||= this.#mayBeginAgain()
          if (isAgain) void logger.stop('Caught signal 12, reexec')
        },
        end: (what) => {
          ending.abort()
          void logger.stop(`${what}, exiting`)
        },
      })
      // The signal may have arrived while the next archive was being started.
      if (ending.signal.aborted) void logger.stop('Shutting down, exiting')
      if (isFirst && notifies) await notifyReady(this.#log)
      if (isFirst) this.#obey()
      const { status, continues } = await logger.ended
      if (ending.signal.aborted || (!isAgain && continues === undefined)) return status
      this.#spent = continues
      this.#log.notice('info', 'Start')
      if (isAgain) config = await this.#readConfig()
    }
  }

  async close(): Promise<void> {
    this.#stopWatch()
    this.#stopObeying()
    this.#metrics?.close()
    await this.#control?.close()
    this.#files?.close()
    await this.#push?.close()
  }

  /** Records into a spool, which is pushed. */
  async #openPush(): Promise<void> {
    this.#push = await PushedRecording.open(this.#settings, this.#variables, this.#log)
    const { server, directory } = this.#push
    this.#log.line(`Records are pushed to ${server} from ${directory}`)
    this.#settings = { ...this.#settings, archive: SPOOLED_NAME, directory }
  }

  #ruleLog(): RuleLog {
    return {
      env: this.#variables,
      log: (text) => this.#log.line(text),
      complain: (text) => this.#log.notice('error', text),
    }
  }

  #obey(): void {
    const { controlFd } = this.#settings
    if (controlFd === undefined) return
    const stop = handleRecordingCommands(controlFd, {
      quit: () => void this.#logger?.stop('Recording session terminated, exiting'),
      showDialog: (kind, facts) => this.#tell(kind, facts),
      log: (text) => this.#log.line(text),
    })
    this.#stopObeying = () => {
      stop()
      this.#dialog.abort()
    }
  }

  /** Shows the user a dialog about the recording; resolves to whether to end it, false if it has already ended. */
  async #tell(kind: DialogKind, facts: RecordFacts): Promise<boolean> {
    const status = this.#logger?.status(ownZone(this.#io.env))
    if (status === undefined) return false
    const { pmcdHost = '', start } = status
    const progress = {
      pmcdHost,
      seconds: secondsBetween(start, now()),
      bytes: this.#logger!.dataBytes,
      pid: process.pid,
    }
    return showDialog(kind, facts, progress, {
      program: this.#io.env['PCP_XCONFIRM_PROG'],
      logFd: this.#log.fd,
      signal: this.#dialog.signal,
    })
  }

  /** Begins a volume. After a failure the old volume stays in use. */
  async #newVolume(logger: Logger): Promise<void> {
    try {
      await logger.switchVolume('SIGHUP')
    } catch (error) {
      this.#log.notice('error', `No new log volume: ${PcpError.from(error).message}`)
    }
  }

  #mayBeginAgain(): boolean {
    if (hasTime(this.#settings.archive)) return true
    this.#log.notice(
      'warning',
      'SIGUSR2 is ignored: a new archive needs a name with the time in it, such as %Y%m%d',
    )
    return false
  }

  /** Starts the next archive like `#start`, retrying if it continues a previous one; undefined if aborted. */
  async #startNext(config: LoggerConfig, signal: AbortSignal): Promise<Logger | undefined> {
    if (this.#spent === undefined) return this.#start(config, false)
    let told = ''
    while (!signal.aborted) {
      try {
        return await this.#start(config, false)
      } catch (error) {
        const { message } = PcpError.from(error)
        if (message !== told) this.#log.notice('error', `Cannot continue, trying again: ${message}`)
        told = message
        await SYSTEM_CLOCK.sleep(RETRY_MS, signal).catch(() => undefined)
      }
    }
    return undefined
  }

  async #start(config: LoggerConfig, isFirst: boolean): Promise<Logger> {
    const { archive, note, watchedPid } = this.#settings
    const directory = this.#settings.directory ?? this.#io.cwd
    const exists = (base: string): boolean => existsSync(resolve(directory, `${base}.index`))
    const name = archiveName(archive, Date.now(), exists, this.#spent !== undefined)
    const path = resolve(directory, name)
    if (this.#settings.directory !== undefined) makeArchiveDir(dirname(path), this.#variables)
    this.#metrics?.publish()
    const settings = this.#loggerSettings(config, name, path)
    const logger = await startLogger(settings, this.#io.signal)
    this.#logger = logger
    await this.#push?.begun(path, logger)
    const { pmcdFqdn = '', pmcdHost = '' } = logger.status(ownZone(this.#io.env))
    this.#files!.publish({
      port: this.#control!.port,
      pmcdHost: pmcdHost || pmcdFqdn,
      archive: this.#push?.server ?? path,
      ...(note === undefined ? {} : { note: isFirst ? note : 'reexec' }),
    })
    if (isScripted(note) || (!isFirst && note !== undefined)) this.#writeFolio(pmcdHost, path)
    this.#stopWatch()
    if (watchedPid !== undefined)
      this.#stopWatch = watchProcess(watchedPid, this.#log, (reason) => void logger.stop(reason))
    return logger
  }

  #loggerSettings(config: LoggerConfig, name: string, path: string): LoggerSettings {
    const { endAtMs, version, usesOwnZone, isPrimary, lingers, reports, source } = this.#settings
    const { labelHost, endLimit, volumeLimit, defaultDeltaMs } = this.#settings
    return {
      open: this.#io.open,
      source,
      statements: config.statements,
      defaultDeltaMs,
      files: archiveOutput(path, { ...archiveAccess(dirname(path), this.#variables), sync: true }),
      syncMs: this.#settings.syncMs,
      counts: this.#counts,
      ...(this.#spent === undefined ? {} : { spent: this.#spent }),
      archiveName: name,
      archivePath: path,
      version,
      ownHost: hostname(),
      ...(labelHost === undefined ? {} : { labelHost }),
      ...(usesOwnZone ? { timezone: ownZone(this.#io.env) } : {}),
      ...(endLimit === undefined ? {} : { endLimit }),
      ...(endAtMs === undefined ? {} : { endAfterMs: endAtMs - Date.now() }),
      ...(volumeLimit === undefined ? {} : { volumeLimit }),
      pid: process.pid,
      isPrimary,
      lingers,
      endsWithHostname: isScripted(this.#settings.note),
      reports,
      port: () => this.#control?.port ?? 0,
      log: this.#log,
      pool: this.#pool,
      buffer: this.#buffer,
    }
  }

  #metricsName(): string {
    const { isPrimary, source } = this.#settings
    return isPrimary ? PRIMARY_NAME : selfName(source === 'local:' ? hostname() : source)
  }

  async #readConfig(): Promise<LoggerConfig> {
    const { configName } = this.#settings
    const places = {
      cwd: this.#io.cwd,
      variables: this.#variables,
      warn: (text: string) => this.#log.line(text.trimEnd()),
    }
    if (configName !== undefined) {
      const pmcpp = join(this.#variables['PCP_BINADM_DIR'] ?? '', 'pmcpp')
      this.#log.line(`preprocessor cmd: ${pmcpp} -rs -I ${configDir(this.#variables)} ${configName}`)
      return readLoggerConfig(configName, places)
    }
    this.#stdinText ??= await textOf(this.#io.stdin)
    return parseConfigText(this.#stdinText, '<stdin>', places)
  }

  #writeFolio(host: string, path: string): void {
    try {
      writeLatestFolio(this.#io.cwd, host, basename(path))
    } catch (error) {
      const why = PcpError.from(error).text
      this.#log.line(`Warning: failed to create "Latest" archive folio for host ${host}: ${why}`)
    }
  }
}

function ownZone(env: Variables): { timezone: string; zoneinfo: string } {
  return { timezone: hostTimezone(env, Date.now()), zoneinfo: hostZoneName(env) }
}

async function textOf(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stdin) chunks.push(chunk)
  return decodeText(Buffer.concat(chunks))
}
