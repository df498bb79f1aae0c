/** Operands and messages that `pcp-ts link` and `pcp-ts unlink` share. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { homeDir, loadConfig } from '../../../sys/config.ts'
import { didYouMean, similarNames } from '../../lib/similar-names.ts'
import type { ToolIo } from '../../lib/tool.ts'
import { type LinkOwner, readTarget } from './links.ts'

/** The directory and the names of a command line. */
export interface LinkPlace {
  readonly dir: string
  /** Undefined for all. */
  readonly names: readonly string[] | undefined
}

/** Most names on a command line; the package has a tenth of them. */
const MOST_NAMES = 1000

/**
 * Reads `[DIR] [NAME ...]`. The first operand is the directory if it has a slash, or is no command but an existing directory.
 * Throws EINVAL for a name that is no command, unless `allowsOldNames`: links of an older version may have other names.
 */
export function readPlace(
  operands: readonly string[],
  known: readonly string[],
  io: ToolIo,
  allowsOldNames = false,
): LinkPlace {
  const [first, ...rest] = operands
  const isDir =
    first !== undefined &&
    (/^\.{1,2}$|\//.test(first) || (!known.includes(first) && existsSync(resolve(io.cwd, first))))
  const dir = isDir ? resolve(io.cwd, first) : join(homeDir(io.env), '.local', 'bin')
  const names = isDir ? rest : operands
  if (names.length > MOST_NAMES) throw new PcpError('E2BIG', `More than ${MOST_NAMES} names`)
  for (const name of names) {
    if (name.includes('/'))
      throw new PcpError('EINVAL', `"${name}": the directory must be the first operand, before the names`)
    if (!allowsOldNames && !known.includes(name))
      throw new PcpError(
        'EINVAL',
        `Unknown command "${name}".${didYouMean(similarNames(name, known))} pcp-ts without arguments lists all commands; write a directory with a slash: ./${name}`,
      )
  }
  return { dir, names: names.length === 0 ? undefined : [...new Set(names)] }
}

/** Adds a remedy to an error of a directory. */
export function describeFailure(error: unknown, dir: string): PcpError {
  if (error instanceof PcpError) return error
  const { code, text } = PcpError.from(error)
  const isDenied = code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
  const remedy = isDenied
    ? '; name a directory that you may write to, or run this as the owner of that directory'
    : code === 'ENOTDIR' || code === 'EEXIST'
      ? '; it must be a directory'
      : ''
  return new PcpError(code, `Cannot change ${dir}: ${text}${remedy}`, { cause: error })
}

/** Directories of an installed PCP's programs, from every pcp.conf that may be in effect. */
export function foreignPcpDirs(io: ToolIo, binDir: string): readonly string[] {
  const dirs = ['/etc/pcp.conf', '/usr/local/etc/pcp.conf', io.env['PCP_CONF']].flatMap((path) => {
    if (path === undefined) return []
    try {
      const { variables } = loadConfig({ PCP_CONF: path })
      return [variables['PCP_BIN_DIR'], variables['PCP_BINADM_DIR']]
    } catch {
      return [] // not installed
    }
  })
  return [...new Set(dirs.filter((dir): dir is string => dir !== undefined && dir !== binDir))]
}

/** Describes whose a path is, for messages. */
export function describeOwner(path: string, owner: LinkOwner, pcpDirs: readonly string[]): string {
  switch (owner.kind) {
    case 'missing':
      return 'not linked'
    case 'ours':
      return 'linked to this installation'
    case 'other':
      return `linked to pcp-ts ${owner.version} in ${dirname(owner.binDir)}`
    case 'removed':
      return `linked to a removed pcp-ts in ${dirname(owner.binDir)}`
    case 'foreign':
      return describeForeign(path, pcpDirs)
  }
}

function describeForeign(path: string, pcpDirs: readonly string[]): string {
  if (pcpDirs.includes(dirname(path))) return `the installed PCP's ${path}`
  const target = readTarget(path)
  if (typeof target !== 'string') return `another program, ${path}`
  const absolute = resolve(dirname(path), target)
  return pcpDirs.includes(dirname(absolute))
    ? `a link to the installed PCP's ${absolute}`
    : `another program's link to ${target}`
}
