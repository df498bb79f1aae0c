/** The pmlogger processes of a host: from their files on this one, from the collector on another. pmlc(1) */
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

/** Instance of the primary logger in what a collector tells. */
const PRIMARY_INSTANCE = 0

/** Loggers of this host, by their port maps; those of dead processes are left out. */
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

/** Loggers of another host, as its collector tells. Errors of the connection are thrown. */
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
