/** Sets up the recording of the collector of `npm start`. docs/start/npm-start.md */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import { connect } from '../pmapi/connect.ts'
import type { LoggerLog } from '../pmlogger/settings.ts'
import { archiveAccess } from '../sys/archive-access.ts'
import type { Variables } from '../sys/config.ts'
import type { Log } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { ownCollectorSpec } from './collector-spec.ts'
import { hostArchiveDir, type StartDirectories } from './directories.ts'
import { openPartLog } from './part-log.ts'
import type { CollectorAddress } from './parts.ts'
import { PrimaryLogger } from './primary-logger.ts'
import { Recording } from './recording.ts'
import { tidyWithRollups } from './rollups.ts'
import type { StartOptions } from './settings.ts'

/** Options of `startRecording`. */
export interface RecordingSetup {
  readonly collector: CollectorAddress
  readonly place: StartDirectories
  readonly options: StartOptions
  /** Environment and pcp.conf variables. */
  readonly variables: Variables
  /** Directory of our commands; data files are beside it. */
  readonly binDir: string
  /** Prints a line for the user. */
  readonly say: (line: string) => void
}

/** A running recording. */
export interface RunningRecording {
  /** Directory of this host's archives. */
  readonly dir: string
  /** Path of the first archive; undefined if it could not be created, which was printed. */
  readonly archive: string | undefined
  /** Ends the archive in order; idempotent. */
  close(): Promise<void>
}

const DAY_MS = 86_400_000
const CONFIG = join('pmlogger', 'config.default')

/** Starts recording. Failures are printed and retried: a collector without archives is still useful. */
export async function startRecording(setup: RecordingSetup): Promise<RunningRecording> {
  const { place, options, variables, say } = setup
  const dir = hostArchiveDir(place)
  const log = openLoggerLog(place.loggerLogPath, variables, options)
  const logger = new PrimaryLogger({
    dir,
    configPath: () => configPath(setup),
    variables,
    localOnly: options.listen === undefined,
    open: (signal) => connect(ownCollectorSpec(setup), { env: variables, signal }),
    log: printingLog(log, say),
  })
  const policy = {
    compressAfterMs: DAY_MS,
    keepMs: options.keepDays * DAY_MS,
    keepBytes: options.keepBytes,
  }
  const recording = new Recording({
    begin: (signal) => logger.begin(signal),
    tidy: (inUse, signal) => tidyWithRollups(dir, policy, { nowMs: Date.now(), inUse, signal }),
    // Days follow the system clock, even when it is set.
    clock: { now: Date.now, sleep: SYSTEM_CLOCK.sleep },
    print: say,
    log: (line) => log.notice('info', line),
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

/** Returns the user's own configuration if it exists, else ours. */
function configPath({ place, binDir }: RecordingSetup): string {
  const own = join(place.variables['PCP_SYSCONF_DIR']!, CONFIG)
  return existsSync(own) ? own : join(binDir, '..', 'share', CONFIG)
}

/** Opens the log; recording continues without one. */
function openLoggerLog(path: string, variables: Variables, options: StartOptions): Log {
  try {
    makeDir(dirname(path))
    const access = archiveAccess(dirname(path), variables)
    return openPartLog(path, { progname: 'pmlogger', host: hostname(), access }, options)
  } catch {
    return { fd: -1, notice: () => {}, line: () => {}, close: () => {} } // errors are still printed
  }
}

/** Returns a log that also prints losses for the user. */
function printingLog(log: Log, say: (line: string) => void): LoggerLog {
  return {
    line: (text) => log.line(text),
    notice(level, text) {
      log.notice(level, text)
      if (level !== 'info') say(`recording: ${text.replace(/^pmlogger: /, '')}`)
    },
  }
}
