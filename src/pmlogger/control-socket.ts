/** Where the control socket of a pmlogger is. docs/pmlogger.md, pmlogger(1), pmlc(1) */
import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import { makeDir } from '../sys/make-dir.ts'
import { removeStaleSockets } from '../sys/stale-files.ts'

/**
 * Paths of the socket of a logger, by process id or `primary`: below the run directory, and for loggers of people who may
 * not write there below their home.
 */
export function controlSocketPaths(variables: Variables, id: number | 'primary'): readonly string[] {
  const { PCP_RUN_DIR: run, HOME: home } = variables
  const name = `pmlogger.${id}.socket`
  return [run, home === undefined ? undefined : join(home, '.pcp', 'run')]
    .filter((dir) => dir !== undefined)
    .map((dir) => join(dir, name))
}

/** Removes the sockets that killed loggers left. */
export async function removeStaleControlSockets(variables: Variables): Promise<void> {
  for (const path of controlSocketPaths(variables, 'primary'))
    await removeStaleSockets(dirname(path), 'pmlogger')
}

/** The path that this process can use, its directory made; the first one when it can use none, with the reason in `log`. */
export function ownSocketPath(variables: Variables, pid: number, log: (text: string) => void): string {
  const paths = controlSocketPaths(variables, pid)
  let why = ''
  for (const path of paths) {
    try {
      const dir = join(path, '..')
      makeDir(dir, 0o775)
      accessSync(dir, constants.W_OK | constants.X_OK)
      return path
    } catch (error) {
      why = PcpError.from(error).message
    }
  }
  log(`GetPorts: unix domain socket failed: ${why}`)
  return paths[0]!
}
