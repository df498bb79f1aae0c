/** Where definitions of derived metrics are on this system. pmLoadDerivedConfig(3), docs/derived.md */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText } from '../base/text.ts'
import type { Variables } from './config.ts'

/** A file of definitions. */
export interface DerivedFile {
  readonly path: string
  readonly text: string
}

/** Directories in directories: a link to one further up ends somewhere. */
const MAX_DEPTH = 16

/**
 * The files of a list of files and directories by colon, of directories every file at any depth, by name. What cannot be
 * read is left out; `failed` hears of elements of the list of which nothing could be.
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

/** Runs something that may fail; returns its error. */
function quietly(run: () => void): Error | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** The list that holds by default: `$PCP_DERIVED_CONFIG`, '' for none, else a directory below `$PCP_VAR_DIR`. */
export function defaultDerivedList(variables: Variables): string {
  const { PCP_DERIVED_CONFIG: list, PCP_VAR_DIR: dir } = variables
  return list ?? (dir === undefined ? '' : `${dir}/config/derived`)
}

/** Text of the file that declares instance domains the same: `$PCP_INDOM_CONFIG`, '' for none, else below `$PCP_SYSCONF_DIR`. */
export function readEquivalences(variables: Variables): string {
  const { PCP_INDOM_CONFIG: file, PCP_SYSCONF_DIR: dir } = variables
  const path = file ?? (dir === undefined ? '' : `${dir}/indom.conf`)
  try {
    return path === '' ? '' : decodeText(readFileSync(path))
  } catch {
    return '' // most hosts have none
  }
}
