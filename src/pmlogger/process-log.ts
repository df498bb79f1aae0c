/** The log of a pmlogger process. pmlogger(1) -l */
import { hostname } from 'node:os'
import { basename, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { type Log, logFooter, logHeader, logOnFd, openLog } from '../sys/log.ts'

/**
 * Opens the log: a file, or standard error for `-` and if the file cannot be created. On standard error the start and end lines of
 * a log file are printed too, unless the process only checks a configuration.
 */
export function openProcessLog(name: string, cwd: string, isQuiet: boolean): Log {
  const options = { progname: 'pmlogger', host: hostname() }
  if (name !== '-' && !isQuiet) {
    try {
      return openLog(resolve(cwd, name), options)
    } catch (error) {
      const log = logOnFd(2, options)
      log.line(
        `pmlogger: Warning: log file (${basename(name)}) creation failed: ${PcpError.from(error).text}`,
      )
      return log
    }
  }
  const log = logOnFd(2, options)
  if (isQuiet) return log
  log.line(`${logHeader(options).trimEnd()}\n`)
  return {
    ...log,
    close() {
      log.line(logFooter(Date.now()).trimEnd())
      log.close()
    },
  }
}
