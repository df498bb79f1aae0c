/** Files that make a pmlogger process discoverable: port map, links of the primary logger, folio. docs/reference/pmlogger.md */

import { existsSync, lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { debug } from '../model/debug.ts'
import { PcpError } from '../model/errors.ts'
import { tmpDirOf, type Variables } from '../sys/config.ts'
import { ctime } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { writeNewFile } from '../sys/new-file.ts'
import { hasOwnerEnded, removeIfAllowed, removeStalePidFiles } from '../sys/stale-files.ts'
import { removeStaleControlSockets } from './control-socket.ts'

/** Contents of a port map file. */
export interface PortMap {
  readonly port: number
  /** The collector's host. */
  readonly pmcdHost: string
  /** Absolute, without suffix. */
  readonly archive: string
  readonly note?: string
}

/** Run files of this process. */
export interface RunFiles {
  /** Writes or replaces the port map. */
  publish(map: PortMap): void
  /** Removes all files; idempotent. */
  close(): void
}

const PRIMARY = 'primary'

/** Paths and identity for the run files. */
export interface RunPlaces {
  /** Directory of the port maps: `$PCP_TMP_DIR/pmlogger`. */
  readonly mapDir: string
  /** The control socket. */
  readonly socketPath: string
  readonly pid: number
  readonly isPrimary: boolean
  readonly warn: (text: string) => void
}

/**
 * Removes leftovers of dead loggers and, for the primary logger, creates its links. Throws EEXIST if a primary logger is running. If
 * a directory cannot be created or written it only warns: the archive matters more.
 */
export function openRunFiles(places: RunPlaces): RunFiles {
  const { mapDir, pid, isPrimary, warn } = places
  const mapPath = join(mapDir, String(pid))
  const socketLink = join(places.socketPath, '..', 'pmlogger.primary.socket')
  try {
    makeDir(mapDir, 0o775)
    removeStale(mapDir)
  } catch (error) {
    warn(`Warning: error creating port file dir ${mapDir}: ${PcpError.from(error).text}`)
  }
  if (isPrimary) takePrimary(places)
  const made: string[] = []
  const link = (target: string, path: string): void => {
    rmSync(path, { force: true })
    symlinkSync(target, path)
    made.push(path)
  }
  return {
    publish({ port, pmcdHost, archive, note }) {
      try {
        const lines = [String(port), pmcdHost, archive, ...(note === undefined ? [] : [note])]
        writeNewFile(mapPath, lines.map((line) => `${line}\n`).join(''), 0o644)
        if (!made.includes(mapPath)) made.push(mapPath)
        if (!isPrimary || made.includes(join(mapDir, PRIMARY))) return
        link(mapPath, join(mapDir, PRIMARY))
        link(places.socketPath, socketLink)
      } catch (error) {
        const { code, text } = PcpError.from(error)
        // Accounts without write permission have no port map; that is normal.
        if (code !== 'EACCES') warn(`Warning: cannot write ${mapPath}: ${text}`)
        else if (debug.pmlc) warn(`pmlogger: info: no port map ${mapPath}: ${text}`)
      }
    },
    close() {
      for (const path of made.splice(0)) rmSync(path, { force: true })
    },
  }
}

/** Removes leftovers of killed loggers without starting one. */
export async function removeLeftovers(variables: Variables): Promise<void> {
  const mapDir = join(tmpDirOf(variables), 'pmlogger')
  if (existsSync(mapDir)) removeStale(mapDir)
  await removeStaleControlSockets(variables)
}

/** Removes port maps of ended processes, and the primary link if its map is gone. */
function removeStale(mapDir: string): void {
  removeStalePidFiles(mapDir)
  const owner = primaryPid(mapDir)
  const link = join(mapDir, PRIMARY)
  if (owner !== undefined && hasOwnerEnded(owner, link)) removeIfAllowed(link)
}

function takePrimary({ mapDir, pid, warn }: RunPlaces): void {
  const owner = primaryPid(mapDir)
  if (owner !== undefined && debug.pmlc) warn(`pmlogger: info: found primary symlink -> pid ${owner}`)
  if (owner !== undefined && owner !== pid)
    throw new PcpError(
      'EEXIST',
      `ERROR: there is already a primary pmlogger running, pid ${owner} linkfile=${join(mapDir, PRIMARY)}`,
    )
}

/** Returns the process id of the linked primary logger. */
export function primaryPid(mapDir: string): number | undefined {
  const path = join(mapDir, PRIMARY)
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined
  const pid = Number(basename(readlinkSync(path)))
  return Number.isInteger(pid) ? pid : undefined
}

/** Notes of loggers started by PCP's scripts; their working directory gets a folio of the latest archive. */
const SCRIPTED: ReadonlySet<string> = new Set(['pmlogger_check', 'pmlogger_daily', 'reexec'])

/** Returns whether the control scripts started this logger. */
export function isScripted(note: string | undefined): boolean {
  return note !== undefined && SCRIPTED.has(note)
}

/** Writes the folio `Latest` naming the current archive. */
export function writeLatestFolio(directory: string, host: string, archiveBase: string): void {
  const text = [
    'PCPFolio',
    'Version: 1',
    '# use pmafm(1) to process this PCP archive folio',
    '#',
    `Created: on ${hostname()} at ${ctime(Date.now())}`,
    'Creator: pmlogger',
    `${'#'.padEnd(15)} ${'Host'.padEnd(23)} Basename`,
    '#',
    `${'Archive:'.padEnd(15)} ${host.padEnd(23)} ${archiveBase}`,
  ].join('\n')
  writeNewFile(join(directory, 'Latest'), `${text}\n`)
}
