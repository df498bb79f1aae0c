/** Finds the directory for MMV files: the shared one, or that of this user. docs/how-to/instrument-an-application.md */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig, type Variables } from '../sys/config.ts'

/** The directory shared by all users; tests provide their own. */
export interface SharedDirectory {
  readonly directory: string
  readonly isWritable: (directory: string) => boolean
}

/**
 * Returns `$PCP_TMP_DIR/mmv` if this process may write or create it; otherwise the directory read by this user's
 * `npm start`. A directory set in the environment is used unconditionally.
 */
export function publishDirectory(env: Variables, shared?: SharedDirectory): string {
  const directory = shared?.directory ?? join(loadConfig(env).variables['PCP_TMP_DIR']!, 'mmv')
  const isNamed = ['PCP_TMP_DIR', 'PCP_CONF', 'PCP_DIR'].some((name) => env[name] !== undefined)
  if (isNamed || (shared?.isWritable ?? isWritable)(directory)) return directory
  const own = loadConfig(env, { readText: () => undefined, uid: process.geteuid?.() || 1 })
  return join(own.variables['PCP_TMP_DIR']!, 'mmv')
}

/** Whether this process may write to the directory or create it. */
function isWritable(directory: string): boolean {
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) {
    const parent = dirname(directory)
    return parent !== directory && isWritable(parent)
  }
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
