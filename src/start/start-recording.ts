/** Recording the collector of `npm start`: where, from what configuration, and who is told. docs/start.md */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import { connect } from '../pmapi/connect.ts'
import type { LoggerLog } from '../pmlogger/settings.ts'
import { archiveAccess } from '../sys/archive-access.ts'
import type { Variables } from '../sys/config.ts'
import { type Log, openLog } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import type { StartOptions } from './options.ts'
import type { CollectorAddress } from './parts.ts'
import type { Place } from './place.ts'
import { PrimaryLogger } from './primary-logger.ts'
import { Recording } from './recording.ts'
import { tidyArchives } from './retention.ts'

/** What is recorded, and where. */
export interface RecordingSetup {
  readonly collector: CollectorAddress
  readonly place: Place
  readonly options: StartOptions
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** Where our commands are: what we ship is beside them. */
  readonly binDir: string
  /** A line for the user. */
  readonly say: (line: string) => void
}

/** A recording that goes on. */
export interface RunningRecording {
  /** Directory of this host's archives. */
  readonly dir: string
  /** Path of the first archive; undefined when it could not be begun, which the user was told. */
  readonly archive: string | undefined
  /** Ends the archive in order; idempotent. */
  close(): Promise<void>
}

const DAY_MS = 86_400_000
const CONFIG = join('pmlogger', 'config.default')

/** Begins to record. What goes wrong is told and tried again: a collector without archives is still a collector. */
export async function startRecording(setup: RecordingSetup): Promise<RunningRecording> {
  const { place, options, variables, say } = setup
  const dir = join(place.archiveDir, hostname())
  const log = openLoggerLog(place.loggerLogPath, variables)
  const logger = new PrimaryLogger({
    dir,
    configPath: () => configPath(setup),
    variables,
    localOnly: options.listen === undefined,
    open: (signal) => connect(hostOf(setup), { env: variables, signal }),
    log: tellingLog(log, say),
  })
  const policy = {
    compressAfterMs: DAY_MS,
    keepMs: options.keepDays * DAY_MS,
    keepBytes: options.keepBytes,
  }
  const recording = new Recording({
    begin: (signal) => logger.begin(signal),
    tidy: (inUse, signal) => tidyArchives(dir, policy, { nowMs: Date.now(), inUse, signal }),
    // Days follow the clock on the wall, also where it is set.
    clock: { now: Date.now, sleep: SYSTEM_CLOCK.sleep },
    say,
    note: (line) => log.notice('info', line),
  })
  const name = await recording.start()
  return {
    dir,
    archive: name === undefined ? undefined : join(dir, name),
    close: async () => {
      await recording.close()
      await logger.close()
      log.close()
    },
  }
}

/** The user's own configuration where there is one, else ours. */
function configPath({ place, binDir }: RecordingSetup): string {
  const own = join(place.variables['PCP_SYSCONF_DIR']!, CONFIG)
  return existsSync(own) ? own : join(binDir, '..', 'share', CONFIG)
}

/** How this process reaches its own collector. */
function hostOf({ collector, options, place }: RecordingSetup): string {
  if (collector.hasSocket) return `unix:${place.socketPath}`
  const [address = 'all'] = options.listen ?? []
  const host = address === 'all' ? 'localhost' : address
  return `${host.includes(':') ? `[${host}]` : host}:${collector.port}`
}

/** A log that cannot be made is no reason not to record. */
function openLoggerLog(path: string, variables: Variables): Log {
  try {
    makeDir(dirname(path))
    const access = archiveAccess(dirname(path), variables)
    return openLog(path, { progname: 'pmlogger', host: hostname(), access })
  } catch {
    return { fd: -1, notice: () => {}, line: () => {}, close: () => {} } // errors are said all the same
  }
}

/** What is lost is the user's business at once; the rest waits in the log. */
function tellingLog(log: Log, say: (line: string) => void): LoggerLog {
  return {
    line: (text) => log.line(text),
    notice(level, text) {
      log.notice(level, text)
      if (level !== 'info') say(`recording: ${text.replace(/^pmlogger: /, '')}`)
    },
  }
}
