/** Directories of the service, for `uninstall --purge`. */
import { lstatSync, rmSync } from 'node:fs'
import { PcpError } from '../model/errors.ts'
import { userDirs, type Variables } from '../sys/config.ts'
import { SERVICE_NAME, type ServiceScope } from './unit.ts'

/** Returns the directories that hold settings, state, logs and archives of the service. */
export function serviceDirectories(scope: ServiceScope, env: Variables): readonly string[] {
  if (scope === 'system')
    return ['/etc', '/var/lib', '/var/log', '/run'].map((dir) => `${dir}/${SERVICE_NAME}`)
  const { config, data, state, run } = userDirs(env)
  return [`${config}/pcp`, `${data}/pcp`, `${state}/pcp`, run]
}

/**
 * Removes directories with their contents and returns the removed ones. Throws before removing anything if one is a link, or belongs to
 * an account other than `owners`.
 */
export function removeDirectories(
  directories: readonly string[],
  owners: readonly number[],
): readonly string[] {
  const present = directories.filter((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return false
    if (!stats.isDirectory())
      throw new PcpError(
        'ENOTDIR',
        `${path} is not a directory${stats.isSymbolicLink() ? ' but a link' : ''}: remove it by hand`,
      )
    if (!owners.includes(stats.uid))
      throw new PcpError(
        'EPERM',
        `${path} belongs to user ${stats.uid}, not to the service: remove it by hand`,
      )
    return true
  })
  // Links inside are removed, not followed.
  for (const path of present) rmSync(path, { recursive: true, force: true })
  return present
}
