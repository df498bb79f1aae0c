/** The pmlogger processes of a host: from port maps on this host, from the collector's metrics on others. pmlc(1) */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PM_TYPE_U32 } from '../../model/types.ts'
import { valuesOf } from '../../model/value-set.ts'
import type { Context } from '../../pmapi/context.ts'
import { primaryPid } from '../../pmlogger/run-files.ts'
import type { Variables } from '../../sys/config.ts'
import { isAlive } from '../../sys/process-identity.ts'

/** A running logger. */
export interface RunningLogger {
  readonly pid: number
  readonly port: number
  readonly isPrimary: boolean
}

/** Instance of the primary logger in a collector's metrics. */
const PRIMARY_INSTANCE = 0

/** Returns this host's loggers from their port maps, without dead processes. */
export function loggersHere(variables: Variables): RunningLogger[] {
  const directory = join(variables['PCP_TMP_DIR']!, 'pmlogger')
  const primary = primaryPid(directory)
  return namesIn(directory)
    .filter((name) => /^\d+$/.test(name) && isAlive(Number(name)))
    .map((name) => ({
      pid: Number(name),
      port: Number.parseInt(readFileSync(join(directory, name), 'utf8'), 10) || 0,
      isPrimary: Number(name) === primary,
    }))
    .sort((a, b) => a.pid - b.pid)
}

/** Returns another host's loggers from its collector. Throws if the connection is lost. */
export async function loggersThere(context: Context): Promise<RunningLogger[]> {
  const [port] = await context.lookupNames(['pmcd.pmlogger.port'])
  if (typeof port !== 'number') return []
  const { sets } = await context.fetch([port])
  return valuesOf(sets[0]!, PM_TYPE_U32)
    .filter(({ inst }) => inst !== PRIMARY_INSTANCE)
    .map(({ inst, value }) => ({ pid: inst, port: Number(value), isPrimary: false }))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // no logger has ever run here
  }
}
