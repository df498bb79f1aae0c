/** The differences between pmlogctl and pmiectl: the daemons they control. pmlogctl(1), pmiectl(1) */
import { basename, dirname, join } from 'node:path'
import type { Variables } from '../../../sys/config.ts'
import type { Service } from '../admin/instances.ts'
import { type RunningEngine, realPath, runningEngines, runningLoggers } from '../admin/running.ts'

/** One of the two commands. */
export interface FarmKind {
  readonly command: 'pmlogctl' | 'pmiectl'
  readonly service: Service
  /** Starts the daemons of a control file. */
  readonly checker: 'pmlogger_check' | 'pmie_check'
  readonly controlVariable: 'PCP_PMLOGGERCONTROL_PATH' | 'PCP_PMIECONTROL_PATH'
  /** Control lines of a class without a policy, and of an instance of several classes. */
  readonly usualLine: string
  readonly compositeLine: string
  /** Titles of the columns between host and class. */
  readonly heading: string
  /** Lists the running daemons. */
  readonly running: (variables: Variables) => Running
  /** Returns the directory of an instance's place. */
  readonly dirOf: (place: string) => string
  /** Returns a daemon's log file. */
  readonly logOf: (place: string) => string
}

/** The daemons running at one time. */
export interface Running {
  /** Finds the daemon of a place, or the primary one. */
  find(place: string, isPrimary: boolean): RunningDaemon | undefined
}

/** A daemon with its columns in the table of `status`. */
export interface RunningDaemon {
  readonly pid: number
  readonly columns: string
}

/** pmlogctl's loggers. */
export const LOGGERS: FarmKind = {
  command: 'pmlogctl',
  service: 'pmlogger',
  checker: 'pmlogger_check',
  controlVariable: 'PCP_PMLOGGERCONTROL_PATH',
  usualLine: '%h n n PCP_ARCHIVE_DIR/%i -c ./%i.config',
  compositeLine: '%h n n PCP_ARCHIVE_DIR/%i -c ./%i.config -r',
  heading: loggerColumns('Archive'),
  running: (variables) => {
    const loggers = runningLoggers(variables)
    return {
      find: (place, isPrimary) => {
        const dir = realPath(place)
        const logger = loggers.find((each) => (isPrimary ? each.isPrimary : each.dir === dir))
        return logger && { pid: logger.pid, columns: loggerColumns(basename(logger.archive)) }
      },
    }
  },
  dirOf: (place) => place,
  logOf: (place) => join(place, 'pmlogger.log'),
}

/** pmiectl's rule engines. */
export const ENGINES: FarmKind = {
  command: 'pmiectl',
  service: 'pmie',
  checker: 'pmie_check',
  controlVariable: 'PCP_PMIECONTROL_PATH',
  usualLine: '%h n n PCP_LOG_DIR/pmie/%i/pmie.log -c ./%i.config',
  compositeLine: '%h n n PCP_LOG_DIR/pmie/%i/pmie.log -c ./%i.config',
  heading: engineColumns('Rules', 'Evaluations'),
  running: (variables) => {
    const engines = runningEngines(variables)
    return {
      find: (place) => {
        const path = realPath(place)
        const engine = engines.find(({ logPath }) => logPath === path)
        return engine && { pid: engine.pid, columns: countsOf(engine) }
      },
    }
  },
  dirOf: dirname,
  logOf: (place) => place,
}

/** Returns the columns of an instance that is not running. */
export function unknownColumns({ service }: FarmKind): string {
  return service === 'pmlogger' ? loggerColumns('?') : engineColumns('?', '?')
}

function loggerColumns(archive: string): string {
  return archive.padEnd(17)
}

function countsOf({ rules, evaluations }: RunningEngine): string {
  return engineColumns(`${rules}`, `${evaluations}`)
}

function engineColumns(rules: string, evaluations: string): string {
  return `${rules.padStart(5)} ${evaluations.padStart(11)}`
}
