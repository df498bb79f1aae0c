/** The log of a pmlogger process. pmlogger(1) -l */
import { hostname } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { archiveAccess } from '../sys/archive-access.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { ctime, type Log, logOnFd, openLog } from '../sys/log.ts'

/**
 * Opens the log: a file, or standard error for `-` and when a file cannot be made. Whoever reads standard error is told as
 * in a file when it begins and ends, unless it only shows whether a configuration is fine.
 */
export function openProcessLog(
  name: string,
  { cwd, env }: { readonly cwd: string; readonly env: Variables },
  isQuiet: boolean,
): Log {
  const options = { progname: 'pmlogger', host: hostname() }
  if (name !== '-' && !isQuiet) {
    try {
      const path = resolve(cwd, name)
      const access = archiveAccess(dirname(path), loadConfig(env).variables)
      return openLog(path, { ...options, access })
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
  log.line(`Log for pmlogger on ${options.host} started ${ctime(Date.now())}\n`)
  return {
    ...log,
    close() {
      log.line(`\nLog finished ${ctime(Date.now())}`)
      log.close()
    },
  }
}
