/** Whether a service can rely on the place where Node and this package are installed. */
import { lstatSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { isTrustedPath } from '../sys/trusted-path.ts'

/** Paths without links. */
export interface Installation {
  /** The node executable. */
  readonly node: string
  /** Our program `bin/pcp-ts`. */
  readonly program: string
}

/** Ids of an account; undefined ids for one that does not exist yet and so owns nothing. */
export interface AccountIds {
  readonly uid: number | undefined
  readonly gid: number | undefined
}

const INSTALL = 'install it with "npm install --global pcp-ts"'

/** Folders that package runners empty without notice. */
const CACHES: readonly (readonly [pattern: RegExp, owner: string])[] = [
  [/\/_npx\//, 'npx'],
  [/\/pnpm\/dlx/, 'pnpm dlx'],
  [/\/bunx-/, 'bunx'],
  [/\/xfs-[0-9a-f]+\/dlx-/, 'yarn dlx'],
]

/** Folders that an upgrade removes. */
const VERSIONED: readonly (readonly [pattern: RegExp, owner: string])[] = [
  [/\/\.nvm\/versions\//, 'nvm'],
  [/\/fnm\/node-versions\//, 'fnm'],
  [/\/fnm_multishells\//, 'fnm'],
  [/\/\.?volta\/tools\//, 'volta'],
  [/\/\.?asdf\/installs\//, 'asdf'],
  [/\/mise\/installs\//, 'mise'],
  [/\/\.?nodenv\/versions\//, 'nodenv'],
  [/\/Cellar\//, 'Homebrew'],
]

/** Returns warnings about places that do not last. Throws PM_ERR_ARG for a cache. */
export function checkPlaces({ node, program }: Installation): readonly string[] {
  const cache = CACHES.find(([pattern]) => pattern.test(program))
  if (cache !== undefined)
    throw new PcpError(
      'PM_ERR_ARG',
      `${dirname(dirname(program))} is a cache of ${cache[1]}, which empties it without notice: ${INSTALL} and run pcp-ts service again`,
    )
  const warnings: string[] = []
  for (const path of new Set([node, program])) {
    const versioned = VERSIONED.find(([pattern]) => pattern.test(path))
    if (versioned !== undefined)
      warnings.push(
        `${path} is managed by ${versioned[1]}: after it has installed another version of Node, run pcp-ts service install again`,
      )
    else if (/^\/(tmp|var\/tmp|dev\/shm)\//.test(path))
      warnings.push(`${path} is in a folder for temporary files, which may be emptied: ${INSTALL}`)
  }
  return warnings
}

/** Throws EACCES naming the folder or file that an account cannot use. */
export function checkAccess(
  { node, program }: Installation,
  account: AccountIds,
  stat: (path: string) => Stats = lstatSync,
): void {
  const closed = closedPart(node, 0o5, account, stat) ?? closedPart(program, 0o4, account, stat)
  if (closed === undefined) return
  throw new PcpError(
    'EACCES',
    `${closed.path} (mode ${(closed.mode & 0o777).toString(8).padStart(4, '0')}) is closed to the service's account, which needs ` +
      `${closed.needed}: install Node and pcp-ts for all users, for example below /usr/local, or use pcp-ts service install --user`,
  )
}

interface Closed {
  readonly path: string
  readonly mode: number
  readonly needed: string
}

/** Returns the first part of a path whose mode keeps an account out. */
function closedPart(
  needed: string,
  rights: number,
  account: AccountIds,
  stat: (path: string) => Stats,
): Closed | undefined {
  const folders: string[] = []
  for (let at = dirname(needed); ; at = dirname(at)) {
    folders.unshift(at)
    if (at === dirname(at)) break
  }
  for (const path of folders) {
    const stats = stat(path)
    if (!allows(stats, 0o1, account)) return { path, mode: stats.mode, needed }
  }
  const stats = stat(needed)
  return allows(stats, rights, account) ? undefined : { path: needed, mode: stats.mode, needed }
}

function allows({ mode, uid, gid }: Stats, rights: number, account: AccountIds): boolean {
  const shift = account.uid === uid ? 6 : account.gid === gid ? 3 : 0
  return ((mode >> shift) & rights) === rights
}

/** Returns the path that accounts other than root can change, undefined if there is none. For a service that root installs. */
export function changeablePath({ node, program }: Installation): string | undefined {
  return [node, program].find((path) => !isTrustedPath(path))
}
