/** Logs of the parts of `pcp-ts start`. */
import { type Log, type LogOptions, logOnFd, openLog } from '../sys/log.ts'
import type { StartOptions } from './settings.ts'

const STDOUT = 1

/** Opens a part's log: a file, or standard output where the log of a container is collected. Throws as `openLog` does. */
export function openPartLog(path: string, options: LogOptions, { logsToOutput }: StartOptions): Log {
  return logsToOutput ? logOnFd(STDOUT, options) : openLog(path, options)
}
