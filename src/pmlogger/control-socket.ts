/** Paths of a pmlogger's control socket. docs/reference/pmlogger.md, pmlogger(1), pmlc(1) */
import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../model/errors.ts'
import type { Variables } from '../sys/config.ts'
import { makeDir } from '../sys/make-dir.ts'
import { removeStaleSockets } from '../sys/stale-files.ts'

/**
 * Returns the possible paths of a logger's socket, by process id or `primary`: in the run directory, and for accounts that cannot
 * write there, in their home directory.
 */
export function controlSocketPaths(variables: Variables, id: number | 'primary'): readonly string[] {
  const { PCP_RUN_DIR: run, HOME: home } = variables
  const name = `pmlogger.${id}.socket`
  return [run, home === undefined ? undefined : join(home, '.pcp', 'run')]
    .filter((dir) => dir !== undefined)
    .map((dir) => join(dir, name))
}

/** Removes sockets of killed loggers. */
export async function removeStaleControlSockets(variables: Variables): Promise<void> {
  for (const path of controlSocketPaths(variables, 'primary'))
    await removeStaleSockets(dirname(path), 'pmlogger')
}

/** Returns the first path this process can use and creates its directory; on failure logs why and returns the first path. */
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
