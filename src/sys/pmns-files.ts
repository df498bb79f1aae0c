/** Finding name space files on this system. docs/formats/pmns.md §4.2, §5 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { decodeText } from '../base/text.ts'
import type { Variables } from './config.ts'

/** A file found for an #include. */
export interface FoundFile {
  /** The path as it was built, not made absolute. */
  readonly path: string
  readonly text: string
}

/** How name space files are found. */
export interface PmnsFilesOptions {
  /** Base of relative paths. Default: the working directory. */
  readonly cwd?: string
  /** Further directories to search for includes. */
  readonly includeDirs?: readonly string[]
  /** Called with each path tried for an include, except the literal name. */
  readonly onTry?: (path: string) => void
}

/** Reads name space files, for `loadPmns`. */
export interface PmnsFileAccess {
  /** Reads a file; bytes that are not UTF-8 are kept. Throws Node's error. */
  readonly readText: (path: string) => string
  /**
   * Finds an #include of `mainFile`: the literal name, beside the main file, in the added directories, in `$PCP_VAR_DIR/pmns`;
   * an absolute path only literally. Undefined unless a regular file or a device exists there.
   */
  readonly findInclude: (name: string, mainFile: string) => FoundFile | undefined
}

/** Returns the default name space: `$PMNS_DEFAULT`, else `$PCP_VAR_DIR/pmns/root`. */
export function defaultPmnsPath(variables: Variables): string {
  return variables['PMNS_DEFAULT'] || join(pmnsDir(variables), 'root')
}

/** Returns access to this system's files; `variables` come from pcp.conf and the environment. */
export function pmnsFiles(variables: Variables, options: PmnsFilesOptions = {}): PmnsFileAccess {
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

/** Returns whether a path is a regular file or a device. */
export function isReadableFile(path: string): boolean {
  try {
    const stat = statSync(path)
    return stat.isFile() || stat.isCharacterDevice()
  } catch {
    return false // for any reason: the search continues in the next directory
  }
}
