/** Where applications publish: where agents look, or where those of this user do. docs/guide/mmv.md */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig, type Variables } from '../sys/config.ts'

/** The directory that all users share; tests give their own. */
export interface SharedDirectory {
  readonly directory: string
  readonly isWritable: (directory: string) => boolean
}

/**
 * `$PCP_TMP_DIR/mmv` where this process may write or make it; otherwise the directory that `npm start` of this user reads.
 * What the environment names is not second-guessed.
 */
export function publishDirectory(env: Variables, shared?: SharedDirectory): string {
  const directory = shared?.directory ?? join(loadConfig(env).variables['PCP_TMP_DIR']!, 'mmv')
  const isNamed = ['PCP_TMP_DIR', 'PCP_CONF', 'PCP_DIR'].some((name) => env[name] !== undefined)
  if (isNamed || (shared?.isWritable ?? isWritable)(directory)) return directory
  const own = loadConfig(env, { readText: () => undefined, uid: process.geteuid?.() || 1 })
  return join(own.variables['PCP_TMP_DIR']!, 'mmv')
}

/** May this process write there, or make the directory? */
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
