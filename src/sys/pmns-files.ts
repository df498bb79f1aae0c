/** Where name space files are on this system. docs/formats/pmns.md §4.2, §5 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { decodeText } from '../base/text.ts'
import type { Variables } from './config.ts'

/** A file found for an #include. */
export interface FoundFile {
  /** The path as it was put together, not made absolute. */
  readonly path: string
  readonly text: string
}

/** How files are found. */
export interface PmnsFilesOptions {
  /** What relative paths are relative to; default the process's. */
  readonly cwd?: string
  /** Directories to search for includes besides the usual ones. */
  readonly includeDirs?: readonly string[]
  /** Hears of each place where an include is looked for, apart from the name as it is given. */
  readonly onTry?: (path: string) => void
}

/** Reads name space files: what `loadPmns` wants to be handed. */
export interface NodePmnsFiles {
  /** Text of a file, bytes that are no UTF-8 kept; throws Node's error. */
  readonly readText: (path: string) => string
  /**
   * An #include of `mainFile`: as given, beside the main file, in the directories added, in `$PCP_VAR_DIR/pmns`; an
   * absolute path only as given. Undefined unless a regular file or a device is there.
   */
  readonly findInclude: (name: string, mainFile: string) => FoundFile | undefined
}

/** The name space used when none is named: `$PMNS_DEFAULT`, else `$PCP_VAR_DIR/pmns/root`. */
export function defaultPmnsPath(variables: Variables): string {
  return variables['PMNS_DEFAULT'] || join(pmnsDir(variables), 'root')
}

/** Files of this system; `variables` are those of pcp.conf and the environment. */
export function pmnsFiles(variables: Variables, options: PmnsFilesOptions = {}): NodePmnsFiles {
  const cwd = options.cwd ?? '.'
  const readText = (path: string): string => decodeText(readFileSync(resolve(cwd, path)))
  const findInclude = (name: string, mainFile: string): FoundFile | undefined => {
    const dirs = isAbsolute(name)
      ? []
      : [dirname(mainFile), ...(options.includeDirs ?? []), pmnsDir(variables)]
    for (const path of [name, ...dirs.map((dir) => `${dir}/${name}`)]) {
      if (path !== name) options.onTry?.(path)
      if (isReadableFile(resolve(cwd, path))) return { path, text: readText(path) }
    }
    return undefined
  }
  return { readText, findInclude }
}

function pmnsDir(variables: Variables): string {
  return `${variables['PCP_VAR_DIR'] ?? '/var/lib/pcp'}/pmns`
}

/** Is there something to read at a path: a regular file or a device? */
export function isReadableFile(path: string): boolean {
  try {
    const stat = statSync(path)
    return stat.isFile() || stat.isCharacterDevice()
  } catch {
    return false // whatever the reason, the search goes on to the next directory
  }
}
