/** Files that define derived metrics. pmLoadDerivedConfig(3), docs/reference/derived-metrics.md */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../base/text.ts'
import type { Variables } from './config.ts'

export interface DerivedFile {
  readonly path: string
  readonly text: string
}

/** Deepest nesting of directories, which bounds cyclic links. */
const MAX_DEPTH = 16

/**
 * Reads a colon-separated list of files and directories. Directories are read recursively, in order of names. Unreadable files are
 * skipped; `failed` is called for list elements of which nothing was readable.
 */
export function readDerivedFiles(
  list: string,
  failed?: (path: string, error: Error) => void,
): readonly DerivedFile[] {
  const files: DerivedFile[] = []
  const add = (path: string, depth: number): void => {
    const stat = statSync(path)
    if (stat.isFile() || stat.isFIFO()) files.push({ path, text: decodeText(readFileSync(path)) })
    else if (stat.isDirectory() && depth < MAX_DEPTH)
      for (const name of readdirSync(path).sort()) quietly(() => add(join(path, name), depth + 1))
  }
  for (const path of list.split(':')) {
    if (path === '') continue
    const error = quietly(() => add(path, 0))
    if (error !== undefined) failed?.(path, error)
  }
  return files
}

/** Calls a function; returns the error it throws. */
function quietly(run: () => void): Error | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Returns the default list: `$PCP_DERIVED_CONFIG`, '' for none, else a directory below `$PCP_VAR_DIR`. */
export function defaultDerivedList(variables: Variables): string {
  const { PCP_DERIVED_CONFIG: list, PCP_VAR_DIR: dir } = variables
  return list ?? (dir === undefined ? '' : `${dir}/config/derived`)
}

/** Reads the file of equivalent instance domains: `$PCP_INDOM_CONFIG`, '' for none, else below `$PCP_SYSCONF_DIR`. */
export function readEquivalences(variables: Variables): string {
  const { PCP_INDOM_CONFIG: file, PCP_SYSCONF_DIR: dir } = variables
  const path = file ?? (dir === undefined ? '' : `${dir}/indom.conf`)
  try {
    return path === '' ? '' : decodeText(readFileSync(path))
  } catch {
    return '' // most hosts have none
  }
}
