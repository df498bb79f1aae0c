/** The directories of one user. XDG Base Directory Specification */
import { userInfo } from 'node:os'
import type { Variables } from './config.ts'

/** Where a user's settings, data and state are; none of them is below a directory that others share. */
export interface UserDirs {
  readonly config: string
  readonly data: string
  readonly state: string
  /** Sockets and process ids: `pcp` below the runtime directory, or below `state` where the session has none. */
  readonly run: string
}

/** Returns the directories that the environment names, or those below the user's home. */
export function userDirs(env: Variables): UserDirs {
  const home = homeDir(env)
  const named = (name: string, otherwise: string): string => {
    const path = env[name]
    // The specification wants relative paths ignored: they would mean another place in each directory.
    return path?.startsWith('/') ? path : otherwise
  }
  const state = named('XDG_STATE_HOME', `${home}/.local/state`)
  const runtime = named('XDG_RUNTIME_DIR', '')
  return {
    config: named('XDG_CONFIG_HOME', `${home}/.config`),
    data: named('XDG_DATA_HOME', `${home}/.local/share`),
    state,
    run: runtime === '' ? `${state}/pcp/run` : `${runtime}/pcp`,
  }
}

/** Returns $HOME, or the home of the account where it is unset; a directory that does not exist for an account without one. */
export function homeDir(env: Variables): string {
  const home = env['HOME']
  if (home?.startsWith('/')) return home
  try {
    return userInfo().homedir
  } catch {
    return '/nonexistent' // a user id without an account
  }
}
