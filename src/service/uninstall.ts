/** Uninstalls the service: stops it and removes what `installService` wrote; on request also its state. */
import { existsSync } from 'node:fs'
import type { Variables } from '../sys/config.ts'
import { removeAccount } from './account.ts'
import { removeDirectories, serviceDirectories } from './directories.ts'
import { readPasswd } from './passwd.ts'
import type { Systemd } from './systemd.ts'
import { SERVICE_NAME, UNIT_NAME } from './unit.ts'
import { checkRemovable, removeUnit } from './unit-file.ts'

/** Options of `uninstallService`. */
export interface UninstallOptions {
  readonly systemd: Systemd
  readonly env: Variables
  /** Path of the unit. */
  readonly path: string
  /** Remove a unit that was edited by hand. */
  readonly force: boolean
  /** Remove settings, state, logs, archives and the account too. */
  readonly purges: boolean
  /** Prints a line for the user. */
  readonly say: (line: string) => void
}

/** Stops, disables and removes the service. Returns false if it was not installed. */
export async function uninstallService(options: UninstallOptions): Promise<boolean> {
  const { systemd, env, path, force, purges, say } = options
  const isInstalled = checkRemovable(path, force)
  if (isInstalled) {
    // Without a running manager this only removes the link that enables the unit.
    await systemd.control('disable', '--quiet', ...(systemd.isRunning ? ['--now'] : []), UNIT_NAME)
    removeUnit(path, force)
    if (systemd.isRunning) {
      await systemd.control('daemon-reload')
      await systemd.try('reset-failed', UNIT_NAME) // fails for a unit that has not failed
    }
    say(`${path}: removed`)
  }
  const dropIns = `${path}.d`
  if (existsSync(dropIns)) say(`kept: ${dropIns}, which you have made`)
  const directories = serviceDirectories(systemd.scope, env)
  if (purges) await purge(options, directories)
  else {
    const left = directories.filter((directory) => existsSync(directory))
    if (left.length > 0) say(`kept: ${left.join(', ')}; --purge removes settings, state, logs and archives`)
  }
  return isInstalled
}

async function purge({ systemd, say }: UninstallOptions, directories: readonly string[]): Promise<void> {
  const account = systemd.scope === 'system' ? readPasswd(SERVICE_NAME)?.uid : undefined
  const owners = [process.geteuid?.() ?? 0, ...(account === undefined ? [] : [account])]
  for (const directory of removeDirectories(directories, owners)) say(`${directory}: removed`)
  if (systemd.scope === 'system' && (await removeAccount(systemd))) say(`account ${SERVICE_NAME}: removed`)
}
